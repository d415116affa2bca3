"use strict";

/* The comparison: each of the runs that are chosen with the baseline. Every pair of runs has been compared once
   (report/comparison.py), with numbers as they are shown; here it is turned round where the baseline is its second run,
   and written out as the other tables and plots of the page are. */

const DRAWN = 8; // runs that a plot tells apart, and that are chosen at first
const MOST_POINTS = 75; // of more, all runs of a group share one line and have no intervals
const LINE = 14; // pixels

/** "+1.5" as "−1.5", and the other way round. */
function turned(text) {
  return text === "+0.0" ? text : `${text.startsWith("+") ? "−" : "+"}${text.slice(1)}`;
}

function mirrored(pair) {
  const lines = pair.lines.map((line) => ({
    ...line,
    values: line.values.toReversed(),
    difference: turned(line.difference),
    ends: line.ends.toReversed().map(turned),
  }));
  const sides = Object.fromEntries(Object.entries(pair.sides).map(([task, [both, a, b, none]]) => [task, [both, b, a, none]]));
  return { ...pair, lines, sides };
}

class Comparison {
  constructor({ runs, pairs }) {
    [this.runs, this.pairs] = [runs, pairs];
    this.chosen = new Set([...runs.keys()].slice(0, DRAWN));
    this.box = document.getElementById("compared");
    this.labels = runs.map((name, run) => this.choice(name, run));
    if (runs.length > 2) this.box.before(el("fieldset", { class: "columns-shown" }, el("legend", {}, "Runs compared with the baseline"), this.labels));
    for (const change of ["filterchange", "baselinechange"]) document.addEventListener(change, () => this.draw());
    this.draw();
  }

  choice(name, run) {
    const input = el("input", { type: "checkbox", ...(this.chosen.has(run) && { checked: "" }) });
    input.addEventListener("change", () => {
      if (input.checked) this.chosen.add(run);
      else this.chosen.delete(run);
      this.draw();
    });
    return el("label", {}, input, el("bdi", {}, name));
  }

  draw() {
    const { dataset } = document.documentElement;
    const baseline = Math.max(0, this.runs.indexOf(dataset.baseline));
    this.labels.forEach((label, run) => (label.hidden = run === baseline));
    const choices = [...document.querySelectorAll("[name=filter]")].map(({ value }) => value);
    const filters = [...new Set(this.pairs.map(({ filter }) => filter))];
    const shown = filters.filter((filter) => filter === dataset.filter || !choices.includes(filter));
    const blocks = shown.flatMap((filter) => this.blocks(baseline, filter));
    const nothing = el("p", { class: "note" }, `None of the chosen runs has a task in common with ${this.runs[baseline]}.`);
    this.box.replaceChildren(...(blocks.length ? blocks : [nothing]));
    this.box.querySelectorAll(".table").forEach(bindTable);
  }

  /** The tables of one filter, and a plot. */
  blocks(baseline, filter) {
    const others = this.pairs
      .filter((pair) => pair.filter === filter && pair.runs.includes(baseline))
      .map((pair) => (pair.runs[0] === baseline ? { ...pair, other: pair.runs[1] } : { ...mirrored(pair), other: pair.runs[0] }))
      .filter(({ other }) => this.chosen.has(other))
      .sort((a, b) => a.other - b.other);
    const warned = others.flatMap(({ runs, warnings }) => warnings.map((said) => el("li", {}, `${runs.map((run) => this.runs[run]).join(" and ")}: ${said}`)));
    const notes = warned.length ? [el("details", { class: "problems" }, el("summary", {}, `${warned.length} thing${warned.length > 1 ? "s" : ""} to keep in mind`), el("ul", {}, warned))] : [];
    const parts = others.map((pair) => this.parts(pair, baseline, filter));
    return [...notes, this.whole(others, baseline, filter), ...parts, this.flips(others, baseline, filter)].filter(Boolean);
  }

