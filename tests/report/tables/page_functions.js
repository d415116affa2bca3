/* What the rows of functions_of_the_page.jsonl call besides the functions of the page: small inputs, and results as texts. */

/** Elements and texts as HTML. */
const html = (nodes) => {
  const box = document.createElement("div");
  box.append(...[nodes].flat(3).filter((node) => node !== false && node !== undefined && node !== null && node !== ""));
  return box.innerHTML;
};

/** Texts of the elements at a selector. */
const texts = (nodes, selector) => {
  const box = document.createElement("div");
  box.innerHTML = html(nodes);
  return [...box.querySelectorAll(selector)].map((found) => found.textContent);
};

/** An index of so many runs; each text has a letter for each question: right, wrong, half, none, cut, or a dot, not asked. */
const indexOf = (runs, task = "", change = {}) => {
  const count = runs[0].length;
  const asked = runs.flatMap((text, run) => [...text].map((letter, document) => ({ letter, document, run })).filter(({ letter }) => letter !== "."));
  const of = (read) => asked.map(({ letter }) => read[letter] ?? null);
  const acc = of({ r: 1, w: 0, v: 0, h: 0.5, n: 0, c: 0, l: 0, d: 0 });
  const outcome = of({ r: "right", w: "wrong", v: "wrong", h: "wrong", n: "none", c: "cut", l: "form", d: "wrong" });
  const answer = of({ r: "A", w: "B", v: "C", d: "B", h: "A ×1, B ×1" });
  const read = { "strict-match": { acc, outcome, answer, found_by: of({ r: "box", w: "box", v: "tag", n: "none" }) }, "flexible-extract": { acc: acc.map((value, i) => (asked[i].letter === "l" ? 1 : value)), outcome, answer: answer.map((value, i) => (asked[i].letter === "l" ? "A" : asked[i].letter === "d" ? "D" : value)), found_by: of({ l: "statement" }) } };
  const tasks = task || "t".repeat(count);
  const names = [...new Set(tasks)];
  return {
    runs: runs.map((_, run) => `run ${run}`), filters: Object.keys(read), tasks: names.map((name) => ({ name, label: name.toUpperCase(), facets: name === "u" ? [] : ["kind"], range: [], solution: "", limits: { 1: 2048, 2: 512 } })),
    documents: { task: [...tasks].map((name) => names.indexOf(name)), id: [...tasks].map((_, i) => count - i), snippet: [...tasks].map((_, i) => `Q${i}`), target: [...tasks].fill("A"), doubted: [...tasks].map((_, i) => i === 1), groups: [...tasks].map((_, i) => ({ kind: i % 2 ? "odd" : "even" })) },
    samples: { document: asked.map(({ document }) => document), run: asked.map(({ run }) => run), length: asked.map(({ document, run }) => 10 * ((document * 3 + run) % 5)), certainty: asked.map(({ letter }) => ({ r: 1, w: 0.5, h: 0.7 })[letter] ?? null), distrust: of({ w: ["uncertain"] }).map((each) => each ?? []), signs: of({ c: ["cut"], n: ["empty"] }).map((each) => each ?? []), read },
    starts: { documents: [0], samples: [0] }, ...change,
  };
};

const facetsOf = (runs, task, filter = "strict-match") => {
  const index = indexOf(runs, task);
  return Object.assign(new Facets(index, new PersonMarks(index)), { filter });
};

/** What is chosen and counted under a view: the places of questions, and for each facet its counts by value. */
const selected = (runs, view, task) => {
  const { facets, counts, shown } = facetsOf(runs, task).select(view);
  return [shown, Object.fromEntries(facets.map(({ name }, i) => [name, Object.fromEntries([...counts[i]].filter(([value]) => typeof value === "string"))]))];
};

/** A reply's record, with changes. */
const recordOf = (change = {}) => ({ responses: ["It is A."], answers: { "strict-match": ["A"], "flexible-extract": ["A"] }, right: { "strict-match": [1], "flexible-extract": [1] }, found_by: { "strict-match": ["box"], "flexible-extract": ["statement"] }, metrics: {}, details: {}, notes: [], ...change });

