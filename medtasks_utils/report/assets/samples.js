"use strict";

/* The browser of samples: the list, and the open example. The address after # contains its complete state. */

const ROW_HEIGHT = 56; // pixels, as in samples.css
const COLUMNS_FIRST = 2; // runs side by side, until others are chosen

class SampleBrowser {
  constructor(index, choice) {
    this.choice = choice;
    this.index = index;
    this.documents = new Store("documents", index.starts.documents);
    this.records = new Store("samples", index.starts.samples);
    this.size = index.samples.run.length;
    this.state = { task: "", result: "", run: "", found: "", certainty: "", badge: "", a: "", b: "", view: "", beside: "", sort: "", columns: "", q: "" }; // and facets
    this.selection = new Selection(index, this.state, choice);
    this.shown = [];
    this.open = null; // number of the sample that is open
    this.raw = false; // whether responses are shown as they are
    this.diff = false; // whether two responses are shown by their differences
    this.search = 0; // counts searches, so that an overtaken one stops
    this.isSearching = false;
    this.list = document.getElementById("list");
    this.detail = document.getElementById("detail");
    this.form = document.getElementById("filters");
    this.frame = this.list.parentElement;
    this.spacer = el("div", { role: "presentation" });
    this.list.append(this.spacer);
    this.buildFilters();
    this.buildColumns();
    this.form.hidden = false;
    this.listen();
    this.readAddress();
  }

  // ---- filters

  buildFilters() {
    const { tasks, runs, documents, samples } = this.index;
    const distinct = (values) => [...new Set(values)].filter((value) => value !== null).sort();
    const ways = distinct(Object.values(samples.read).flatMap((reading) => reading.found_by));
    const badges = distinct(samples.badges.flat());
    const options = (names, any) => [["", any], ...names.map((name) => [name, words(name)])];
    const ofRuns = (any) => [...(any ? [["", any], [ONCE, "each example once"]] : []), ...runs.map((run) => [run, run])];
    this.addSelect("task", "Task", [["", "all tasks"], ...tasks.map((task) => [task.name, task.name])]);
    this.addSelect("result", "Result", []);
    if (runs.length > 1) this.addSelect("run", "Run", ofRuns("all runs"));
    if (runs.length > 2) for (const [name, label] of [["a", "A"], ["b", "B"]]) this.addSelect(name, label, ofRuns());
    if (ways.length) this.addSelect("found", "Answer found by", options(ways, "any way"));
    if (samples.columns.certainty.some(Number.isFinite)) this.addSelect("certainty", "Certainty", [["", "any"], ...Object.entries(CERTAINTIES)]);
    this.addSelect("badge", "Marked", options([...badges, PERSON], "anything"));
    for (const name of this.index.facets) this.addSelect(name, sentence(name), options(distinct(documents[name]), "all"));
    this.nameResults();
  }

  /** Add the controls for the columns of numbers, the order of the list, and saving the listed samples. */
  buildColumns() {
    const names = Object.keys(this.index.samples.columns);
    const sorts = names.flatMap((name) => [[`-${name}`, `${name}, largest first`], [name, `${name}, smallest first`]]);
    this.addSelect("sort", "Order", [["", "of the data"], ["failures", "failures first"], ...sorts]);
    this.boxes = names.map((name) => el("input", { type: "checkbox", value: name }));
    for (const box of this.boxes) box.addEventListener("change", () => this.set({ columns: this.boxes.filter((b) => b.checked).map((b) => b.value).join(" ") }));
    const shown = el("fieldset", { class: "columns-shown" }, el("legend", {}, "Shown"), this.boxes.map((box) => el("label", {}, box, box.value)));
    this.form.insertBefore(shown, this.form.querySelector(".search"));
    const save = (kind) => button(kind, () => this.save(kind), { class: "csv", title: `Save the listed samples as ${kind}` });
    document.getElementById("count").before(el("p", { class: "save" }, save("CSV"), save("JSONL"), this.selection.marks.buttons()));
    this.selection.marks.changed = () => { if (this.state.badge === PERSON) this.apply(); };
  }

