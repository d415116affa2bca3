"use strict";

/* The browser of samples: filters, the list, and the sample that is open. The address after # holds all of its state. */

const ROW_HEIGHT = 56; // pixels, as in report.css
const RESULTS = {
  "": "any result",
  right: "right",
  wrong: "wrong or unanswered",
  unanswered: "no answer found",
  format: "lost to format: right under flexible-extract only",
  disagree: "runs disagree",
};

class SampleBrowser {
  constructor(index) {
    this.index = index;
    this.documents = new Store("documents", index.starts.documents);
    this.records = new Store("samples", index.starts.samples);
    this.size = index.samples.run.length;
    this.state = { task: "", result: "", run: "", found: "", q: "" }; // and one entry per facet in use
    this.shown = [];
    this.open = null; // number of the sample that is open
    this.hits = null; // per sample, whether the text searched for occurs; null without a search
    this.search = 0; // counts searches, so that an overtaken one stops
    this.list = document.getElementById("list");
    this.detail = document.getElementById("detail");
    this.form = document.getElementById("filters");
    this.spacer = el("div", { role: "presentation" });
    this.list.append(this.spacer);
    this.buildFilters();
    this.listen();
    this.readAddress();
  }

  // ---- filters

  get filter() {
    const chosen = document.documentElement.dataset.filter;
    return this.index.filters.includes(chosen) ? chosen : this.index.filters[0];
  }

  buildFilters() {
    const { tasks, runs, found_by } = this.index;
    this.addSelect("task", "Task", [["", "all tasks"], ...tasks.map((task) => [task.name, task.name])]);
    this.addSelect("result", "Result", Object.entries(RESULTS).filter(([key]) => this.offers(key)));
    if (runs.length > 1) this.addSelect("run", "Run", [["", "all runs"], ...runs.map((run) => [run, run])]);
    this.addSelect("found", "Answer found by", [["", "any way"], ...found_by.map((way) => [way, words(way)])]);
    for (const [name, facet] of Object.entries(this.index.facets)) {
      this.addSelect(name, facet.label, [["", "all"], ...facet.values.map((value) => [value, words(value)])]);
    }
  }

  offers(result) {
    if (result === "disagree") return this.index.runs.length > 1;
    return result !== "format" || this.index.filters.includes("strict-match");
  }

  addSelect(name, label, options) {
    const select = el("select", { name }, options.map(([value, text]) => el("option", { value }, text)));
    this.form.insertBefore(el("label", { "data-facet": name }, label, select), this.form.querySelector(".search"));
    this.state[name] = "";
  }

  /** What the index says of a sample under the filter chosen in the page, or under one that its task has. */
  at(name, sample) {
    const byFilter = this.index.samples[name];
    const chosen = byFilter[this.filter][sample];
    if (chosen !== null) return chosen;
    for (const filter of this.index.filters) if (byFilter[filter][sample] !== null) return byFilter[filter][sample];
    return null;
  }

  verdict(sample, filter) {
    const { acc, unanswered } = this.index.samples;
    const value = filter ? acc[filter][sample] : this.at("acc", sample);
    if (value === null) return "unscored";
    if (value === 1) return "right";
    if (value > 0) return "partly";
    return (filter ? unanswered[filter][sample] : this.at("unanswered", sample)) ? "none" : "wrong";
  }

  passesResult(sample) {
    const { result } = this.state;
    const { samples } = this.index;
    if (!result) return true;
    const right = this.at("acc", sample);
    if (result === "right") return right === 1;
    if (result === "wrong") return right !== null && right < 1;
    if (result === "unanswered") return this.at("unanswered", sample) === 1;
    if (result === "format") return samples.acc["flexible-extract"][sample] > (samples.acc["strict-match"][sample] ?? 1);
    return this.disagreeing.has(samples.document[sample]);
  }

  /** Documents that some runs have right and others do not. */
  findDisagreeing() {
    const first = new Map();
    this.disagreeing = new Set();
    this.index.samples.document.forEach((document_, sample) => {
      const right = this.at("acc", sample) === 1;
      if (!first.has(document_)) first.set(document_, right);
      else if (first.get(document_) !== right) this.disagreeing.add(document_);
    });
  }

