"use strict";

/* The page's switches, and its start. */

/** Radio buttons that set an attribute of the page, from which the style sheet takes what to show. */
function bindSwitch(name, onchange) {
  const root = document.documentElement;
  for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
    const set = () => {
      if (input.value) root.dataset[name] = input.value;
      else delete root.dataset[name];
      onchange?.();
    };
    input.addEventListener("change", set);
    if (input.checked) set();
  }
}

async function start() {
  bindSwitch("theme");
  bindSwitch("filter", () => document.dispatchEvent(new Event("filterchange")));
  const [packed] = packedElements("index");
  if (!packed) return;
  if (!window.DecompressionStream) {
    document.getElementById("count").textContent = "This browser is too old to unpack the samples; one of 2023 or newer can.";
    return;
  }
  new SampleBrowser(await unpack(packed.textContent));
  document.documentElement.dataset.ready = "true";
}

start();
