/* The browser of samples: facets, the list with a row a question, and the open question. The address is the view:
   #samples?task=…&which=… (facets.js); links change it, and everything is drawn from it. */

const PLACE = "#samples?";
const BOXES_SHOWN = 12; // runs with a box in each row
const VALUES_SHOWN = 8; // of a facet, until the others are unfolded

class SampleBrowser {
  constructor(index) {
    this.index = index;
    this.marks = new PersonMarks(index);
    this.facets = new Facets(index, this.marks);
    this.documents = new Store("documents", index.starts.documents);
    this.records = new Store("samples", index.starts.samples);
    /** @type {Record<string, any>} */
    this.place = Object.fromEntries(["browse", "facets", "choices", "count", "list", "detail", "keys"].map((id) => [id, document.getElementById(id)]));
    this.search = this.place.facets.querySelector('[name="q"]');
    this.order = this.place.browse.querySelector('[name="order"]');
    this.order.append(...Object.entries(ORDERS).map(([value, text]) => el("option", { value }, text)));
    this.rules = [...document.querySelectorAll('[name="filter"]')];
    this.rowHeight = index.runs.length > 2 ? 90 : 70; // pixels, as in samples.css
    this.view = {};
    this.shown = [];
    this.opened = null; // number of the document that is open
    this.toggles = { raw: false, diff: false, prompt: false };
    this.searched = ""; // what hits are of
    this.spacer = el("div", { class: "spacer" });
    this.place.list.append(this.spacer);
    document.getElementById("saving").append(button("CSV", () => this.save(), { class: "btn", title: "Save the listed questions, a line for each run's reply" }), ...this.marks.buttons());
    if (matchMedia("(max-width: 700px)").matches) this.place.facets.removeAttribute("open");
    this.place.browse.hidden = false;
    this.place.browse.setAttribute("aria-busy", "false");
    this.place.browse.dataset.runs = index.runs.length > 2 ? "many" : "few";
    this.listen();
    this.readAddress(true);
  }

  // ---- the address

  /** The address of the view with changes. */
  address(changes) {
    const entries = Object.entries({ ...this.view, ...changes, filter: this.facets.filter }).filter(([, value]) => value !== "" && value !== undefined);
    return PLACE + new URLSearchParams(entries);
  }

  readAddress(isFirst = false) {
    const { hash } = window.location;
    if (hash.startsWith(PLACE)) this.view = Object.fromEntries(new URLSearchParams(hash.slice(PLACE.length)));
    else this.view = isFirst ? this.facets.likeliest() : { ...this.view, open: undefined };
    const rule = this.rules.find(({ value }) => value === this.view.filter);
    if (rule && !rule.checked) {
      rule.checked = true;
      rule.dispatchEvent(new Event("change", { bubbles: true })); // the whole page follows, and this browser with it
    } else this.apply();
    if (hash.startsWith(PLACE) && !this.isInView()) document.getElementById("samples").scrollIntoView();
  }

  /** Change the view without a step that the browser's Back would go through. */
  replace(changes) {
    history.replaceState(null, "", this.address(changes));
    this.readAddress();
  }

  // ---- drawing

  apply() {
    this.runs = this.facets.runsOf(this.view);
    this.search.value = this.view.q ?? "";
    this.order.value = this.view.order ?? "";
    if ((this.view.q ?? "") === this.searched) this.draw();
    else this.runSearch();
  }

  draw() {
    this.drawChoices();
    const open = Number(this.view.open ?? NaN);
    this.opened = open in this.index.documents.id ? open : (this.shown[0] ?? null);
    this.place.browse.toggleAttribute("data-open", this.view.open !== undefined);
    this.scrollTo(this.shown.indexOf(this.opened));
    this.drawList();
    this.drawQuestion();
  }

  /** Draw the facets with their counts, and the list. */
  drawChoices() {
    const { facets, counts, shown } = this.facets.select(this.view);
    this.shown = shown;
    this.spacer.style.height = `${shown.length * this.rowHeight}px`;
    this.place.choices.replaceChildren(...this.runChoices(), ...facets.map((facet, i) => this.facetNode(facet, counts[i])));
    this.place.count.textContent = `${grouped(shown.length)} question${shown.length === 1 ? "" : "s"}`;
    this.drawList();
  }

  /** Of more than two runs, the choice of those that are shown side by side. */
  runChoices() {
    const { runs } = this.index;
    if (runs.length < 3) return [];
    const chosen = { a: this.runs.a, b: this.runs.b ?? "" };
    return ["a", "b"].map((name) => {
      const options = [...(name === "b" ? [["", "no other run"]] : []), ...runs.entries()];
      const select = el("select", { name }, options.map(([value, text]) => el("option", { value }, text)));
      select.value = chosen[name];
      select.addEventListener("change", () => (window.location.hash = this.address({ ...chosen, [name]: select.value, which: "" })));
      return el("label", { class: "run" }, runSign(name.toUpperCase()), select);
    });
  }

