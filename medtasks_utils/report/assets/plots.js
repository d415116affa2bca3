"use strict";

/* Plots by number of tokens, and the map of examples by runs that have them right. */

const PLOT = { width: 440, height: 250, left: 38, right: 12, top: 10, bottom: 36 };

/** Build a logarithmic axis of tokens, with marks at 1, 2 and 5 times powers of ten. */
function tokensAxis(values) {
  const [low, high] = [Math.min(...values) / 1.15, Math.max(...values) * 1.15];
  const decades = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((times) => times * 10 ** power)).flat();
  const inside = decades.filter((mark) => mark >= low && mark <= high);
  return { marks: inside.length > 7 ? inside.filter((mark) => String(mark).startsWith("1")) : inside, at: (value) => PLOT.left + ((PLOT.width - PLOT.left - PLOT.right) * Math.log(value / low)) / Math.log(high / low) };
}

/** Values over tokens. A series is {run, points: [[tokens, value, low, high]]}: a curve with its intervals or, of one
 *  point, a sign; the front is drawn as steps through the points that nothing beats with fewer tokens. */
function tokensPlot(series, front, { title, head }, choice) {
  const all = series.flatMap(({ points }) => points);
  const axis = tokensAxis(all.map(([tokens]) => tokens));
  const shares = axisOf(all.flatMap(([, ...values]) => reach(values)));
  const y = (value) => PLOT.height - PLOT.bottom - (PLOT.height - PLOT.top - PLOT.bottom) * (Number.parseFloat(shares.at(value)) / 100);
  const text = (x, at, words_, anchor) => svg("text", { x, y: at, "text-anchor": anchor }, document.createTextNode(words_));
  const line = (points) => points.map(([tokens, value], place) => `${place ? "L" : "M"}${axis.at(tokens).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const grid = shares.marks.flatMap((mark) => [svg("line", { x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y(mark), y2: y(mark), class: "grid" }), text(PLOT.left - 5, y(mark) + 4, shares.label(mark), "end")]);
  const scale = axis.marks.map((mark) => text(axis.at(mark), PLOT.height - PLOT.bottom + 14, grouped(mark), "middle"));
  const drawn = series.flatMap(({ run, points }) => {
    const number = choice.numbers.get(run);
    const colour = number ? `var(--run-${number})` : "var(--muted)";
    const band = points.filter(([, , low]) => low !== null);
    if (points.length > 1) return [
      svg("path", { d: `${line(band.map(([tokens, , low]) => [tokens, low]))}${line(band.map(([tokens, , , high]) => [tokens, high]).reverse()).replace("M", "L")}Z`, fill: colour, class: "band" }),
      svg("path", { d: line(points), stroke: colour, class: "curve" }),
    ];
    const [[tokens, value, low, high]] = points;
    const x = axis.at(tokens);
    const interval = low === null ? [] : [svg("line", { x1: x, x2: x, y1: y(low), y2: y(high), stroke: colour, class: "reach" })];
    return [...interval, svg("g", { transform: `translate(${x} ${y(value)})` }, svg("title", {}, document.createTextNode(`${choice.runs[run]}: ${value.toFixed(1)}, ${grouped(Math.round(tokens))} tokens`)), sign(number))];
  });
  const steps = front.map(([tokens, value], place) => `${place ? `H${axis.at(tokens).toFixed(1)}V` : `M${axis.at(tokens).toFixed(1)} `}${y(value).toFixed(1)}`).join("");
  const label = text((PLOT.left + PLOT.width) / 2, PLOT.height - 4, head, "middle");
  const best = front.length > 1 ? [svg("path", { d: steps, class: "front" })] : [];
  const node = svg("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, class: "plot-xy", role: "img", "aria-label": title }, ...grid, ...scale, ...best, ...drawn, label);
  const lines = series.flatMap(({ run, points }) => points.map((point) => [choice.runs[run], ...point]));
  return el("div", { class: "block" }, el("h3", {}, title, lines.length > series.length && csvButton(title, () => csv([["run", "tokens", "value", "low", "high"], ...lines]))), node);
}

/** Plot a column's values by mean tokens per example, with the Pareto front. */
function costPlot(column, ends, choice) {
  const series = column.values.flatMap((value, run) => (value && ends[run]?.tokens ? [{ run, points: [[ends[run].tokens, ...value.slice(0, 3)]] }] : []));
  if (series.length < 2 || !column.drawn || column.ascending) return "";
  const points = series.filter(({ run }) => !column.reasons[run]).map(({ points: [point] }) => point).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const front = points.filter(([, value], place) => points.slice(0, place).every(([, other]) => other < value));
  const node = tokensPlot(series, front, { title: `${column.metric} (%) by tokens`, head: "mean tokens per example" }, choice);
  node.append(el("p", { class: "note" }, "The line connects the best values for at most that many tokens."));
  return node;
}

/** Plot accuracy by token budget of a reply, and list the budget with which each run reaches 99 % of its accuracy. */
function budgetsPlot(curves, choice) {
  const shown = Object.entries(curves ?? {}).map(([run, curve]) => [Number(run), curve]).filter(([run]) => choice.drawn.includes(run));
  if (!shown.length) return "";
  const series = shown.map(([run, { points }]) => ({ run, points: points.map(({ tokens, acc, low, high }) => [tokens, 100 * acc, low === null ? null : 100 * low, high === null ? null : 100 * high]) }));
  const node = tokensPlot(series, [], { title: "acc (%) by token budget", head: "token budget of a reply; longer replies count as unanswered" }, choice);
  const rows = shown.map(([run, curve]) => [el("span", {}, signNode(choice.numbers.get(run)), " ", el("bdi", {}, choice.runs[run])), grouped(curve.almost_all), grouped(Math.round(curve.per_right_answer))]);
  node.append(scrolled(textTable(["Run", "tokens for 99 % of its acc", "tokens per right answer"], rows), { title: "Token budgets" }, 0), el("p", { class: "note" }, `${sentence(shown[0][1].note)}.`));
  return node;
}

/** Draw a map of the examples that each run has right, one column per example; a click opens the example. */
function agreementNode(tasks, { index, selection, choice, openDocument }) {
  const numbers = tasks.map((task) => index.tasks.findIndex(({ name }) => name === task));
  const documents = [...selection.byDocument.keys()].filter((document_) => numbers.includes(index.documents.task[document_]));
  const scoresOf = (document_) => choice.runs.map((_, run) => selection.of(document_, run)).map((sample) => (sample === undefined ? null : selection.at("acc", sample)));
  const columns = documents.map((document_) => ({ document_, scores: scoresOf(document_) })).map((column) => ({ ...column, right: column.scores.filter((score) => score === 1).length, pattern: column.scores.map((score) => (score === null ? 2 : 1 - score).toFixed(2)).join(" ") }));
  const runs = [...choice.runs.keys()].filter((run) => columns.some(({ scores }) => scores[run] !== null));
  if (runs.length < 2) return "";
  columns.sort((a, b) => b.right - a.right || (a.pattern < b.pattern ? -1 : a.pattern > b.pattern ? 1 : a.document_ - b.document_));
  /** Group adjacent columns of the same kind, as [from, to, kind]. */
  const stretches = (kindOf) => columns.reduce((all, column, place) => {
    if (all.at(-1)?.[2] === kindOf(column)) all.at(-1)[1] = place + 1;
    else all.push([place, place + 1, kindOf(column)]);
    return all;
  }, []);
  const share = (count) => `${((100 * count) / columns.length).toFixed(3)}%`;
  const opens = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    openDocument(columns[Math.min(columns.length - 1, Math.floor(((event.clientX - left) / width) * columns.length))].document_);
  };
  const link = (count, filters) => (count && tasks.length === 1 ? el("a", { href: `#samples&${new URLSearchParams({ task: tasks[0], ...filters })}` }, grouped(count)) : grouped(count));
  const rows = runs.map((run) => {
    const paths = { right: "", partly: "", wrong: "" };
    for (const [from, to, kind] of stretches(({ scores }) => (scores[run] === null ? "" : scores[run] === 1 ? "right" : scores[run] > 0 ? "partly" : "wrong"))) if (kind) paths[kind] += `M${from} 0H${to}V1H${from}Z`;
    const number = choice.numbers.get(run);
    const drawn = Object.entries(paths).map(([kind, d]) => svg("path", { d, class: kind, fill: number ? `var(--run-${number})` : "var(--muted)" }));
    const map = svg("svg", { viewBox: `0 0 ${columns.length} 1`, preserveAspectRatio: "none", class: "agreement-row", "aria-hidden": "true" }, ...drawn);
    map.addEventListener("click", opens);
    const known = columns.filter(({ scores }) => scores[run] !== null);
    const alone = known.filter(({ scores, right }) => right === 1 && scores[run] === 1 && scores.filter((score) => score !== null).length > 1).length;
    return el("tr", {}, el("th", { scope: "row" }, signNode(number), " ", el("bdi", {}, choice.runs[run])), el("td", { class: "plot" }, map), el("td", {}, grouped(known.filter(({ scores }) => scores[run] === 1).length)), el("td", {}, grouped(alone)));
  });
  const counts = stretches(({ right }) => right).map(([from, to, right]) => [svg("line", { x1: share(from), x2: share(from), y1: 0, y2: 16, class: "grid" }), ...(to - from > columns.length / 25 ? [svg("text", { x: share((from + to) / 2), y: 12 }, document.createTextNode(`${right}`))] : [])]);
  const scale = svg("svg", { height: 16, "aria-hidden": "true" }, ...counts.flat());
  const heads = el("tr", {}, el("th", { scope: "col" }, "Run"), el("th", { scope: "col", class: "text plot" }, "examples, by number of runs that have them right", scale), el("th", { scope: "col" }, "right"), el("th", { scope: "col" }, "alone"));
  const title = "Examples that each run has right";
  const wrong = columns.filter(({ right }) => right === 0).length;
  const differ = columns.filter(({ right, scores }) => right && right < scores.filter((score) => score !== null).length).length;
  const about = el("p", { class: "note" }, "Wrong in all runs: ", link(wrong, { run: ONCE, result: "all-wrong" }), "; runs disagree: ", link(differ, { run: ONCE, result: "disagree" }), ". Click an example to open it.");
  return el("div", { class: "block" }, el("h3", {}, title), scrolled(el("table", { class: "figure agreement", "aria-label": title }, el("thead", {}, heads), el("tbody", {}, rows)), { title }, 0), about);
}
