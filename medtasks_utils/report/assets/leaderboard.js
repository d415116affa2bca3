"use strict";

/* The first screen: a row for each run with its value on every benchmark; a row unfolds into the run's details. */

const SHARES = { form: "Form", none: "None", cut: "Cut", tokens: "Tokens" };
const LOOK = { never: "never right", format: "lost to form", cut: "cut at the token limit" };

/** Sum up a run's losses over its benchmarks, weighted by their examples, and count the examples worth a look. */
function totalsOf(ends) {
  const mean = (valueOf) => {
    const known = ends.filter((each) => valueOf(each) !== null);
    const sum = (of) => known.reduce((total, each) => total + of(each), 0);
    return known.length ? sum((each) => each.n * valueOf(each)) / sum(({ n }) => n) : null;
  };
  const look = Object.keys(LOOK).map((name) => [name, ends.reduce((total, each) => total + each.look[name], 0)]);
  const none = mean(({ percent }) => percent[5] + percent[6]);
  return { form: mean(({ percent }) => percent[2]), none, cut: mean(({ cut }) => cut), tokens: mean(({ tokens }) => tokens), look: Object.fromEntries(look) };
}

class Leaderboard {
  constructor(board, choice) {
    [this.board, this.choice] = [board, choice];
    this.box = document.getElementById("board");
    this.sort = { by: 0, turned: false };
    this.name = "";
    this.totals = choice.runs.map((_, run) => totalsOf(Object.values(board.ends).flatMap((by) => by[run] ?? [])));
    this.shares = Object.entries(SHARES).filter(([name]) => this.totals.some((totals) => totals[name] !== null));
    this.unfolded = new Set(choice.runs.length === 1 ? [0] : []);
    if (choice.runs.length > DRAWN) {
      const input = el("input", { type: "search", autocomplete: "off" });
      input.addEventListener("input", () => { this.name = input.value.toLowerCase(); this.draw(); });
      this.box.before(el("label", { class: "filter-runs" }, "Runs whose names contain ", input));
    }
    choice.addEventListener("change", () => this.draw());
    this.draw();
  }

  get columns() {
    return this.board.columns[this.choice.filter] ?? Object.values(this.board.columns)[0];
  }

  draw() {
    const { runs, filter } = this.choice;
    const said = this.board.sentences[filter] ?? Object.values(this.board.sentences)[0];
    document.getElementById("said").replaceChildren(...said.map((text) => el("span", {}, `${text} `)));
    if (runs.length === 1) return this.box.replaceChildren(this.runNode(0));
    const shown = this.sorted().filter((run) => runs[run].toLowerCase().includes(this.name));
    const axes = this.columns.map((column) => axisOf([...column.values.flatMap(reach), ...[column.reached, column.chance].filter((value) => value !== null)]));
    const rows = shown.flatMap((run) => [this.row(run, axes), ...(this.unfolded.has(run) ? [this.more(run)] : [])]);
    const table = el("table", { class: "board", "aria-label": "Leaderboard" }, el("thead", {}, this.heads(axes)), el("tbody", {}, rows));
    const focused = document.activeElement?.closest("#board")?.querySelector(":focus")?.id;
    this.box.replaceChildren(scrolled(table, { title: "Leaderboard" }, 0), this.key());
    if (focused) document.getElementById(focused)?.focus();
    return undefined;
  }

  /** Return the runs in the order of a column, the best first, and runs without a value last. */
  sorted() {
    const { by, turned } = this.sort;
    const column = this.columns[by];
    const value = (run) => (column ? column.values[run]?.[0] : this.totals[run][by]) ?? null;
    const sign_ = (turned ? -1 : 1) * (column?.ascending ? 1 : -1);
    return [...this.choice.runs.keys()].sort((a, b) => (value(a) === null) - (value(b) === null) || sign_ * (value(a) - value(b)) || a - b);
  }

