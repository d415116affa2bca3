"use strict";

/* The comparison: each run that is drawn with the baseline. Every pair has been compared once (report/comparison.py); a
   pair whose second run is the baseline is turned round. */

class Comparison {
  constructor({ lead, pairs }, choice) {
    [this.pairs, this.choice] = [pairs, choice];
    this.box = document.getElementById("compared");
    this.select = el("select", { name: "baseline", autocomplete: "off" });
    this.select.addEventListener("change", () => choice.set({ baseline: Number(this.select.value) }));
    this.box.before(el("label", { class: "choice" }, "Baseline ", this.select), el("p", { class: "lead" }, lead));
    choice.addEventListener("change", () => this.draw());
    this.draw();
  }

  draw() {
    const { runs, drawn, baseline } = this.choice;
    this.select.replaceChildren(...drawn.map((run) => el("option", { value: run, ...(run === baseline && { selected: "" }) }, runs[run])));
    const filters = new Set(this.pairs.map(({ filter }) => filter));
    const shown = [...filters].filter((filter) => filter === this.choice.filter || !this.choice.choices.includes(filter));
    const blocks = shown.flatMap((filter) => this.blocks(this.withBaseline(filter), filter));
    const nothing = el("p", { class: "note" }, `No drawn run has a task in common with ${runs[baseline]}.`);
    this.box.replaceChildren(...(blocks.length ? blocks : [nothing]));
  }

  /** The pairs of the baseline and the other runs that are drawn, each as the other run minus the baseline. */
  withBaseline(filter) {
    const { drawn, baseline } = this.choice;
    const pairs = this.pairs.filter((pair) => pair.filter === filter && pair.runs.includes(baseline) && pair.runs.every((run) => drawn.includes(run)));
    return pairs.map((pair) => {
      if (pair.runs[0] === baseline) return { ...pair, other: pair.runs[1] };
      const negative = (value) => (value === null ? null : -value);
      const lines = pair.lines.map((line) => {
        const [value, low, high, ...rest] = line.cells;
        return { ...line, cells: [-value, negative(high), negative(low), ...rest] };
      });
      return { ...pair, lines, other: pair.runs[0] };
    });
  }

  blocks(pairs, filter) {
    const name = this.choice.runs[this.choice.baseline];
    const rows = new Map();
    const rowOf = ({ task, metric = "", breakdown = null, group = "", counted = "" }) => {
      const key = JSON.stringify([breakdown, task, metric, group]);
      const label = breakdown ? `${words(group)}, ${task} ${metric}` : `${task} ${metric}`;
      const filters = breakdown ? { task, [breakdown]: group } : {};
      if (!rows.has(key)) rows.set(key, { task, label, filters, breakdown, places: 1, counted, drawn: true, values: [], refused: {} });
      return rows.get(key);
    };
    for (const { other, lines } of pairs) for (const line of lines) rowOf(line).values[other] = line.cells;
    for (const { other, refused } of pairs) {
      for (const [task, reason] of Object.entries(refused)) {
        const whole = [...rows.values()].filter((row) => row.task === task && !row.breakdown);
        for (const row of whole.length ? whole : [rowOf({ task })]) row.refused[other] = reason;
      }
    }
    const figure = (title, head, breakdown, isFolded) => ({ kind: "figure", isSigned: true, title, head, folded: isFolded, of_groups: breakdown !== null, rows: [...rows.values()].filter((row) => row.breakdown === breakdown) });
    const breakdowns = [...new Set([...rows.values()].map(({ breakdown }) => breakdown))].filter((breakdown) => breakdown !== null);
    const figures = [figure(`Difference from ${name}, ${filter}`, "task", null, false), ...breakdowns.map((breakdown) => figure(`Difference from ${name} by ${breakdown}, ${filter}`, breakdown, breakdown, true))];
    const blocks = figures.filter(({ rows: own }) => own.length).map((each) => blockNode(each, this.choice));
    return [...this.warnings(pairs), ...blocks];
  }

  warnings(pairs) {
    const warned = pairs.flatMap(({ runs, warnings }) => warnings.map((text) => el("li", {}, `${runs.map((run) => this.choice.runs[run]).join(" and ")}: ${text}`)));
    return warned.length ? [folded(`Warnings: ${warned.length}`, () => el("ul", { tabindex: "0" }, warned), { class: "problems" })] : [];
  }
}