/** A column of the open question, and what is told of it. */
const columnOf = (letter, change = {}, more = {}) => ({ letter, run: `run ${letter}`, record: recordOf(change), outcome: "right", verdict: "right", answer: "A", share: 1, limit: 64, signs: [], marks: "", ...more });
const ABOUT = { target: "A", task: { range: [], solution: "" }, filter: "strict-match", raw: false, diff: false, prompt: false };

/** The HTML of the open question. */
const questionOf = (shared, columns, about = {}) => html(questionNodes({ prompt: [{ role: "user", content: "P" }], ...shared }, columns.map((each) => columnOf(...each)), { ...ABOUT, ...about }));
const questionTexts = (selector, ...given) => { const box = document.createElement("div"); box.innerHTML = questionOf(...given); return [...box.querySelectorAll(selector)].map((found) => found.textContent); };

/** The form of a sample's mark after steps: a number presses a button, a text goes into the note, a pair into a field. */
const marked = (steps, before = {}) => {
  const index = indexOf(["rw", "rw"]);
  window.localStorage.removeItem(PERSON);
  const marks = new PersonMarks(index);
  const told = [];
  marks.changed = (isRead) => told.push(isRead);
  for (const [sample, line] of Object.entries(before)) marks.put(marks.identity(Number(sample)), line);
  const form = marks.form(1);
  for (const step of steps) {
    if (typeof step === "number") form.querySelectorAll("button")[step].click();
    else {
      const field = form.querySelector(`[name=${step[0]}]`);
      field.value = step[1];
      field.dispatchEvent(new Event("change"));
    }
  }
  const again = new PersonMarks(index);
  window.localStorage.removeItem(PERSON);
  return { pressed: [...form.querySelectorAll("button")].map((each) => each.getAttribute("aria-pressed")), lines: [...marks.lines.values()], kept: [...again.lines.values()], changed: told, has: [0, 1, 2, 3].map((sample) => marks.has(sample)), fields: [...form.querySelectorAll("input")].map((each) => each.value) };
};

/** Of a board of so many runs: the notes, the numbers of rows shown at first, after a search, and when it is cleared. */
const boardOf = (count, query) => {
  const frame = el("div", { class: "board-frame" }, el("table", { class: "board" }, el("tbody", {}, el("tr", { class: "sep" }, el("td", {}, "Not ranked")), [...Array(count).keys()].map((i) => el("tr", {}, el("td", {}, `Run ${i}`), el("td", {}, "run 5"))))));
  document.body.append(frame);
  document.dispatchEvent(new Event("DOMContentLoaded"));
  const shown = () => [...frame.querySelectorAll("tr:not(.sep)")].map((row, i) => (row.hidden ? -1 : i)).filter((i) => i >= 0);
  const seen = [shown()];
  const search = frame.querySelector("input");
  for (const text of search ? [query, ""] : []) {
    search.value = text;
    search.dispatchEvent(new Event("input", { bubbles: true }));
    seen.push(shown());
  }
  const isSeparated = !frame.querySelector(".sep").hidden;
  frame.remove();
  return [isSeparated, search?.placeholder ?? "", ...seen.map((rows) => [rows.length, rows.at(0), rows.at(-1)])];
};

/** Records that a store finds in its chunks, and the places that a search visits; it stops after so many visits. */
const stored = async (chunks, query, most = Infinity) => {
  let start = 0;
  const starts = chunks.map((chunk) => { start += chunk.length; return start - chunk.length; });
  const store = new Store("none", starts);
  const read = [];
  store.text = async (number) => { read.push(number); return JSON.stringify(chunks[number]); };
  const records = [];
  for (let i = 0; i < start; i++) records.push(await store.record(i));
  const times = read.length;
  const visited = [];
  await store.search(query, (place) => visited.push(place), () => visited.length >= most);
  return { records, times, visited };
};

