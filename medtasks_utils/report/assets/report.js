"use strict";

/* The page's start: its switches, and its sections from the numbers. */

const TOO_OLD = "This browser is too old to unpack this page; use one from 2023 or later.";

/** Create radio buttons that set a choice and show the current one. */
function bindSwitch(name, initial, set) {
  for (const input of document.querySelectorAll(`[name="${name}"]`)) {
    input.checked = input.value === initial;
    input.addEventListener("change", () => set(input.value));
  }
}

/** Create tabs with the names of all benchmarks and the open one; in print, all are open. */
function drawTopics({ topics, board }, choice, leaderboard, isPaper) {
  const links = topics.map(({ id, title }) => el("a", { href: `#${id}`, id: `tab-${id}`, ...(id === choice.topic && { "aria-current": "true" }) }, title));
  document.getElementById("tabs").replaceChildren(...links);
  const shown = topics.filter(({ id }) => isPaper || id === choice.topic);
  document.getElementById("topic").replaceChildren(...shown.map((topic) => topicNode(topic, board.ends[topic.id.slice("unit-".length)], choice, leaderboard, isPaper)));
}

/** Build a benchmark's section: a bar of how examples ended for each run, and its figures and tables. */
function topicNode({ id, title, subtitle, lead, blocks, tasks, curves }, ends, choice, leaderboard, isPaper) {
  const shown = blocks.filter(({ filter }) => filter === choice.filter || !choice.choices.includes(filter));
  const runs = choice.runs.length > 1 ? choice.drawn.filter((run) => ends?.[run]) : [];
  const heading = "How examples ended, %";
  const rows = runs.map((run) => el("tr", {}, el("th", { scope: "row" }, signNode(choice.numbers.get(run)), " ", el("bdi", {}, choice.runs[run])), el("td", { class: "ends" }, leaderboard.bar(ends[run]))));
  const bars = rows.length > 0 && el("div", { class: "block" }, el("h3", {}, heading), scrolled(el("table", { class: "one-run", "aria-label": heading }, el("tbody", {}, rows)), { title: heading }, 0), leaderboard.endsKey());
  const about = [subtitle, lead].filter(Boolean).join(". ");
  const column = leaderboard.columns.find(({ topic }) => `unit-${topic}` === id);
  const plots = [column && ends ? costPlot(column, ends, choice) : "", budgetsPlot(curves[choice.filter] ?? Object.values(curves)[0], choice)].filter(Boolean);
  const map = window.browser ? agreementNode(tasks, window.browser) : "";
  return el("section", { id, "aria-label": title }, isPaper && el("h3", {}, title), about && el("p", { class: "lead" }, about), bars, map, plots.length > 0 && el("div", { class: "plots" }, plots), shown.map((block) => blockNode(block, choice)));
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
  const draw = (isPaper) => { drawTopics(numbers, choice, leaderboard, isPaper); drawAbout(numbers, choice); };
  choice.addEventListener("change", () => draw(false));
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw(false));
  if (!index) draw(false);
  if (numbers.compared.pairs.length) new Comparison(numbers.compared, choice);
  if (index) window.browser = new SampleBrowser(JSON.parse(await unpack(index.textContent)), choice);
  if (index) draw(false);
  root.dataset.ready = "true";
  return undefined;
}

document.addEventListener("DOMContentLoaded", start); // after the scripts that follow in the page