  /** Save the listed samples: CSV has the columns of the list; JSONL also has prompts, rows and responses. */
  async save(kind) {
    const rows = this.shown.map((sample) => this.selection.row(sample));
    if (kind === "CSV") {
      const heads = [...new Set(rows.flatMap(Object.keys))];
      const lines = [heads, ...rows.map((row) => heads.map((name) => row[name] ?? ""))].map((values) => values.map((value) => quoted(String(value))).join(","));
      return download("samples.csv", [`${lines.join("\r\n")}\r\n`]);
    }
    const lines = [];
    for (const [place, sample] of this.shown.entries()) {
      const { document: documentOf } = this.index.samples;
      const [shared, own] = await Promise.all([this.documents.record(documentOf[sample]), this.records.record(sample)]);
      lines.push(`${JSON.stringify({ ...shared, ...own, ...rows[place] })}\n`);
    }
    return download("samples.jsonl", lines, "application/x-ndjson");
  }

  addSelect(name, label, options) {
    const select = el("select", { name }, options.map(([value, text]) => el("option", { value }, text)));
    this.form.insertBefore(el("label", { "data-facet": name }, label, select), this.form.querySelector(".search"));
    this.state[name] = "";
  }

  /** Update the results to choose from, which name the compared runs. */
  nameResults() {
    const { runs, filters } = this.index;
    const several = runs.length > 1;
    const [a, b] = this.selection.pair.map((run) => runs[run]);
    const offered = Object.entries(RESULTS).filter(([key]) => {
      return ["disagree", "all-wrong", "alone-right"].includes(key) ? several : key !== "format" || (filters.includes("strict-match") && filters.includes("flexible-extract"));
    });
    if (several) offered.push(["only-a", `only ${a} right`], ["only-b", `only ${b} right`], ["same-wrong", `${a}, ${b}: same wrong answer`]);
    const select = this.form.elements.result;
    select.replaceChildren(...offered.map(([value, text]) => el("option", { value }, text)));
    select.value = this.state.result;
  }

  /** Show only the controls that apply to the current choice. */
  arrangeFilters() {
    const task = this.index.tasks.find(({ name }) => name === this.state.task);
    for (const name of this.index.facets) this.control(name).hidden = !task?.facets.includes(name);
    const [a, b] = this.selection.pair;
    for (const [name, run] of [["a", a], ["b", b]]) {
      if (!this.form.elements[name]) continue;
      this.control(name).hidden = !this.selection.isPaired;
      this.form.elements[name].value = this.index.runs[run];
    }
    for (const box of this.boxes) box.checked = this.selection.columns.includes(box.value);
    if (this.form.elements.run) this.form.elements.run.disabled = this.selection.isPaired;
    this.nameResults();
  }

  control(name) {
    return this.form.querySelector(`[data-facet="${name}"]`);
  }

  apply() {
    this.arrangeFilters();
    this.shown = this.selection.passing();
    this.spacer.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    this.draw();
    this.count();
  }

  count(searched = 1) {
    const progress = searched < 1 ? ` – searching, ${Math.floor(100 * searched)} %` : "";
    const what = this.selection.isPaired ? "examples" : "samples";
    const all = this.selection.isPaired ? this.selection.byDocument.length : this.size;
    document.getElementById("count").textContent = `${grouped(this.shown.length)} of ${grouped(all)} ${what}${progress}`;
  }

  reset() {
    const cleared = Object.fromEntries(Object.keys(this.state).map((name) => [name, ""]));
    for (const name of Object.keys(cleared)) if (this.form.elements[name]) this.form.elements[name].value = "";
    this.set({ ...cleared, view: this.state.view });
    this.list.focus();
  }

  /** Search prompts, responses and answers for the text, chunk by chunk; matches appear as they are found. */
  async runSearch() {
    const query = this.state.q.toLowerCase();
    const own = ++this.search;
    const overtaken = () => own !== this.search;
    const hits = query ? new Uint8Array(this.size) : null;
    this.selection.hits = hits;
    this.isSearching = Boolean(query);
    if (query) {
      this.apply();
      this.count(0);
      let shownAt = performance.now();
      const progress = (share) => {
        if (performance.now() - shownAt < 300) return;
        this.apply();
        this.count(share);
        shownAt = performance.now();
      };
      const inDocument = (number_) => this.selection.byDocument[number_].forEach((sample) => (hits[sample] = 1));
      await this.documents.search(query, inDocument, overtaken, () => progress(0));
      await this.records.search(query, (sample) => (hits[sample] = 1), overtaken, progress);
    }
    if (overtaken()) return;
    this.isSearching = false;
    this.apply();
  }