/** The ranges that are marked in a text, as [text, place]. */
const rangesIn = (content, words) => {
  const box = el("div", {});
  box.innerHTML = content;
  return rangeOf(box, words).map((range) => [range.toString(), range.startOffset]);
};

/** What is highlighted in folded and other text, and which folds are open. */
const highlighted = (query, ...contents) => {
  const root = el("div", {}, folded("Fold", () => contents[0]), folded("Other", () => contents[1]), el("p", {}, contents[2]));
  CSS.highlights.delete("found");
  highlight(root, query);
  const found = [...(CSS.highlights.get("found") ?? [])].map((range) => `${range.toString()}@${range.startOffset}`);
  CSS.highlights.delete("found");
  return [found, [...root.querySelectorAll("details")].map((fold) => fold.open)];
};

/** A fold's children before and after it is opened, and how often its content was made. */
const unfolded = (attributes, content) => {
  let made = 0;
  const fold = folded("T", () => (made++, content.map((each) => each && el("i", {}, each))), attributes);
  const before = fold.children.length;
  fillFold(fold);
  fillFold(fold);
  return [before, fold.children.length, made, fold.outerHTML];
};

/** The tables of references: which is hidden after each choice. */
const chosenReference = (names, place) => {
  const view = el("div", { class: "view" }, el("p", { class: "reference" }, "first"), names.map((name, i) => el("div", { "data-reference": name, ...(i > 0 && { hidden: "" }) })));
  document.getElementById("compare").append(view);
  addReferences();
  const select = view.querySelector(".reference select");
  if (select) {
    select.selectedIndex = place;
    select.dispatchEvent(new Event("change"));
  }
  const found = [[...(select?.options ?? [])].map((option) => option.textContent), [...view.querySelectorAll("[data-reference]")].map((table) => table.hidden)];
  view.remove();
  return found;
};

/** The orders of rows after clicks on heads of a table, and which head says how. */
const sortedBy = (heads, rows, clicks) => {
  const table = document.createElement("table");
  table.innerHTML = `<thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody>`;
  for (const place of clicks) sortBy(table.querySelectorAll("th")[place]);
  return [[...table.tBodies[0].rows].map((row) => row.cells[0].textContent), [...table.querySelectorAll("th")].map((head) => head.getAttribute("aria-sort"))];
};

/** A browser of samples that draws into elements of its own, and tells what it would do. */
const browserOf = (runs, view = {}, task = "", change = {}) => {
  const facets = facetsOf(runs, task);
  const told = [];
  const { shown } = facets.select(view);
  const list = { scrollTop: 0, clientHeight: 200 };
  return Object.assign(Object.create(SampleBrowser.prototype), {
    index: facets.index, facets, marks: facets.marks, view, runs: facets.runsOf(view), shown, opened: shown[0] ?? null, told,
    toggles: { raw: false, diff: false, prompt: false }, rowHeight: 76, spacer: el("div", {}),
    place: { list, detail: el("div", {}), browse: el("div", {}), facets: el("details", {}), keys: el("details", {}), count: el("p", {}), choices: el("nav", {}) },
    search: { focus: () => told.push("search") }, replace: (changes) => void told.push(changes), ...change,
  });
};

/** What a browser of samples tells of a key, and whether it stands for something. */
const acted = (key, runs, view = {}, change = {}) => {
  const browser = browserOf(runs, view, "", { drawQuestion: () => browser.told.push("drawn"), ...change });
  const { detail } = browser.place;
  for (const side of ["A", "B"]) detail.append(el("div", { class: "marks" }, ["one", "two", "three"].map((kind) => button(kind, () => browser.told.push(`${side} ${kind}`))), el("input", { name: "note" })));
  document.body.append(detail);
  const is = browser.act(key);
  const focused = [...detail.querySelectorAll("input")].indexOf(document.activeElement);
  detail.remove();
  return [is, browser.told, browser.toggles, browser.place.keys.open, browser.place.facets.open, focused];
};