  facetNode({ name, title, labels }, counts) {
    const chosen = this.view[name];
    const found = [...counts.keys()].filter((value) => value !== null && value !== undefined).sort((one, other) => counts.get(other) - counts.get(one) || (one < other ? -1 : 1));
    const values = labels ? Object.keys(labels).filter((value) => value === chosen || (value !== "none" && (counts.has(value) || !/unsure|right_by/.test(value)))) : found;
    if (!labels && values.length < 2 && !chosen) return "";
    if (chosen && !values.includes(chosen)) values.unshift(chosen);
    const links = values.map((value) => el("a", { "data-value": value, href: this.address({ [name]: value === chosen ? "" : value, open: "" }), ...(value === chosen && { "aria-current": "true" }) }, el("bdi", {}, labels?.[value] ?? words(value)), el("span", {}, grouped(counts.get(value) ?? 0))));
    const rest = labels ? [] : links.splice(Math.max(VALUES_SHOWN, values.indexOf(chosen) + 1));
    const { a, b, focus } = this.runs;
    const other = focus === a ? { a: "", b } : { a, b: "" };
    const swap = name === "lost" && this.index.runs.length === 2 && !/only_/.test(this.view.which) && el("a", { class: "swap", href: this.address({ ...other, lost: "", open: "" }) }, `${focus === a ? "B" : "A"}’s`);
    return el("div", { class: "facet", "data-facet": name, role: "group", "aria-label": title }, el("h3", {}, title, swap), links, rest.length > 0 && el("details", {}, el("summary", {}, `${rest.length} more`), rest));
  }

  drawList() {
    const { list } = this.place;
    const first = Math.max(0, Math.floor(list.scrollTop / this.rowHeight) - 4);
    const last = Math.min(this.shown.length, Math.ceil((list.scrollTop + list.clientHeight) / this.rowHeight) + 4);
    const rows = this.shown.slice(first, last).map((document_, i) => this.row(document_, first + i));
    if (!this.shown.length) rows.push(el("p", { class: "empty" }, this.searching ? "Searching …" : "No question is in this view. ", !this.searching && el("a", { href: PLACE }, "Show all questions")));
    this.spacer.replaceChildren(...rows);
  }

  row(document_, place) {
    const { documents, runs } = this.index;
    const samples = this.boxed().map((run) => this.facets.sampleOf[run].get(document_));
    const answers = this.runs.shown.map((run, i) => {
      const sample = this.facets.sampleOf[run].get(document_);
      return `${this.runs.shown.length > 1 ? `${"AB"[i]} ` : ""}${sample === undefined ? "not asked" : (this.facets.answer(sample) ?? "–")}`;
    });
    const group = this.index.tasks[documents.task[document_]].facets.map((name) => documents.groups[document_][name]).find(Boolean);
    const boxes = this.boxed().map((run, i) => (samples[i] === undefined ? el("span", { class: "box" }) : box(this.facets.verdict(samples[i]), runs.length > 1 ? runs[run] : "")));
    const about = [group && words(group), ...answers, `right ${documents.target[document_]}`].filter(Boolean).join(" · ");
    const row = el("a", { class: "it", href: this.address({ open: document_ }), ...(document_ === this.opened && { "aria-current": "true" }) }, el("span", { class: "boxes" }, boxes), el("bdi", { class: "q" }, documents.snippet[document_]), el("bdi", { class: "about" }, about));
    row.style.top = `${place * this.rowHeight}px`;
    return row;
  }

  /** The runs with a box in each row: the compared ones of two, else all, as far as there is room. */
  boxed() {
    const { length } = this.index.runs;
    return length > 2 ? [...this.index.runs.keys()].slice(0, BOXES_SHOWN) : this.runs.shown;
  }

