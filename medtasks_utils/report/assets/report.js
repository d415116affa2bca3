"use strict";

/* The page's start: its switches, and its sections from the numbers. */

const TOO_OLD = "This browser is too old to unpack this page; one of 2023 or newer can.";

/** Radio buttons that set something, and show what is set. */
function bindSwitch(name, initial, set) {
  for (const input of document.querySelectorAll(`[name="${name}"]`)) {
    input.checked = input.value === initial;
    input.addEventListener("change", () => set(input.value));
  }
}

/** The benchmark that is open, under the names of all. */
function drawTopic({ topics, board }, choice, leaderboard) {
  const links = topics.map(({ id, title }) => el("a", { href: `#${id}`, id: `tab-${id}`, ...(id === choice.topic && { "aria-current": "true" }) }, title));
  document.getElementById("tabs").replaceChildren(...links);
  const topic = topics.find(({ id }) => id === choice.topic);
  if (!topic) return;
  const shown = topic.blocks.filter(({ filter }) => filter === choice.filter || !choice.choices.includes(filter));
  const ends = board.ends[topic.id.slice("unit-".length)];
  const runs = choice.drawn.filter((run) => ends?.[run]);
  const rows = runs.map((run) => el("tr", {}, el("th", { scope: "row" }, signNode(choice.numbers.get(run)), " ", el("bdi", {}, choice.runs[run])), el("td", { class: "ends" }, leaderboard.bar(ends[run]))));
  const bars = choice.runs.length > 1 && rows.length ? [el("div", { class: "block" }, el("h3", {}, "How examples ended, %"), scrolled(el("table", { class: "one-run", "aria-label": "How examples ended" }, el("tbody", {}, rows)), { title: "How examples ended" }, 0), leaderboard.endsKey())] : [];
  const lead = topic.lead || topic.subtitle ? [el("p", { class: "lead" }, [topic.subtitle, topic.lead].filter(Boolean).join(". "))] : [];
  document.getElementById("topic").replaceChildren(el("section", { id: topic.id, "aria-label": topic.title }, ...lead, ...bars, ...shown.map((block) => blockNode(block, choice))));
}

function drawAbout({ about }, choice) {
  const shown = about.filter(({ filter }) => !filter || filter === choice.filter || !choice.choices.includes(filter));
  document.getElementById("settings").replaceChildren(...shown.map((block) => blockNode(block, choice)));
}

async function start() {
  const root = document.documentElement;
  bindSwitch("theme", "", (theme) => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; });
  const [[packed], [index]] = ["numbers", "index"].map(packedElements);
  if (!window.DecompressionStream) return void (document.getElementById("said").textContent = TOO_OLD);
  const numbers = JSON.parse(await unpack(packed.textContent));
  const choice = new Choice(numbers);
  window.choice = choice;
  bindSwitch("filter", choice.filter, (filter) => choice.set({ filter }));
  bindSwitch("numbers", "", (kind) => choice.set({ isFull: kind === "all" }));
  const leaderboard = new Leaderboard(numbers.board, choice);
  const draw = () => { drawTopic(numbers, choice, leaderboard); drawAbout(numbers, choice); };
  choice.addEventListener("change", draw);
  draw();
  if (numbers.compared.pairs.length) new Comparison(numbers.compared, choice);
  if (index) window.browser = new SampleBrowser(JSON.parse(await unpack(index.textContent)), choice);
  root.dataset.ready = "true";
  return undefined;
}

start();