  whole(others, baseline, filter) {
    const name = this.runs[baseline];
    const lines = others.flatMap(({ other, lines: own }) => own.filter(({ breakdown }) => !breakdown).map((line) => ({ ...line, other })));
    const groups = new Map();
    for (const line of lines) {
      const group = `${words(line.task)} ${line.metric}`;
      groups.set(group, [...(groups.get(group) ?? []), line]);
    }
    const rows = [...groups.values()].flat().map((line) => [{ text: line.task, small: [line.metric] }, { text: this.runs[line.other] }, ...cellsOf(line)]);
    const none = { text: "–" };
    for (const task of new Set(others.flatMap(({ refused }) => Object.keys(refused)))) {
      for (const { other, refused } of others.filter((pair) => task in pair.refused)) {
        rows.push([{ text: task }, { text: this.runs[other] }, none, none, none, { text: "not compared", small: [refused[task]] }, none, none, none]);
      }
    }
    if (!rows.length) return undefined;
    const table = tableNode(`Differences from ${name} by task, ${filter}`, ["Task", "Run", "n", name, "Value", "Difference", "MDE", "p", "p, corrected"], rows);
    const runs = [...new Set(lines.map(({ other }) => other))];
    const drawn = runs.slice(0, DRAWN);
    const left = runs.length > DRAWN ? `, the first ${DRAWN} of ${runs.length} runs` : "";
    const plot = drawn.length ? [this.plot(groups, drawn, name, left)] : [];
    return blockNode(`Whole tasks, each minus ${name}`, [...plot, table]);
  }

  /** Differences by group, a line per run with its interval; runs have the signs that they have in the other plots. */
  plot(groups, drawn, name, left) {
    const free = [...Array(DRAWN).keys()].filter((place) => !drawn.includes(place));
    const numbers = new Map(drawn.map((run) => [run, 1 + (run < DRAWN ? run : free.shift())]));
    const rows = [...groups].map(([group, lines]) => [group, lines.filter(({ other }) => numbers.has(other))]);
    const apart = rows.flatMap(([, lines]) => lines).length <= MOST_POINTS;
    const points = (line) => [line.difference, ...(apart ? line.ends : [])].map((text) => Number(text.replace("−", "-")));
    const axis = axisOf(rows.flatMap(([, lines]) => lines.flatMap(points)));
    const row = (label, height, children, kind = "") =>
      el("div", { class: `plot-row${kind}` }, el("span", { class: "plot-label" }, label), svg("svg", { class: "plot-area", height, "aria-hidden": "true" }, children));
    const grid = axis.marks.map((mark) => [axis.at(mark), mark ? "grid" : "zero"]);
    const drawnRows = rows.map(([group, lines]) => {
      const marks = grid.map(([x, kind]) => svg("line", { x1: x, x2: x, y1: "-8", y2: "120%", class: kind }));
      const values = lines.flatMap((line, place) => {
        const [value, ...ends] = points(line);
        const y = LINE * (apart ? place + 1 : 1);
        const own = numbers.get(line.other);
        const reach = ends.length ? [svg("line", { x1: axis.at(ends[0]), x2: axis.at(ends[1]), y1: y, y2: y, stroke: `var(--run-${own})`, class: "reach" })] : [];
        return [...reach, svg("use", { href: `#run-${own}`, x: axis.at(value), y })];
      });
      return row(el("bdi", {}, group), LINE * ((apart ? lines.length : 1) + 1), [...marks, ...values]);
    });
    const scale = axis.marks.map((mark) => svg("text", { x: axis.at(mark), y: "13", class: "mark" }, document.createTextNode(axis.label(mark))));
    const sign = (number) => svg("svg", { width: "12", height: "12", viewBox: "-6 -6 12 12", "aria-hidden": "true" }, svg("use", { href: `#run-${number}` }));
    const keys = [...numbers].map(([run, number]) => el("li", {}, sign(number), el("bdi", {}, this.runs[run])));
    const about = `Difference from ${name}${left}`;
    const all = [...drawnRows, row(el("span", { class: "unit" }, "points"), 18, scale, " axis")];
    const label = `${about} by task, with confidence intervals: ${drawn.map((run) => this.runs[run]).join(", ")}`;
    return el("figure", {}, el("ul", { class: "key" }, keys), el("div", { class: "plot", role: "img", "aria-label": visible(label) }, all), el("figcaption", {}, about));
  }

  parts({ other, lines }, baseline, filter) {
    const [a, b] = [this.runs[baseline], this.runs[other]];
    const own = lines.filter(({ breakdown }) => breakdown);
    if (!own.length) return undefined;
    const rows = own.map((line) => {
      const { task, metric, breakdown, group } = line;
      const href = `#samples&${new URLSearchParams({ task, [breakdown]: group })}`;
      return [{ text: words(group), small: [breakdown], href }, { text: task, small: [metric] }, ...cellsOf(line)];
    });
    const clear = own.filter(({ marked }) => marked).length;
    const lead = `${clear} of ${own.length} parts differ by more than chance.`;
    const table = () => tableNode(`${b} minus ${a} by part, the clearest difference first, ${filter}`, ["Part", "Task", "n", a, b, "Difference", "MDE", "p", "p, corrected"], rows);
    return blockNode(`Parts: ${b} minus ${a}`, [table()], lead, !clear);
  }