  apply() {
    const { index, state } = this;
    const task = index.tasks.findIndex(({ name }) => name === state.task);
    const facets = task < 0 ? [] : index.tasks[task].facets;
    for (const name of Object.keys(index.facets)) {
      this.form.querySelector(`[data-facet="${name}"]`).hidden = !facets.includes(name);
    }
    const run = index.runs.indexOf(state.run);
    const found = index.found_by.indexOf(state.found);
    const wanted = facets
      .filter((name) => state[name])
      .map((name) => [index.documents[name], index.facets[name].values.indexOf(state[name])]);
    if (state.result === "disagree") this.findDisagreeing();
    this.shown = [];
    for (let sample = 0; sample < this.size; sample++) {
      const document_ = index.samples.document[sample];
      if (task >= 0 && index.documents.task[document_] !== task) continue;
      if (run >= 0 && index.samples.run[sample] !== run) continue;
      if (found >= 0 && this.at("found_by", sample) !== found) continue;
      if (!wanted.every(([codes, code]) => codes[document_] === code)) continue;
      if (this.hits && !this.hits[sample]) continue;
      if (this.passesResult(sample)) this.shown.push(sample);
    }
    this.spacer.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    this.draw();
    this.count();
  }

  count(searched = 1) {
    const progress = searched < 1 ? ` – searching, ${Math.floor(100 * searched)} %` : "";
    document.getElementById("count").textContent = `${grouped(this.shown.length)} of ${grouped(this.size)} samples${progress}`;
  }

  /** Look for the text in prompts, responses and answers, chunk after chunk; matches show as they are found. */
  async runSearch() {
    const query = this.state.q.toLowerCase();
    const own = ++this.search;
    const overtaken = () => own !== this.search;
    this.hits = query ? new Uint8Array(this.size) : null;
    if (query) {
      const { document: documentOf } = this.index.samples;
      const inDocument = new Uint8Array(this.index.documents.task.length);
      await this.documents.forEach((number, record) => {
        if (contains(record, query)) inDocument[number] = 1;
      }, overtaken);
      if (overtaken()) return;
      documentOf.forEach((document_, sample) => (this.hits[sample] = inDocument[document_]));
      let shownAt = 0;
      await this.records.forEach((number, record) => {
        if (!this.hits[number] && contains(record, query)) this.hits[number] = 1;
        if (performance.now() - shownAt > 300) {
          this.apply();
          this.count(number / this.size);
          shownAt = performance.now();
        }
      }, overtaken);
    }
    if (!overtaken()) this.apply();
  }

  // ---- the list

