"use strict";

/* What the whole page shows: the filter, the runs that are drawn, the baseline, the benchmark that is open. The address
   after # holds it, behind the place and what the browser of samples shows: #samples&task=…&filter=… */

const DRAWN = 8; // maximum number of runs that colours and shapes distinguish

class Choice extends EventTarget {
  constructor({ runs, filters, topics }) {
    super();
    this.runs = runs;
    this.topics = topics.map(({ id }) => id);
    this.filters = filters;
    this.choices = [...document.querySelectorAll("[name=filter]")].map(({ value }) => value); // the filters that readers choose from
    this.entries = [];
    this.place = "";
    this.initial = { filter: filters[0], baseline: 0, drawn: [...runs.keys()].slice(0, DRAWN), topic: this.topics[0] };
    Object.assign(this, this.initial);
    this.numbered();
    this.read();
    window.addEventListener("hashchange", () => this.read());
  }

  /** Assign colours to the drawn runs: a run's own colour by its position if it has one, else a free colour. */
  numbered() {
    const free = [...Array(DRAWN).keys()].filter((place) => !this.drawn.includes(place));
    this.numbers = new Map(this.drawn.map((run) => [run, 1 + (run < DRAWN ? run : free.shift())]));
    document.documentElement.dataset.filter = this.filter;
  }

  set(changes) {
    Object.assign(this, changes);
    if (!this.drawn.includes(this.baseline)) this.baseline = this.drawn[0] ?? 0;
    this.numbered();
    this.write();
    this.dispatchEvent(new Event("change"));
  }

  /** Toggle whether a run is drawn; if there are too many, the run chosen last is removed. */
  toggle(run) {
    const others = this.drawn.filter((other) => other !== run);
    const drawn = others.length < this.drawn.length ? others : [...others.slice(0, DRAWN - 1), run];
    this.set({ drawn: drawn.sort((a, b) => a - b) });
  }

  write(place = this.place, entries = this.entries) {
    Object.assign(this, { place, entries });
    const { initial } = this;
    const own = { filter: this.filter, baseline: this.runs[this.baseline], drawn: this.drawn.join(" ") };
    const usual = { filter: initial.filter, baseline: this.runs[this.drawn[0]], drawn: initial.drawn.join(" ") };
    const changed = Object.entries(own).filter(([name, value]) => value !== usual[name]);
    const text = new URLSearchParams([...entries, ...changed]).toString();
    this.address = `#${place}${text && "&"}${text}`;
    history.replaceState(null, "", this.address);
  }

  read() {
    const [place, ...rest] = window.location.hash.slice(1).split("&");
    const parameters = new URLSearchParams(rest.join("&"));
    const changes = {};
    const baseline = this.runs.indexOf(parameters.get("baseline"));
    const drawn = (parameters.get("drawn") ?? "").split(" ").filter(Boolean).map(Number).filter((run) => run in this.runs);
    if (this.filters.includes(parameters.get("filter"))) changes.filter = parameters.get("filter");
    if (drawn.length) changes.drawn = drawn.slice(0, DRAWN);
    if (baseline >= 0) changes.baseline = baseline;
    if (this.topics.includes(place)) changes.topic = place;
    if (Object.entries(changes).every(([name, value]) => String(this[name]) === String(value))) return;
    Object.assign(this, changes);
    this.numbered();
    this.dispatchEvent(new Event("change"));
    document.getElementById(place)?.scrollIntoView();
  }
}