  flips(others, baseline, filter) {
    const a = this.runs[baseline];
    const rows = [];
    for (const task of new Set(others.flatMap(({ sides }) => Object.keys(sides)))) {
      for (const { other, sides } of others.filter((pair) => task in pair.sides)) {
        const b = this.runs[other];
        const [both, onlyA, onlyB, neither] = sides[task].map((count) => ({ text: count.toLocaleString("en-US", { minimumFractionDigits: Number.isInteger(count) ? 0 : 1, maximumFractionDigits: 1 }), count }));
        for (const [cell, result] of [[onlyA, "only-a"], [onlyB, "only-b"]]) if (cell.count) cell.href = `#samples&${new URLSearchParams({ task, result, a, b })}`;
        rows.push([{ text: task }, { text: b }, both, onlyA, onlyB, neither]);
      }
    }
    if (!rows.length) return undefined;
    const isExpected = rows.some((row) => row.some(({ count = 0 }) => !Number.isInteger(count)));
    const lead = isExpected && "With repeats, the counts expected of one generation of each run. The links lead to the examples that one run alone has right in most generations.";
    return blockNode("What flipped", [tableNode(`Examples that changed sides, ${filter}`, ["Task", "Run", "both right", `only ${a}`, "only the run", "both wrong"], rows)], lead);
  }
}

function cellsOf({ n, values, difference, ends, unreliable, mde, p, p_adjusted, note }) {
  const interval = [ends.join(" to "), unreliable].filter(Boolean);
  return [{ text: grouped(n) }, { text: values[0] }, { text: values[1] }, { text: difference, small: interval }, { text: mde }, { text: p, small: note ? [note] : [] }, { text: p_adjusted }];
}

/** A block as the page has them: a heading, and a plot and a table side by side. */
function blockNode(title, nodes, lead, isFolded) {
  const inner = [...(lead ? [el("p", { class: "lead" }, lead)] : []), el("div", { class: "pair" }, nodes)];
  const head = el("h3", {}, el("bdi", {}, title));
  return el("div", { class: "block" }, isFolded ? el("details", {}, el("summary", {}, head), inner) : [head, ...inner]);
}

/** A table as the page has them; cells are {text, small, href, best}, the first two columns text. */
function tableNode(caption, head, rows) {
  const kind = (place) => (place < 2 ? "text" : "");
  const cell = ({ text, small = [], href, best }, place, again) => {
    const shown = el("bdi", { class: text.length < 24 && "one" }, text);
    const nodes = [el("span", { class: "value" }, href ? el("a", { href }, shown) : shown)];
    if (best) nodes.push(el("span", { class: "unseen" }, " (marked)"));
    nodes.push(...small.map((line) => el("span", { class: `small${line.length > 24 ? " why" : ""}` }, el("bdi", {}, line))));
    return place ? el("td", { class: `${kind(place)}${best ? " best" : ""}` }, nodes) : el("th", { scope: "row", class: again && "again" }, nodes);
  };
  const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const heads = head.map((name, place) => el("th", { scope: "col", class: kind(place) }, el("span", { class: "value" }, el("bdi", {}, name))));
  const body = rows.map((row, number) => el("tr", {}, row.map((each, place) => cell(each, place, number > 0 && isSame(row[0], rows[number - 1][0])))));
  const table = el("table", {}, el("caption", {}, el("bdi", {}, caption)), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, body));
  return el("div", { class: `table${rows.length > 24 ? " tall" : ""}`, role: "region", tabindex: "0", "aria-label": visible(caption) }, table);
}

function svg(tag, attributes, children = []) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...[children].flat());
  return element;
}

/** Round marks from below the least to above the largest value and zero. */
function axisOf(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const raw = (high - low || 1) / 4;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((each) => each >= raw * 0.999);
  const first = Math.floor(low / step);
  const count = Math.max(first + 1, Math.ceil(high / step)) - first + 1;
  const marks = Array.from({ length: count }, (_, place) => (first + place) * step);
  return {
    marks,
    at: (value) => `${((100 * (value - marks[0])) / (marks.at(-1) - marks[0])).toFixed(2)}%`,
    label: (mark) => mark.toFixed(Math.max(0, -Math.floor(Math.log10(step)))),
  };
}