  /** Unpack the data to search while the user types. */
  warmUp() {
    for (const store of [this.documents, this.records]) store.search("\n", () => {}, () => false, () => {});
  }

  // ---- the list

  draw() {
    const top = this.list.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4);
    const last = Math.min(this.shown.length, Math.ceil((top + this.list.clientHeight) / ROW_HEIGHT) + 4);
    const rows = [];
    for (let place = first; place < last; place++) rows.push(this.row(place));
    if (!this.shown.length) rows.push(this.emptiness());
    this.spacer.replaceChildren(...rows);
    const selected = this.spacer.querySelector('[aria-selected="true"]');
    if (selected) this.list.setAttribute("aria-activedescendant", selected.id);
    else this.list.removeAttribute("aria-activedescendant");
  }

  emptiness() {
    if (this.isSearching) return el("div", { class: "empty" }, el("p", {}, "Searching …"));
    return el("div", { class: "empty" }, el("p", {}, "No samples match these filters."), button("Reset filters", () => this.reset()));
  }

  row(place) {
    const sample = this.shown[place];
    const { samples, documents, tasks, runs } = this.index;
    const document_ = samples.document[sample];
    const verdict = this.selection.verdict(sample);
    const answer = this.selection.at("answer", sample) ?? "–";
    const parts = [verdict === "right" ? answer : `${answer} (right: ${documents.target[document_]})`];
    if (runs.length > 1 && !this.selection.isPaired) parts.push(runs[samples.run[sample]]);
    parts.push(`${tasks[documents.task[document_]].name} ${documents.id[document_]}`);
    const together = this.selection.byDocument[document_];
    const others = together.length > 1 && together.length <= DRAWN ? together : [];
    const numbers = this.selection.columns.map((name) => `${name} ${number(samples.columns[name][sample] ?? NaN)}`);
    const row = el(
      "div",
      {
        class: "row",
        id: `row-${sample}`,
        role: "option",
        "aria-selected": String(sample === this.open),
        "aria-setsize": this.shown.length,
        "aria-posinset": place + 1,
      },
      mark(verdict),
      others.length > 0 && el("span", { class: "others" }, others.map((other) => mark(this.selection.verdict(other)))),
      el("bdi", { class: "snippet" }, documents.snippet[document_]),
      el("bdi", { class: "about" }, [...numbers, ...parts].join(" · ")),
    );
    row.style.top = `${place * ROW_HEIGHT}px`;
    return row;
  }

  // ---- the example that is open

  /** Open a sample; on a phone, it covers the list if the user opened it. */
  async show(sample, asked) {
    this.open = sample;
    this.draw();
    this.writeAddress();
    const { samples, documents, runs, tasks } = this.index;
    const document_ = samples.document[sample];
    const together = this.selection.together(document_);
    const side = this.state.view === "side" && together.length > 1;
    const columns = side ? this.beside(together) : [sample];
    const [shared, ...own] = await Promise.all([this.documents.record(document_), ...columns.map((number_) => this.records.record(number_))]);
    if (this.open !== sample) return; // overtaken by the next keystroke
    const task = tasks[documents.task[document_]];
    const groups = task.facets.filter((name) => documents[name][document_] !== null);
    const ofSample = (number_, i) => ({
      run: runs[samples.run[number_]],
      record: own[i],
      badges: samples.badges[number_],
      verdict: this.selection.verdict(number_),
      verdictOf: (filter) => this.selection.verdict(number_, filter),
      mark: this.selection.marks.form(number_),
    });
    const nodes = exampleNodes(shared, columns.map(ofSample), {
      target: documents.target[document_],
      facets: Object.fromEntries(groups.map((name) => [sentence(name), words(documents[name][document_])])),
      filter: this.selection.filter,
      raw: this.raw,
      diff: this.diff && columns.length === 2,
    });
    const title = [mark(this.selection.verdict(sample)), " ", el("bdi", {}, `${task.name} ${documents.id[document_]}`)];
    if (runs.length > 1 && !side) title.push(el("bdi", {}, ` · ${runs[samples.run[sample]]}`));
    this.frame.dataset.view = side ? "side" : "";
    this.detail.replaceChildren(el("div", { class: "buttons" }, this.buttons(sample, together, side)), el("h3", { tabindex: "-1" }, side ? title.slice(2) : title), ...nodes);
    this.detail.scrollTop = 0;
    if (asked) {
      if (this.covers && !this.detail.classList.contains("open")) history.pushState(null, "", this.choice.address); // Back closes it
      this.detail.classList.add("open");
      if (this.covers) this.detail.querySelector("h3").focus();
    }
    highlight(this.detail, this.state.q.toLowerCase());
    markRead(this.detail);
  }

  /** Return true if the open sample covers the list, as on a phone. */
  get covers() {
    return getComputedStyle(this.detail).position === "fixed";
  }

  /** Create the buttons of the detail view: first those that every sample has, then one for each run of the example. */
  buttons(sample, together, side) {
    const { samples, runs } = this.index;
    const toggle = (text, pressed, change) => button(text, () => { change(); this.show(this.open, true); }, { "aria-pressed": String(pressed) });
    const buttons = [
      button("Close", () => this.close(), { class: "close" }),
      button("Previous", () => this.step(-1)),
      button("Next", () => this.step(1)),
      toggle("Raw text", this.raw, () => (this.raw = !this.raw)),
    ];
    if (together.length < 2) return buttons;
    buttons.push(toggle("Side by side", side, () => (this.state.view = side ? "" : "side")));
    const columns = side ? this.beside(together) : [];
    if (columns.length === 2) buttons.push(toggle("Differences", this.diff, () => (this.diff = !this.diff)));
    const numbers = (of) => of.map((each) => samples.run[each]).join(" ");
    return [...buttons, ...together.map((other) => {
      const has = columns.includes(other);
      const chosen = has ? columns.filter((each) => each !== other) : together.filter((each) => each === other || columns.includes(each));
      const change = () => (side ? this.set({ beside: numbers(chosen) }) : undefined, this.show(side ? sample : other, true));
      const pressed = side ? { "aria-pressed": String(has) } : {};
      const name = button("", change, { ...pressed, ...(!side && other === sample && { "aria-current": "true" }) });
      name.replaceChildren(mark(this.selection.verdict(other)), " ", el("bdi", {}, runs[samples.run[other]]));
      return name;
    })];
  }

  /** Return an example's samples of the runs in the address; if there are none, the first few. */
  beside(together) {
    const chosen = this.state.beside.split(" ").filter(Boolean).map(Number);
    const found = together.filter((sample) => chosen.includes(this.index.samples.run[sample]));
    return found.length ? found : together.slice(0, COLUMNS_FIRST);
  }

  /** Open the first sample of a document, ignoring the filters. */
  openDocument = (document_) => {
    this.reset();
    this.show(this.selection.byDocument[document_][0], true);
    this.scrollTo(this.shown.indexOf(this.open));
    document.getElementById("samples").scrollIntoView();
  };

  close() {
    if (this.covers && this.detail.classList.contains("open")) history.back();
    this.detail.classList.remove("open");
    this.list.focus();
  }

  /** Go to the next listed sample; if the open one is no longer listed, to the sample at its position. */
  step(by) {
    if (!this.shown.length) return;
    const { document: documentOf } = this.index.samples;
    let place = this.shown.indexOf(this.open);
    if (place < 0 && this.open !== null) {
      const after = this.shown.findIndex((sample) => documentOf[sample] >= documentOf[this.open]);
      place = by < 0 && after < 0 ? this.shown.length : after - (by > 0 && after >= 0 ? 1 : 0); // past the end: start again
    }
    const next = place < 0 && this.open === null ? 0 : Math.min(this.shown.length - 1, Math.max(0, place + by));
    this.scrollTo(next);
    this.show(this.shown[next], this.detail.classList.contains("open"));
  }

  scrollTo(place) {
    const top = place * ROW_HEIGHT;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    const bottom = top + ROW_HEIGHT - this.list.clientHeight;
    if (bottom > this.list.scrollTop) this.list.scrollTop = bottom;
  }

  // ---- input

  listen() {
    let timer;
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", ({ target }) => {
      if (target.name !== "q") this.set({ [target.name]: target.value });
    });
    this.form.elements.q.addEventListener("focus", () => this.warmUp(), { once: true });
    this.form.elements.q.addEventListener("input", ({ target }) => {
      clearTimeout(timer);
      timer = setTimeout(() => this.set({ q: target.value.trim() }), 250);
    });
    this.list.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    this.list.addEventListener("focus", () => {
      if (this.open === null && this.list.matches(":focus-visible")) this.step(1);
    });
    this.list.addEventListener("click", ({ target, clientY }) => {
      const place = Math.floor((clientY - this.spacer.getBoundingClientRect().top) / ROW_HEIGHT);
      if (!target.closest("button") && place in this.shown) this.show(this.shown[place], true);
    });
    this.detail.addEventListener("toggle", () => markRead(this.detail), true);
    new ResizeObserver(() => this.draw()).observe(this.list);
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.readAddress());
    this.choice.addEventListener("change", () => this.refresh());
    window.addEventListener("popstate", () => this.detail.classList.remove("open"));
  }

  refresh() {
    this.apply();
    if (this.open !== null) this.show(this.open);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    const listed = event.target === this.list;
    const moves = { j: 1, k: -1, ...(listed && { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -this.size, End: this.size }) };
    if (event.key === "Escape") {
      if (this.covers && this.detail.classList.contains("open")) this.close();
      else if (event.target.name === "q") this.form.elements.q.blur();
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      this.form.elements.q.focus();
      this.form.scrollIntoView({ block: "nearest" });
    } else if (event.key in moves) {
      event.preventDefault();
      this.comeIntoView();
      this.step(moves[event.key]);
    } else if (event.key === "Enter" && listed && this.open !== null) {
      event.preventDefault();
      this.show(this.open, true);
      this.detail.focus();
    }
  }

  /** Scroll the page only if no part of the browser is visible. */
  comeIntoView() {
    const { top, bottom } = this.frame.getBoundingClientRect();
    if (top > window.innerHeight - 2 * ROW_HEIGHT || bottom < 2 * ROW_HEIGHT) this.frame.scrollIntoView({ block: "nearest" });
  }

  set(changes) {
    if (Object.entries(changes).every(([name, value]) => this.state[name] === value)) return;
    const searches = "q" in changes && changes.q !== this.state.q;
    const wasPaired = this.selection.isPaired;
    Object.assign(this.state, changes);
    if (this.selection.isPaired && !wasPaired) this.state.view = "side";
    if ("task" in changes) this.dropForeignFacets();
    this.list.scrollTop = 0;
    if (searches) this.runSearch();
    else this.apply();
    this.writeAddress();
  }

  dropForeignFacets() {
    const task = this.index.tasks.find(({ name }) => name === this.state.task);
    for (const name of this.index.facets) {
      if (task?.facets.includes(name)) continue;
      this.state[name] = "";
      this.form.elements[name].value = "";
    }
  }

  // ---- the address: #samples&task=…&result=…&open=NUMBER

  writeAddress() {
    const entries = Object.entries(this.state).filter(([, value]) => value);
    this.choice.write("samples", this.open === null ? entries : [...entries, ["open", this.open]]);
  }

  readAddress() {
    const { hash } = window.location;
    if (!hash.startsWith("#samples")) return this.apply();
    if (hash === this.choice.address) return undefined;
    const parameters = new URLSearchParams(hash.slice(1));
    for (const name of Object.keys(this.state)) {
      const value = parameters.get(name) ?? "";
      const control = this.form.elements[name];
      if (control) control.value = value;
      this.state[name] = name === "view" ? (value === "side" ? value : "") : control?.value === value ? value : "";
    }
    if (this.selection.isPaired && !parameters.has("open")) this.state.view = "side";
    for (const name of ["columns", "beside"]) this.state[name] = parameters.get(name) ?? "";
    this.arrangeFilters();
    this.dropForeignFacets();
    this.runSearch();
    document.getElementById("samples").scrollIntoView();
    const open = Number(parameters.get("open") ?? NaN);
    if (Number.isInteger(open) && open >= 0 && open < this.size) {
      this.show(open, true);
      const place = this.shown.indexOf(open);
      if (place >= 0) this.scrollTo(place);
    }
    return undefined;
  }
}