  draw() {
    const top = this.list.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4);
    const last = Math.min(this.shown.length, Math.ceil((top + this.list.clientHeight) / ROW_HEIGHT) + 4);
    const rows = [];
    for (let place = first; place < last; place++) rows.push(this.row(place));
    this.spacer.replaceChildren(...rows);
    const selected = this.spacer.querySelector('[aria-selected="true"]');
    if (selected) this.list.setAttribute("aria-activedescendant", selected.id);
    else this.list.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const sample = this.shown[place];
    const { samples, documents, tasks, runs } = this.index;
    const document_ = samples.document[sample];
    const verdict = this.verdict(sample);
    const answer = this.at("answer", sample) ?? "–";
    const parts = [verdict === "right" ? answer : `${answer} (right: ${documents.target[document_]})`];
    if (runs.length > 1) parts.push(runs[samples.run[sample]]);
    parts.push(`${tasks[documents.task[document_]].name} ${documents.id[document_]}`);
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
      el("bdi", { class: "snippet" }, documents.snippet[document_]),
      el("bdi", { class: "about" }, parts.join(" · ")),
    );
    row.style.top = `${place * ROW_HEIGHT}px`;
    return row;
  }

  // ---- the sample that is open

  /** Open a sample; on a phone it covers the list if the user asked for it. */
  async show(sample, asked) {
    this.open = sample;
    this.draw();
    this.writeAddress();
    const { samples, documents, runs, facets, tasks } = this.index;
    const document_ = samples.document[sample];
    const [shared, own] = await Promise.all([this.documents.record(document_), this.records.record(sample)]);
    if (this.open !== sample) return; // overtaken by the next keystroke
    const task = tasks[documents.task[document_]];
    const groups = task.facets.filter((name) => documents[name][document_] >= 0);
    const nodes = sampleNodes(shared, own, {
      target: documents.target[document_],
      facets: Object.fromEntries(groups.map((name) => [facets[name].label, words(facets[name].values[documents[name][document_]])])),
      verdictOf: (filter) => this.verdict(sample, filter),
      filter: this.filter,
    });
    this.detail.replaceChildren(
      el("h3", { tabindex: "-1" }, mark(this.verdict(sample)), " ", el("bdi", {}, `${task.name} ${documents.id[document_]}`), runs.length > 1 ? el("bdi", {}, ` · ${runs[samples.run[sample]]}`) : ""),
      el("div", { class: "buttons" }, this.buttons(sample)),
      ...nodes,
    );
    this.detail.scrollTop = 0;
    if (asked) {
      this.detail.classList.add("open");
      if (this.covers) this.detail.querySelector("h3").focus();
    }
    highlight(this.detail, this.state.q.toLowerCase());
  }

  /** Whether the open sample covers the list, as on a phone. */
  get covers() {
    return getComputedStyle(this.detail).position === "fixed";
  }

  buttons(sample) {
    const { samples, runs } = this.index;
    const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);
    const buttons = [
      button("Close", () => this.close(), { class: "close" }),
      button("Previous", () => this.step(-1)),
      button("Next", () => this.step(1)),
    ];
    const document_ = samples.document[sample];
    for (let other = samples.document.indexOf(document_); samples.document[other] === document_; other++) {
      if (runs.length < 2) break;
      const name = el("button", { type: "button", onclick: () => this.show(other, true) }, mark(this.verdict(other)), " ", el("bdi", {}, runs[samples.run[other]]));
      if (other === sample) name.setAttribute("aria-current", "true");
      buttons.push(name);
    }
    return buttons;
  }

  close() {
    this.detail.classList.remove("open");
    this.list.focus();
  }

  step(by) {
    if (!this.shown.length) return;
    const place = this.shown.indexOf(this.open);
    const next = place < 0 ? 0 : Math.min(this.shown.length - 1, Math.max(0, place + by));
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
    this.form.elements.q.addEventListener("input", ({ target }) => {
      clearTimeout(timer);
      timer = setTimeout(() => this.set({ q: target.value.trim() }), 250);
    });
    this.list.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    this.list.addEventListener("focus", () => {
      if (this.open === null && this.list.matches(":focus-visible")) this.step(1);
    });
    this.list.addEventListener("click", ({ clientY }) => {
      const place = Math.floor((clientY - this.spacer.getBoundingClientRect().top) / ROW_HEIGHT);
      if (place in this.shown) this.show(this.shown[place], true);
    });
    new ResizeObserver(() => this.draw()).observe(this.list);
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.readAddress());
    document.addEventListener("filterchange", () => {
      this.apply();
      if (this.open !== null) this.show(this.open);
    });
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
      if (!listed) document.getElementById("list").scrollIntoView({ block: "nearest" });
      this.step(moves[event.key]);
    } else if (event.key === "Enter" && listed && this.open !== null) {
      event.preventDefault();
      this.show(this.open, true);
      this.detail.focus();
    }
  }

  set(changes) {
    const searches = "q" in changes && changes.q !== this.state.q;
    Object.assign(this.state, changes);
    if ("task" in changes) this.dropForeignFacets();
    this.list.scrollTop = 0;
    if (searches) this.runSearch();
    else this.apply();
    this.writeAddress();
  }

  dropForeignFacets() {
    const task = this.index.tasks.find(({ name }) => name === this.state.task);
    for (const name of Object.keys(this.index.facets)) {
      if (task?.facets.includes(name)) continue;
      this.state[name] = "";
      this.form.elements[name].value = "";
    }
  }

  // ---- the address: #samples&task=…&result=…&open=NUMBER

  writeAddress() {
    const parameters = new URLSearchParams(Object.entries(this.state).filter(([, value]) => value));
    if (this.open !== null) parameters.set("open", this.open);
    const text = parameters.toString();
    this.address = `#samples${text && "&"}${text}`;
    history.replaceState(null, "", this.address);
  }

  readAddress() {
    const { hash } = window.location;
    if (!hash.startsWith("#samples")) return this.apply();
    if (hash === this.address) return undefined;
    const parameters = new URLSearchParams(hash.slice(1));
    for (const name of Object.keys(this.state)) {
      const value = parameters.get(name) ?? "";
      const control = this.form.elements[name];
      if (!control) continue;
      control.value = value;
      this.state[name] = control.value === value ? value : "";
    }
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

/** Whether a text occurs in any string of a JSON value, in any case. */
function contains(value, query) {
  if (typeof value === "string") return value.toLowerCase().includes(query);
  return typeof value === "object" && value !== null && Object.values(value).some((item) => contains(item, query));
}
