"use strict";

/* The selection of samples by the filters. */

const RESULTS = {
  "": "any result",
  right: "right",
  wrong: "wrong or unanswered",
  never: "never right",
  unanswered: "no answer found",
  format: "lost to format: right under flexible-extract only",
  disagree: "runs disagree",
  "all-wrong": "all runs wrong",
  "alone-right": "only this run right",
};
const CERTAINTIES = { "0-0.5": "below 0.5", "0.5-0.8": "0.5 to 0.8", "0.8-1": "0.8 to 1", "1-": "1" }; // from, and below what
const ONCE = "*"; // instead of a run: each example once, by its first sample that matches
const PAIRED = ["only-a", "only-b", "same-wrong"]; // results of two runs together

function isWithin(value, least, below) {
  return value !== null && value !== undefined && value >= least && value < below;
}

class Selection {
  /** @param index as packed; @param state of the filters, by name */
  constructor(index, state, choice) {
    this.choice = choice;
    this.index = index;
    this.state = state;
    this.marks = new PersonMarks(index);
    this.hits = null; // per sample, whether the text searched for occurs; null without a search
    this.byDocument = []; // numbers of a document's samples
    index.samples.document.forEach((document_, sample) => (this.byDocument[document_] ??= []).push(sample));
  }

  get filter() {
    const chosen = this.choice.filter;
    return this.index.filters.includes(chosen) ? chosen : this.index.filters[0];
  }

  /** The two compared runs: as chosen, or else the page's baseline and the first other run. */
  get pair() {
    const { runs } = this.index;
    const number = (name) => runs.indexOf(name);
    const a = Math.max(0, number(this.state.a) >= 0 ? number(this.state.a) : this.choice.baseline);
    const b = number(this.state.b) >= 0 && number(this.state.b) !== a ? number(this.state.b) : a === 0 ? 1 : 0;
    return [a, b];
  }

  get isPaired() {
    return PAIRED.includes(this.state.result);
  }

  /** One thing that a filter made of a sample, null where it is not known; without a filter, the one chosen in the page,
   *  or one that its task has. */
  at(name, sample, filter) {
    const { read } = this.index.samples;
    const used = filter ?? [this.filter, ...this.index.filters].find((each) => read[each].answer[sample] !== null);
    return read[used]?.[name][sample] ?? null;
  }

  verdict(sample, filter) {
    const right = this.at("acc", sample, filter);
    if (right === null) return "unscored";
    if (right === 1) return "right";
    if (right > 0) return "partly";
    return this.at("unanswered", sample, filter) ? "none" : "wrong";
  }

  /** Return a document's samples in the two compared runs, or in all runs. */
  together(document_) {
    const all = this.byDocument[document_];
    return this.isPaired ? this.pair.map((run) => this.of(document_, run)).filter((sample) => sample !== undefined) : all;
  }

  of(document_, run) {
    return this.byDocument[document_].find((sample) => this.index.samples.run[sample] === run);
  }

  /** Return the numbers of the matching samples, in order; for two compared runs, one sample per example. */
  passing() {
    const { index, state } = this;
    const task = index.tasks.findIndex(({ name }) => name === state.task);
    const facets = (index.tasks[task]?.facets ?? []).filter((name) => state[name]);
    const run = this.isPaired ? -1 : index.runs.indexOf(state.run);
    const [least, below] = state.certainty.split("-").map((end) => Number(end || Infinity));
    const passes = (sample) => {
      const document_ = index.samples.document[sample];
      if (task >= 0 && index.documents.task[document_] !== task) return false;
      if (run >= 0 && index.samples.run[sample] !== run) return false;
      if (state.found && this.at("found_by", sample) !== state.found) return false;
      if (state.badge && !(state.badge === PERSON ? this.marks.has(sample) : index.samples.badges[sample].includes(state.badge))) return false;
      if (state.certainty && !isWithin(index.samples.columns.certainty[sample], least, below)) return false;
      if (!facets.every((name) => index.documents[name][document_] === state[name])) return false;
      return (!this.hits || this.hits[sample] === 1) && (this.isPaired || this.passesResult(sample));
    };
    const candidates = this.isPaired ? this.pairedSamples() : index.samples.run.keys();
    const passing = this.sorted([...candidates].filter(passes));
    if (state.run !== ONCE) return passing;
    const seen = new Set();
    const isFirst = (document_) => !seen.has(document_) && seen.add(document_);
    return passing.filter((sample) => isFirst(index.samples.document[sample]));
  }