  heads(axes) {
    const head = (by, title, small, plot) => {
      const isSorted = this.sort.by === by;
      const change = () => { this.sort = { by, turned: isSorted && !this.sort.turned }; this.draw(); };
      const order = isSorted && { "aria-sort": this.sort.turned ? "ascending" : "descending" };
      const name = button("", change, { class: "sort", id: `sort-${by}` });
      name.append(el("bdi", {}, title), isSorted ? (this.sort.turned ? " ▲" : " ▼") : "");
      return el("th", { scope: "col", class: plot ? "text" : "", ...order }, name, small && el("span", { class: "small" }, small), plot);
    };
    const scale = ({ marks, at, label }) => svg("svg", { height: 14, class: "cell", "aria-hidden": "true" }, ...[marks[0], marks.at(-1)].map((mark) => svg("text", { x: at(mark), y: 11, class: mark === marks[0] ? "first" : "last" }, label(mark))));
    const columns = this.columns.map((column, by) => head(by, column.label, column.metric, column.drawn && scale(axes[by])));
    return el("tr", {}, el("th", { scope: "col", class: "text" }, "Run"), this.hasRank && el("th", { scope: "col" }, "Rank"), columns, this.shares.map(([name, title]) => head(name, title, name === "tokens" ? "/ example" : "%")));
  }

  get hasRank() {
    return this.columns[0]?.is_overall && this.columns[0].ranks.some(Boolean);
  }

  row(run, axes) {
    const { runs, drawn, numbers } = this.choice;
    const number = numbers.get(run);
    const box = el("input", { type: "checkbox", id: `draw-${run}`, "aria-label": `draw ${runs[run]}`, ...(drawn.includes(run) && { checked: "" }) });
    box.addEventListener("change", () => this.choice.toggle(run));
    const unfold = button("", () => { this.unfolded.delete(run) || this.unfolded.add(run); this.draw(); }, { class: "name", id: `run-row-${run}`, "aria-expanded": String(this.unfolded.has(run)) });
    unfold.append(signNode(number), " ", el("bdi", {}, runs[run]));
    const cells = this.columns.map((column, by) => this.cell(column, run, axes[by], number));
    const shares = this.shares.map(([name]) => {
      const value = this.totals[run][name];
      return el("td", {}, value === null ? "–" : name === "tokens" ? grouped(Math.round(value)) : value.toFixed(1));
    });
    const rank = this.columns[0]?.ranks[run];
    const range = rank ? (rank[0] === rank[1] ? `${rank[0]}` : `${rank[0]}–${rank[1]}`) : "–";
    return el("tr", {}, el("th", { scope: "row" }, el("span", { class: "who" }, box, unfold)), this.hasRank && el("td", {}, range), cells, shares);
  }

  /** Draw a value on its column's axis, with its group letters, and hollow if it is not comparable. */
  cell(column, run, axis, number) {
    const value = column.values[run];
    if (!value) return el("td", {}, "–");
    const reason = column.reasons[run];
    const [best, worst, letters] = column.ranks[run] ?? [];
    const about = [...detailsOf(value, column), best && `rank ${best} to ${worst}`, reason && `not comparable: ${reason}`].filter(Boolean);
    const marks = [[column.reached, "without-question"], [column.chance, "chance"]].filter(([at]) => at !== null).map(([at, kind]) => upright(axis, at, kind));
    const plot = column.drawn && svg("svg", { height: 20, class: "cell", "aria-hidden": "true" }, ...marks, ...dot(axis, value, number, 10, reason));
    const text = el("span", { class: "figures" }, value[0].toFixed(column.places), el("sup", {}, reason ? "≠" : (letters ?? "")));
    return el("td", { title: about.join(", "), class: reason ? "muted" : "" }, el("span", { class: "with-plot" }, plot, text), this.choice.isFull && about.map((line) => el("span", { class: "small" }, line)));
  }

  more(run) {
    const width = 1 + this.columns.length + this.shares.length + (this.hasRank ? 1 : 0);
    return el("tr", { class: "more" }, el("td", { colspan: width }, this.runNode(run)));
  }

