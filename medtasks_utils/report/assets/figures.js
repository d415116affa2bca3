"use strict";

/* Figures and tables, drawn from the page's numbers. A value is [value, low, high, n, note, detectable difference] and,
   of a difference, [… p, corrected p, whether it is significant]. Nothing is computed here but places on an axis. */

const LINE = 9; // pixels of a run's line
const MOST_DRAWN = 24; // maximum rows of a plot; with more rows, shaded values replace it
const DETAILS = ["value", "low", "high", "n", "note", "detectable difference", "p", "p corrected"];

/** Return round axis marks that enclose all values. */
function axisOf(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const raw = (high - low || Math.abs(high) || 1) / 4;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= raw * 0.999);
  const first = Math.floor(low / step);
  const count = Math.max(first + 1, Math.ceil(high / step)) - first + 1;
  const marks = Array.from({ length: count }, (_, place) => (first + place) * step);
  return {
    marks,
    at: (value) => `${((100 * (value - marks[0])) / (marks.at(-1) - marks[0])).toFixed(2)}%`,
    label: (mark) => mark.toFixed(Math.max(0, -Math.floor(Math.log10(step)))),
  };
}

/** Return the numbers of a value that an axis has to include: its interval, or else the value itself. */
function reach(value) {
  return value ? [value[0], value[1] ?? value[0], value[2] ?? value[0]] : [];
}

/** Create a run's symbol, in its colour if the run is drawn, and hollow if it is not comparable. */
function sign(number, at = {}, isHollow = false) {
  if (!number || isHollow) return svg("circle", { r: number ? 4 : 3, cx: at.x ?? 0, cy: at.y ?? 0, class: "other", ...(isHollow && { fill: "none", stroke: number ? `var(--run-${number})` : "var(--muted)" }) });
  return svg("use", { href: `#run-${number}`, ...at });
}

function signNode(number, isHollow) {
  return svg("svg", { width: "12", height: "12", viewBox: "-6 -6 12 12", "aria-hidden": "true", class: "sign" }, sign(number, {}, isHollow));
}

/** Draw a value's interval and symbol on a line of a plot. */
function dot(axis, value, number, y, isHollow) {
  const [x, low, high] = reach(value).map(axis.at);
  const line = value[1] === null ? [] : [svg("line", { x1: low, x2: high, y1: y, y2: y, stroke: number ? `var(--run-${number})` : "var(--muted)", class: "reach" })];
  return [...line, sign(number, { x, y }, isHollow)];
}

function upright(axis, value, kind) {
  return svg("line", { x1: axis.at(value), x2: axis.at(value), y1: "0", y2: "100%", class: kind });
}

function signed(value, places) {
  const text = value.toFixed(places).replace("-", "−");
  return Number(value.toFixed(places)) >= 0 ? `+${text.replace("−", "")}` : text;
}

/** Describe a value of a row in words, with its interval, n and notes. */
function detailsOf(value, { places, counted }, isSigned) {
  const show = (each) => (isSigned ? signed(each, places) : each.toFixed(places));
  const [, low, high, n, note, detectable, p, corrected] = value;
  return [
    low !== null && `${show(low)} to ${show(high)}`,
    `n ${grouped(n)}${counted}`,
    note,
    detectable !== null && `MDE ${detectable.toFixed(places)}`,
    p && `p ${p}${corrected === null ? "" : `, corrected ${corrected}`}`,
  ].filter(Boolean);
}

/** Return true if all intervals of a row are unreliable. */
function isFew(row, choice) {
  return choice.drawn.every((run) => !row.values[run] || row.values[run][4]);
}