  async drawQuestion() {
    const { detail } = this.place;
    const document_ = this.opened;
    const drawing = (this.drawing = {});
    detail.setAttribute("aria-busy", String(document_ !== null));
    if (document_ === null) return void detail.replaceChildren();
    const { documents, samples, tasks, runs } = this.index;
    const task = tasks[documents.task[document_]];
    const compared = this.runs.shown.filter((run) => this.facets.sampleOf[run].has(document_));
    const has = compared.length ? compared : [this.facets.sampleOf.findIndex((of) => of.has(document_))];
    const only = { a: this.runs.a, b: this.runs.b }[this.view.show];
    const chosen = has.includes(only) ? [only] : has;
    const own = chosen.map((run) => this.facets.sampleOf[run].get(document_));
    const [shared, ...records] = await Promise.all([this.documents.record(document_), ...own.map((sample) => this.records.record(sample))]);
    if (drawing !== this.drawing) return; // overtaken by the next keystroke
    const letterOf = (run) => (this.runs.b === undefined ? "" : { [this.runs.a]: "A", [this.runs.b]: "B" }[run] ?? "");
    const columns = chosen.map((run, i) => ({
      letter: letterOf(run), run: runs[run], record: records[i],
      outcome: this.facets.read("outcome", own[i]), verdict: this.facets.verdict(own[i]), answer: this.facets.answer(own[i]), share: this.facets.read("acc", own[i]),
      limit: task.limits[run], signs: samples.signs[own[i]], marks: this.marks.form(own[i]),
    }));
    const { raw, diff, prompt } = this.toggles;
    const isDifferent = differences(columns) !== null;
    detail.replaceChildren(this.tools(document_, has, chosen, isDifferent), ...this.everyRun(document_, chosen), ...questionNodes(shared, columns, { target: documents.target[document_], task, filter: this.facets.filter, raw, diff: diff && isDifferent, prompt }));
    detail.scrollTop = 0;
    for (const reply of detail.querySelectorAll(".resp")) reply.scrollTop = reply.scrollHeight;
    highlight(detail, (this.view.q ?? "").toLowerCase());
    markRead(detail);
    detail.setAttribute("aria-busy", "false");
  }

  /** The buttons above the question; each says its key. */
  tools(document_, has, chosen, isDifferent) {
    const arrow = (sign_, name) => el("span", {}, el("span", { "aria-hidden": "true" }, sign_), el("span", { class: "unseen" }, name));
    const tool = (text, key, attributes = {}) => button([text, " ", el("kbd", {}, key)], () => this.act(key), { class: "btn", ...attributes });
    const pressed = (is) => ({ "aria-pressed": String(is) });
    const views = [["A and B", "s", chosen.length > 1], ["Only A", "a", chosen.length === 1 && chosen[0] === this.runs.a], ["Only B", "b", chosen.length === 1 && chosen[0] === this.runs.b]];
    const place = this.shown.indexOf(document_);
    return el(
      "div",
      { class: "tools", role: "group", "aria-label": "Views" },
      button("‹ List", () => this.close(), { class: "btn back" }),
      tool(arrow("↑", "Previous"), "k"),
      tool(arrow("↓", "Next"), "j"),
      has.length > 1 && views.map(([text, key, is]) => tool(text, key, pressed(is))),
      tool("Prompt", "p", pressed(this.toggles.prompt)),
      tool("Raw", "r", pressed(this.toggles.raw)),
      isDifferent && tool("Differences", "d", pressed(this.toggles.diff)),
      el("span", { class: "where" }, `${place < 0 ? "not in the list" : `${grouped(place + 1)} of ${grouped(this.shown.length)}`} · ${this.index.tasks[this.index.documents.task[document_]].label} ${this.index.documents.id[document_]}`),
    );
  }

  /** Of more than two runs, each with its box; a link shows its reply beside A's. */
  everyRun(document_, chosen) {
    const { runs } = this.index;
    if (runs.length < 3) return [];
    const links = [...runs.keys()].filter((run) => this.facets.sampleOf[run].has(document_)).map((run) => el("a", { href: this.address({ a: this.runs.a, b: run === this.runs.a ? "" : run, open: document_, show: "" }), ...(chosen.includes(run) && { "aria-current": "true" }) }, box(this.facets.verdict(this.facets.sampleOf[run].get(document_))), el("bdi", {}, runs[run])));
    return [el("nav", { class: "runs", "aria-label": "Runs" }, links)];
  }

  // ---- search and saving

  /** Search questions, replies and answers. */
  async runSearch() {
    const query = (this.view.q ?? "").toLowerCase();
    this.searched = this.view.q ?? "";
    const hits = query ? new Uint8Array(this.index.documents.id.length) : null;
    this.facets.hits = hits;
    const isOvertaken = () => this.facets.hits !== hits;
    this.searching = Boolean(query);
    this.place.browse.setAttribute("aria-busy", String(this.searching));
    if (query) {
      this.draw();
      await this.documents.search(query, (document_) => (hits[document_] = 1), isOvertaken);
      await this.records.search(query, (sample) => (hits[this.index.samples.document[sample]] = 1), isOvertaken);
      if (isOvertaken()) return;
    }
    this.searching = false;
    this.place.browse.setAttribute("aria-busy", "false");
    this.draw();
  }

