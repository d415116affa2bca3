"use strict";

/* The page's switches, and its start. */

const TOO_OLD = "This browser is too old to unpack this part of the page; one of 2023 or newer can.";

/** Radio buttons or a list that set an attribute of the page, from which the style sheet takes what to show. */
function bindSwitch(name, onchange) {
  const root = document.documentElement;
  for (const input of document.querySelectorAll(`[name="${name}"]`)) {
    const set = () => {
      if (input.value) root.dataset[name] = input.value;
      else delete root.dataset[name];
      onchange?.();
    };
    input.addEventListener("change", set);
    if (input.checked || input.tagName === "SELECT") set();
  }
}

async function start() {
  bindSwitch("theme");
  bindSwitch("filter", () => document.dispatchEvent(new Event("filterchange")));
  bindSwitch("baseline", () => document.dispatchEvent(new Event("baselinechange")));
  document.querySelectorAll("main .table").forEach(bindTable);
  const [[compared], [index]] = ["comparison", "index"].map(packedElements);
  if (!window.DecompressionStream) {
    for (const [packed, place] of [[compared, "compared"], [index, "count"]]) if (packed) document.getElementById(place).textContent = TOO_OLD;
    return;
  }
  if (compared) new Comparison(JSON.parse(await unpack(compared.textContent)));
  if (index) window.browser = new SampleBrowser(JSON.parse(await unpack(index.textContent)));
  document.documentElement.dataset.ready = "true";
}

start();