  /** Return the columns of numbers by which samples can be sorted, as named in the address. */
  get columns() {
    return Object.keys(this.index.samples.columns).filter((name) => this.state.columns.split(" ").includes(name));
  }

  /** Return the mean accuracy of the runs on a sample's example; 2 if it is not scored. */
  share(sample) {
    const scores = this.byDocument[this.index.samples.document[sample]].map((other) => this.at("acc", other)).filter((score) => score !== null);
    return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : 2;
  }

  /** Sort by the column in the address, descending with a minus before it; samples without a number come last. */
  sorted(samples) {
    if (this.state.sort === "failures") return samples.sort((a, b) => this.share(a) - this.share(b) || a - b);
    const numbers = this.index.samples.columns[this.state.sort.replace("-", "")];
    if (!numbers) return samples;
    const sign = this.state.sort.startsWith("-") ? -1 : 1;
    return samples.sort((a, b) => (numbers[a] === null) - (numbers[b] === null) || sign * (numbers[a] - numbers[b]) || a - b);
  }

  /** Return the fields of a sample in the list, as plain values by name. */
  row(sample) {
    const { samples, documents, tasks, runs } = this.index;
    const document_ = samples.document[sample];
    const task = tasks[documents.task[document_]];
    const own = task.facets.filter((name) => documents[name][document_] !== null);
    return {
      task: task.name,
      id: documents.id[document_],
      run: runs[samples.run[sample]],
      filter: this.filter,
      right: this.at("acc", sample),
      answer: this.at("answer", sample),
      target: documents.target[document_],
      found_by: this.at("found_by", sample),
      marked: samples.badges[sample].join("; "),
      ...Object.fromEntries(own.map((name) => [name, documents[name][document_]])),
      ...Object.fromEntries(Object.entries(samples.columns).map(([name, numbers]) => [name, numbers[sample]])),
      question: documents.snippet[document_],
    };
  }

  passesResult(sample) {
    const { result } = this.state;
    if (!result) return true;
    const right = this.at("acc", sample);
    if (result === "right") return right === 1;
    if (result === "wrong") return right !== null && right < 1;
    if (result === "never") return right === 0;
    if (result === "unanswered") return this.at("unanswered", sample) === true;
    if (result === "format") return this.at("acc", sample, "flexible-extract") > (this.at("acc", sample, "strict-match") ?? 1);
    const runs = this.byDocument[this.index.samples.document[sample]];
    const rightRuns = runs.filter((other) => this.at("acc", other) === 1).length;
    if (result === "all-wrong") return rightRuns === 0;
    if (result === "alone-right") return rightRuns === 1 && right === 1 && runs.length > 1;
    return rightRuns > 0 && rightRuns < runs.length;
  }

  /** Yield the samples of examples with this result in two runs: of the run that is right, or else of the first run. */
  *pairedSamples() {
    const { result } = this.state;
    const [a, b] = this.pair;
    for (const document_ of this.byDocument.keys()) {
      const [first, second] = [this.of(document_, a), this.of(document_, b)];
      if (first === undefined || second === undefined) continue;
      if (this.at("acc", first) === null || this.at("acc", second) === null) continue;
      const right = [first, second].map((sample) => this.at("acc", sample) > 0.5);
      const same = this.at("answer", first) === this.at("answer", second) && !this.at("unanswered", first);
      if (result === "same-wrong" && !right[0] && !right[1] && same) yield first;
      if (result === "only-a" && right[0] && !right[1]) yield first;
      if (result === "only-b" && !right[0] && right[1]) yield second;
    }
  }
}