  /** Save the listed questions as CSV, a line for each run's reply. */
  save() {
    const rows = this.shown.flatMap((document_) => this.facets.sampleOf.flatMap((of) => of.get(document_) ?? [])).map((sample) => this.fields(sample));
    const heads = [...new Set(rows.flatMap(Object.keys))];
    download("samples.csv", csv([heads, ...rows.map((row) => heads.map((name) => row[name]))]));
  }

  /** What the list knows of a sample, by name. */
  fields(sample) {
    const { samples, documents, tasks, runs } = this.index;
    const document_ = samples.document[sample];
    const of = (name) => this.facets.read(name, sample);
    return {
      task: tasks[documents.task[document_]].name, id: documents.id[document_], run: runs[samples.run[sample]], filter: this.facets.rule(sample),
      right: of("acc"), outcome: of("outcome"), answer: of("answer"), target: documents.target[document_], found_by: of("found_by"),
      marked: samples.signs[sample].join("; "), ...documents.groups[document_],
      length: samples.length[sample], certainty: samples.certainty[sample], question: documents.snippet[document_],
    };
  }

  // ---- input

  listen() {
    const { list, detail } = this.place;
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.replace({ q: this.search.value.trim(), open: "" }), 250);
    });
    this.order.addEventListener("change", () => this.replace({ order: this.order.value, open: "" }));
    list.addEventListener("scroll", () => requestAnimationFrame(() => this.drawList()));
    list.addEventListener("click", () => (this.cameFromList = true));
    detail.addEventListener("toggle", ({ target }) => (fillFold(target), markRead(detail)), true);
    new ResizeObserver(() => this.drawList()).observe(list);
    window.addEventListener("hashchange", () => this.readAddress());
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("change", ({ target }) => {
      if (!(target instanceof HTMLInputElement && target.name === "filter")) return;
      this.facets.followSwitch();
      if (window.location.hash.startsWith(PLACE)) this.replace({});
      else this.draw();
    });
    this.marks.changed = (isRead) => (isRead ? this.draw() : this.drawChoices());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== "radio";
    if (event.key === "Escape") {
      if (isTyping) target.blur();
      else if (this.place.browse.hasAttribute("data-open")) this.close();
    } else if (!isTyping && this.isInView() && this.act(event.key)) event.preventDefault();
  }

  /** Keys act on the samples while they, and nothing else, are being read. */
  isInView() {
    const { top, bottom } = this.place.browse.getBoundingClientRect();
    return top < window.innerHeight / 2 && bottom > window.innerHeight / 2;
  }

  /** Do what a key stands for; false if it stands for nothing. */
  act(key) {
    const toggles = { r: "raw", d: "diff", p: "prompt" };
    const { detail } = this.place;
    if (key === "j" || key === "k") this.step(key === "j" ? 1 : -1);
    else if (key === "/") this.place.facets.setAttribute("open", ""), this.search.focus();
    else if (key === "s") this.replace({ show: "" });
    else if (key === "a" || key === "b") this.replace({ show: this.view.show === key ? "" : key });
    else if (key in toggles) (this.toggles[toggles[key]] = !this.toggles[toggles[key]]), this.drawQuestion();
    else if ("123".includes(key)) [...detail.querySelectorAll(".marks")].at(-1)?.querySelectorAll("button")[Number(key) - 1]?.click();
    else if (key === "n") [...detail.querySelectorAll('.marks [name="note"]')].at(-1)?.focus();
    else if (key === "u") this.step(1, (document_) => !this.runs.shown.some((run) => this.facets.sampleOf[run].has(document_) && this.marks.has(this.facets.sampleOf[run].get(document_))));
    else if (key === "?") this.place.keys.open = !this.place.keys.open;
    else return false;
    return true;
  }

  /** Open the next listed question that passes. */
  step(by, passes = (_document) => true) {
    const at = this.shown.indexOf(this.opened);
    for (let place = at + by; place >= 0 && place < this.shown.length; place += by) if (passes(this.shown[place])) return this.replace({ open: this.shown[place] });
    return undefined;
  }

  scrollTo(place) {
    const { list } = this.place;
    const top = place * this.rowHeight;
    if (top < list.scrollTop) list.scrollTop = Math.max(0, top);
    if (top + this.rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + this.rowHeight - list.clientHeight;
  }

  close() {
    if (this.cameFromList) history.back();
    else this.replace({ open: undefined });
    this.cameFromList = false;
  }
}

async function startSamples() {
  const [packed] = packedElements("index");
  const status = document.getElementById("unpacking");
  if (!packed) return;
  if (!window.DecompressionStream) return void (status.textContent = "This browser is too old to unpack the samples; use one from 2023 or later.");
  new SampleBrowser(JSON.parse(await unpack(packed.textContent)));
  status.remove();
  document.getElementById("samples").dataset.ready = "true";
}

queueMicrotask(startSamples); // once all files of the script have run