/** Build a figure with a row for each category, which has the dots and the values of all drawn runs. */
function figureNode(figure, choice) {
  const { rows, reasons = {}, isSigned } = figure;
  const runs = choice.drawn.filter((run) => rows.some(({ values, refused }) => values[run] || refused?.[run]));
  const drawn = rows.filter((row) => row.drawn);
  const onAxis = drawn.flatMap(({ values, reached }) => [...runs.flatMap((run) => reach(values[run])), ...(reached === null || reached === undefined ? [] : [reached])]);
  const isPlotted = onAxis.length > 0 && rows.length <= MOST_DRAWN;
  const axis = axisOf([...onAxis, ...(isSigned || !onAxis.length ? [0] : [])]);
  const height = Math.max(24, LINE * runs.length + 8);
  const plot = (row) => {
    const inside = row.drawn ? runs.filter((run) => row.values[run]).flatMap((run, place, all) => dot(axis, row.values[run], choice.numbers.get(run), (height * (place + 1)) / (all.length + 1), run in reasons)) : [];
    const marks = axis.marks.map((mark) => upright(axis, mark, isSigned && mark === 0 ? "zero" : "grid"));
    const reached = (row.reached ?? null) === null ? [] : [upright(axis, row.reached, "without-question")];
    return el("td", { class: "plot" }, svg("svg", { height, "aria-hidden": "true" }, ...marks, ...reached, ...inside));
  };
  const values = (row) => runs.map((run) => {
    const value = row.values[run];
    if (!value) return el("td", {}, row.refused?.[run] ? el("span", { class: "small why" }, row.refused[run]) : "–");
    const details = detailsOf(value, row, isSigned);
    const text = `${isSigned ? signed(value[0], row.places) : value[0].toFixed(row.places)}${value[8] ? " *" : ""}`;
    const share = !isPlotted && row.drawn && !isSigned ? ` share-${Math.round(value[0] / 10)}` : "";
    return el("td", { title: details.join(", "), class: `${value[4] ? "few" : ""}${share}` }, text, choice.isFull && details.map((detail) => el("span", { class: "small" }, detail)));
  });
  const line = (row) => {
    const href = row.filters && Object.keys(row.filters).length && `#samples&${new URLSearchParams(row.filters)}`;
    const label = el("bdi", {}, row.label);
    return el("tr", {}, el("th", { scope: "row" }, href ? el("a", { href }, label) : label), isPlotted && plot(row), values(row));
  };
  const head = (run) => el("th", { scope: "col" }, signNode(choice.numbers.get(run), run in reasons), " ", el("bdi", {}, choice.runs[run]), reasons[run] && el("span", { class: "small why" }, `not comparable: ${reasons[run]}`));
  const scale = isPlotted && el("th", { scope: "col", class: "plot" }, el("span", { class: "unseen" }, "Plot"), svg("svg", { height: 16, "aria-hidden": "true" }, ...axis.marks.map((mark) => svg("text", { x: axis.at(mark), y: 12 }, axis.label(mark)))));
  const heads = el("tr", {}, el("th", { scope: "col" }, sentence(words(figure.head))), scale, runs.map(head));
  const reliable = figure.of_groups ? rows.filter((row) => !isFew(row, choice)) : rows;
  const many = reliable.length ? reliable : rows;
  const few = rows.filter((row) => !many.includes(row));
  const bodies = [el("tbody", {}, many.map(line))];
  if (few.length) {
    const more = el("tbody", { hidden: "" });
    const unfold = button(`${few.length} more, each with too few examples`, () => {
      more.hidden = !more.hidden;
      if (!more.hidden && !more.children.length) more.append(...few.map(line));
      unfold.setAttribute("aria-expanded", String(!more.hidden));
    }, { "aria-expanded": "false", class: "few" });
    bodies.push(el("tbody", {}, el("tr", {}, el("td", { colspan: 2 + runs.length, class: "text" }, unfold))), more);
  }
  return scrolled(el("table", { class: "figure", "aria-label": figure.title }, el("thead", {}, heads), bodies), figure, rows.length);
}

/** Build a table whose cells are [text, small print, link]. */
function tableNode(table) {
  const kind = (place) => (place < table.texts ? "text" : "");
  const line = (row, above) => row.map(([text, small, href], place) => {
    const shown = el("bdi", {}, text);
    const nodes = [href ? el("a", { href }, shown) : shown, small && el("span", { class: "small" }, small)];
    if (!place) return el("th", { scope: "row", class: above?.[0][0] === text ? "again" : "" }, nodes);
    return el("td", { class: kind(place) }, nodes);
  });
  const heads = table.head.map((name, place) => el("th", { scope: "col", class: kind(place) }, el("bdi", {}, name)));
  const lines = table.rows.map((row, place) => el("tr", {}, line(row, table.rows[place - 1])));
  return scrolled(el("table", { "aria-label": table.title }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, lines)), table, lines.length);
}

/** Wrap a table in a box that scrolls, and is focusable only if there is something to scroll. */
function scrolled(node, { title }, rows) {
  const box = el("div", { class: `table${rows > MOST_DRAWN ? " tall" : ""}`, role: "region", "aria-label": title }, node);
  new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }).observe(box);
  return box;
}

/** Build a block with a heading, an introduction, and the figure or table; it may be folded. */
function blockNode(block, choice) {
  const draw = () => [
    block.lead && el("p", { class: "lead" }, block.lead),
    block.kind === "figure" ? figureNode(block, choice) : tableNode(block),
  ];
  const save = csvButton(block.title, () => csvOf(block, choice.runs));
  const areFew = block.of_groups && block.rows.every((row) => isFew(row, choice));
  const about = areFew ? `: ${block.rows.length}, each with too few examples` : block.kind === "figure" && block.rows.length > MOST_DRAWN ? `, ${block.rows.length}` : "";
  if (block.folded || about) return folded(`${block.title}${about}`, () => [...draw(), save], { class: "block" });
  return el("div", { class: "block" }, el("h3", {}, el("bdi", {}, block.title), save), draw());
}

function csvButton(title, make) {
  return button("CSV", () => download(`${title.replace(/[^\w.-]+/g, "-")}.csv`, [make()]), { class: "csv", title: "Save all numbers as CSV" });
}

/** Return all numbers as lines of CSV; for a figure, one line for each row and run. */
function csvOf(block, runs) {
  if (block.kind === "table") return csv([block.head, ...block.rows.map((row) => row.map(([text, small]) => [text, small].filter(Boolean).join("; ")))]);
  const lines = block.rows.flatMap(({ label, values }) => values.flatMap((value, run) => (value ? [[label, runs[run], ...value.slice(0, 8)]] : [])));
  return csv([[block.head, "run", ...DETAILS.slice(0, Math.max(0, ...lines.map((line) => line.length - 2)))], ...lines]);
}

function csv(lines) {
  return `${lines.map((values) => values.map((value) => quoted(String(value ?? ""))).join(",")).join("\r\n")}\r\n`;
}

/** Quote a field of CSV; a text that a spreadsheet would treat as a formula gets an apostrophe. */
function quoted(text) {
  const safe = /^[=@+\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function download(name, texts, type = "text/csv") {
  const address = URL.createObjectURL(new Blob(type === "text/csv" ? ["\ufeff", ...texts] : texts, { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