  /** Build a run's details: a row for each benchmark with its value, the marks of chance and of the score without the question,
   *  and how its examples ended; below, what to look at. */
  runNode(run) {
    const { runs, numbers } = this.choice;
    const columns = this.columns.filter((column) => column.values[run]);
    const axis = axisOf([0, 100]);
    const number = runs.length === 1 ? 1 : numbers.get(run);
    const rows = columns.map((column) => {
      const [value, ends] = [column.values[run], this.board.ends[column.topic]?.[run]];
      const marks = [[column.reached, "without-question"], [column.chance, "chance"]].filter(([at]) => at !== null).map(([at, kind]) => upright(axis, at, kind));
      const plot = column.drawn && svg("svg", { height: 26, "aria-hidden": "true" }, ...axis.marks.map((mark) => upright(axis, mark, "grid")), ...marks, ...dot(axis, value, number, 13, column.reasons[run]));
      const interval = value[1] === null ? "no interval" : `${value[1].toFixed(column.places)} to ${value[2].toFixed(column.places)}`;
      const href = `#unit-${column.topic}`;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, this.choice.topics.includes(href.slice(1)) ? el("a", { href }, column.label) : column.label, el("span", { class: "small" }, column.metric)),
        el("td", { class: "plot" }, plot),
        el("td", {}, el("b", {}, value[0].toFixed(column.places)), el("span", { class: "small" }, interval), column.reasons[run] && el("span", { class: "small why" }, `not comparable: ${column.reasons[run]}`)),
        el("td", { class: "ends" }, ends && this.bar(ends)),
        el("td", {}, ends?.tokens ? grouped(Math.round(ends.tokens)) : "–"),
        el("td", {}, grouped(value[3]), column.counted),
      );
    });
    const heads = ["Benchmark", "Value and 95 % interval", "%", "How examples ended, %", "Tokens per example", "n"];
    const look = Object.entries(this.totals[run].look).filter(([, count]) => count);
    const links = look.map(([name, count]) => el("a", { href: `#samples&${new URLSearchParams({ run: runs[run], ...(name === "cut" ? { badge: LOOK.cut } : { result: name }) })}` }, `${grouped(count)} ${LOOK[name]}`));
    const scale = svg("svg", { height: 14, "aria-hidden": "true" }, ...axis.marks.map((mark) => svg("text", { x: axis.at(mark), y: 11 }, axis.label(mark))));
    const head = heads.map((text, place) => el("th", { scope: "col", class: ["text", "text plot", "", "text"][place] ?? "" }, text, place === 1 && scale));
    return el("div", {}, scrolled(el("table", { class: "one-run", "aria-label": runs[run] }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)), { title: runs[run] }, 0), runs.length === 1 && this.key(), this.endsKey(), links.length ? el("p", { class: "look" }, "Look at ", links.flatMap((link, place) => (place ? [" · ", link] : [link]))) : "");
  }

  /** Draw a bar of how examples ended. */
  bar({ percent }) {
    let start = 0;
    const names = Object.keys(this.board.outcomes);
    const parts = percent.flatMap((width, place) => {
      if (!width) return [];
      const at = start;
      start += width;
      const rect = svg("rect", { x: `${at}%`, width: `${width}%`, y: "4", height: "18", fill: `var(--outcome-${place + 1})` }, svg("title", {}, document.createTextNode(`${names[place]} ${width.toFixed(1)} %`)));
      return width < 9 ? [rect] : [rect, svg("text", { x: `${at + width / 2}%`, y: "17", class: `on-${place + 1}` }, width.toFixed(0))];
    });
    const label = percent.map((width, place) => (width ? `${names[place]} ${width.toFixed(1)} %` : "")).filter(Boolean).join(", ");
    return svg("svg", { height: 26, role: "img", "aria-label": label }, ...parts);
  }

  endsKey() {
    const known = Object.values(this.board.ends).flat().filter(Boolean);
    const items = Object.entries(this.board.outcomes).filter((_, place) => known.some(({ percent }) => percent[place]));
    const places = Object.keys(this.board.outcomes);
    const square = (name) => svg("svg", { width: "12", height: "12", "aria-hidden": "true" }, svg("rect", { width: "12", height: "12", fill: `var(--outcome-${places.indexOf(name) + 1})` }));
    return el("ul", { class: "key" }, items.map(([name, meaning]) => el("li", { title: meaning }, square(name), name)));
  }

  key() {
    const mark = (kind) => svg("svg", { width: "12", height: "12", "aria-hidden": "true" }, svg("line", { x1: 6, x2: 6, y1: 0, y2: 12, class: kind }));
    const has = (name) => this.columns.some((column) => column[name] !== null);
    const items = [
      has("chance") && [mark("chance"), "chance"],
      has("reached") && [mark("without-question"), `reached without the question (${[...new Set(this.columns.map(({ reader }) => reader).filter(Boolean))].join(", ")})`],
      this.columns.some((column) => Object.keys(column.reasons).length) && [el("b", {}, "≠"), "not comparable, not ranked"],
      this.choice.drawn.length < this.choice.runs.length && [el("b", {}, "☑"), `drawn in figures: ${this.choice.drawn.length} of ${this.choice.runs.length} runs, at most ${DRAWN} at a time`],
      this.columns.some((column) => column.ranks.some(Boolean)) && [el("b", {}, "a b"), "runs that share a letter do not differ significantly"],
    ].filter(Boolean);
    return el("ul", { class: "key" }, items.map(([node, text]) => el("li", {}, node, text)));
  }
}