/** What is done on a key that is pressed in an element. */
const pressedIn = (tag, event, isOpen = false, isInView = true) => {
  const done = [];
  const browser = browserOf(["r"], {}, "", { isInView: () => isInView, act: (key) => (done.push(key), key !== "x"), close: () => done.push("close") });
  browser.place.browse.toggleAttribute("data-open", isOpen);
  const target = tag === "RADIO" ? { tagName: "INPUT", type: "radio" } : { tagName: tag, blur: () => done.push("blur") };
  browser.key({ ctrlKey: false, metaKey: false, altKey: false, target, preventDefault: () => done.push("prevented"), ...event });
  return done;
};

/** The open question after two are asked for, of which the first one's reply comes last. */
const overtaken = async () => {
  const browser = browserOf(["rr", "ww"]);
  const waits = [60, 0];
  browser.documents = { record: async (document) => ({ doc: { question: `Question ${document}` }, prompt: [] }) };
  browser.records = { record: (sample) => new Promise((done) => setTimeout(() => done(recordOf()), waits[sample % 2])) };
  const first = (browser.opened = 0, browser.drawQuestion());
  const busy = browser.place.detail.getAttribute("aria-busy");
  const second = (browser.opened = 1, browser.drawQuestion());
  await Promise.all([first, second]);
  return [busy, browser.place.detail.getAttribute("aria-busy"), texts([browser.place.detail], ".quest"), texts([browser.place.detail], ".col h3")];
};

/** What the open question has in a view: its columns, and the buttons that are pressed. */
const openOf = async (runs, view, change = {}) => {
  const browser = browserOf(runs, view, "", change);
  browser.documents = { record: async () => ({ doc: {}, prompt: [] }) };
  browser.records = { record: async (sample) => recordOf({ responses: [`Reply ${sample} is so`] }) };
  await browser.drawQuestion();
  const { detail } = browser.place;
  return [[...detail.querySelectorAll(".col h3")].map((each) => each.textContent), [...detail.querySelectorAll("[aria-pressed=true]")].map((each) => each.textContent), [...detail.querySelectorAll(".tools .btn")].map((each) => each.textContent), [...detail.querySelectorAll("nav a")].map((each) => [each.textContent, each.getAttribute("href"), each.getAttribute("aria-current")]), detail.querySelector(".where")?.textContent ?? "", detail.querySelector(".why")?.textContent ?? ""];
};

/** Two searches, of which the second comes before the first one's end: what each is told, and what is drawn. */
const searched = async (queries, runs = ["rrr"]) => {
  const drawn = [];
  const browser = browserOf(runs, {}, "", { draw: () => drawn.push([browser.searching, browser.facets.hits && [...browser.facets.hits]]) });
  const stops = [];
  browser.documents = { search: async (query, visit, stop) => { stops.push(stop); await new Promise((done) => setTimeout(done, 20 / stops.length)); if (query === "a") visit(1); } };
  browser.records = { search: async (query, visit) => visit(2) };
  const all = queries.map((q) => { browser.view = { q }; return browser.runSearch(); });
  const busy = browser.place.browse.getAttribute("aria-busy");
  await Promise.all(all);
  return [drawn, stops.map((stop) => stop()), busy, browser.place.browse.getAttribute("aria-busy"), browser.searched];
};

/** The variable that a property of the last element of some HTML has as its colour. */
const COLOURS = "ink accent tint rest a b atint btint warn warnbg floor floorline box-right box-wrong box-none right form wrong unsure none cut mark muted faint bg".split(" ");
const colourOf = (source, property) => {
  const box = document.createElement("div");
  box.innerHTML = source;
  document.body.append(box);
  const element = [...box.querySelectorAll("*")].at(-1);
  const shown = getComputedStyle(element)[property];
  const probe = document.createElement("i");
  element.parentNode.append(probe);
  const found = COLOURS.find((name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color === shown; });
  box.remove();
  return found ?? shown;
};
