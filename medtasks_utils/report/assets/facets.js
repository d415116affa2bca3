/* Which questions a view has, and how many each facet would leave. A view is the address: texts by name, such as
   {task, a, b, which, among, lost, distrust, found, sign, q, order, open, show}, and the group of each breakdown. */

const PAIRED = { only_b: "only B right", only_a: "only A right", both_wrong: "both wrong", same_wrong: "same wrong answer", both_right: "both right" };
const LOST = { wrong: "wrong answer", unsure: "says it is unsure", unanswered: "no answer", none: "no answer, not cut off", cut: "cut off, no answer", form: "wrong form" };
const DISTRUST = { doubted: "label doubted", uncertain: "reading uncertain", audit: "audit reads otherwise", marked: "marked by you" };
const ORDERS = { "": "data", hard: "fewest right first", longest: "longest reply first", shortest: "shortest reply first", unsure: "least certain first" };
const LENIENT = "flexible-extract";

class Facets {
  /** @param index as report/packed_samples.py packs it; @param marks of a person */
  constructor(index, marks) {
    this.index = index;
    this.marks = marks;
    this.followSwitch();
    this.hits = null; // per document, whether the text searched for occurs; null without a search
    const { documents, samples, runs } = index;
    this.sampleOf = runs.map(() => new Map());
    samples.run.forEach((run, sample) => this.sampleOf[run].set(samples.document[sample], sample));
    this.inOrder = [...documents.task.keys()].sort((one, other) => documents.task[one] - documents.task[other] || documents.id[one] - documents.id[other]);
  }

  /** Take over the rule that counts: as switched in the page, or else the first of the runs. */
  followSwitch() {
    const chosen = document.querySelector('[name="filter"]:checked')?.value;
    this.filter = this.index.filters.includes(chosen) ? chosen : this.index.filters[0];
    this.rights = null; // by run and task, the share of questions that are right, found on first use
  }

  /** The rule that reads a sample: the one that counts, or the first that its task has. */
  rule(sample) {
    const hasRule = (filter) => this.index.samples.read[filter].acc[sample] !== null;
    return hasRule(this.filter) ? this.filter : this.index.filters.find(hasRule);
  }

  /** What a rule made of a sample; without a rule, the one that reads it. */
  read(name, sample, filter) {
    return this.index.samples.read[filter ?? this.rule(sample)]?.[name][sample] ?? null;
  }

  /** The answer that is shown of a sample: where the rule reads none, what the lenient one reads. */
  answer(sample) {
    return this.read("answer", sample) ?? this.read("answer", sample, LENIENT);
  }

  isRight(sample) {
    return this.read("acc", sample) > 0.5;
  }

  /** How a sample's box looks: right, partly, wrong, none or unscored. */
  verdict(sample, filter) {
    const right = this.read("acc", sample, filter);
    if (right === null) return "unscored";
    if (right > 0) return right === 1 ? "right" : "partly";
    return /none|cut/.test(this.read("outcome", sample, filter)) ? "none" : "wrong";
  }

  /** The runs of a view: A, B (undefined if there is none), and the one whose lost points are shown. */
  runsOf(view) {
    const { length } = this.index.runs;
    const number = (text) => (/^\d+$/.test(text ?? "") && Number(text) < length ? Number(text) : undefined);
    const isPair = length === 2 || (length > 2 && view.which in PAIRED);
    let [a, b] = [number(view.a), number(view.b)];
    const asked = b ?? a ?? (length === 2 ? 1 : 0);
    if (length === 2 && (a === undefined || b === undefined)) [a, b] = [0, 1]; // one alone says only whose points were lost
    a ??= b === 0 ? 1 % length : 0;
    if (isPair) b ??= a === 0 ? 1 : 0;
    if (b === a) b = undefined;
    const losers = { only_a: b, only_b: a };
    return { a, b, focus: losers[view.which] ?? asked, shown: b === undefined ? [a] : [a, b] };
  }

  /** The facets of a view: their names in the address, titles, values of a document, and names of the values. */
  of(view) {
    const { documents, samples, tasks, runs } = this.index;
    const { a, b, focus, shown } = this.runsOf(view);
    const among = view.among?.split(".").map(Number);
    const size = among?.length ?? runs.length;
    const rightIn = /^right_in_/.test(view.which) && { [view.which]: `right in ${view.which.slice(9).split(".").map((run) => runs[run]).filter(Boolean).join(", ") || "none"}` };
    const task = tasks.length === 1 ? tasks[0] : tasks.find(({ name }) => name === view.task);
    const own = (document_) => this.sampleOf[focus].get(document_);
    const lost = (sample, outcome = this.read("outcome", sample)) => [outcome, /none|cut/.test(outcome) && "unanswered"];
    const letter = b === undefined ? "" : `${focus === a ? "A" : "B"} `;
    const numbers = runs.length === 2 ? [] : Array.from({ length: size + 1 }, (_, i) => size - i).map((count) => [`right_by_${count}`, size === 1 ? ["not right", "right"][count] : `${count || "none"} of ${size} right`]);
    const facets = [
      { name: "which", title: "Which", labels: { ...(b !== undefined && PAIRED), ...Object.fromEntries(numbers), ...rightIn }, values: (document_) => this.which(document_, a, b, among) },
      { name: "lost", title: letter ? `${letter}lost the point because` : "Lost the point because", labels: LOST, values: (document_) => lost(own(document_)) },
      { name: "distrust", title: "Distrust", labels: { ...DISTRUST, ...(runs.length > 2 && { contradicted: "most runs contradict the label" }) }, values: (document_) => this.distrust(document_, shown) },
      ...(task?.facets ?? []).map((name) => ({ name, title: sentence(name), values: (document_) => [documents.groups[document_][name]] })),
      { name: "found", title: `${letter ? `${letter}answer` : "Answer"} read from`, values: (document_) => (own(document_) === undefined ? [] : [this.read("found_by", own(document_))]) },
      { name: "sign", title: sentence(`${letter}signs`), values: (document_) => samples.signs[own(document_)] ?? [] },
    ];
    if (tasks.length > 1) facets.unshift({ name: "task", title: "Benchmark", labels: Object.fromEntries(tasks.map(({ name, label }) => [name, label])), values: (document_) => [tasks[documents.task[document_]].name] });
    return facets;
  }

  /** @param among the runs that are counted, in questions that all of them have; without it, those that have the question */
  which(document_, a, b, among) {
    const isScored = (sample) => sample !== undefined && this.read("acc", sample) !== null;
    const asked = (among ?? [...this.sampleOf.keys()]).filter((run) => isScored(this.sampleOf[run]?.get(document_)));
    const right = asked.filter((run) => this.isRight(this.sampleOf[run].get(document_)));
    const values = among && asked.length < among.length ? [] : [`right_by_${right.length}`, ...(among ? [`right_in_${right.join(".")}`] : [])];
    const [first, second] = [a, b].map((run) => this.sampleOf[run]?.get(document_));
    if (!isScored(first) || !isScored(second)) return values;
    const [isFirst, isSecond] = [this.isRight(first), this.isRight(second)];
    if (isFirst !== isSecond) return [...values, isFirst ? "only_a" : "only_b"];
    if (isFirst) return [...values, "both_right"];
    const isSame = this.answer(first) !== null && this.answer(first) === this.answer(second);
    return [...values, "both_wrong", ...(isSame ? ["same_wrong"] : [])];
  }

  distrust(document_, shown) {
    const { samples, documents } = this.index;
    const own = shown.map((run) => this.sampleOf[run].get(document_)).filter((sample) => sample !== undefined);
    const isMarked = own.some((sample) => this.marks.has(sample));
    return [...new Set([...own.flatMap((sample) => samples.distrust[sample]), documents.doubted[document_] && "doubted", this.isContradicted(document_) && "contradicted", isMarked && "marked"])];
  }

  /** Whether most of three or more runs give the same wrong answer, as Column.contradicted in report/board.py counts:
   *  only runs vote that are right in more than half of the task's questions. */
  isContradicted(document_) {
    const { task } = this.index.documents;
    this.rights ??= this.sampleOf.map((sampleOf) => this.index.tasks.map((_, place) => {
      const asked = [...sampleOf].filter(([other]) => task[other] === place);
      return asked.filter(([, sample]) => this.isRight(sample)).length / asked.length;
    }));
    const voters = this.sampleOf.filter((sampleOf, run) => sampleOf.has(document_) && this.rights[run][task[document_]] > 0.5);
    const answers = voters.map((sampleOf) => sampleOf.get(document_)).map((sample) => (this.isRight(sample) ? null : this.answer(sample)));
    return answers.length > 2 && answers.some((answer) => answer !== null && 2 * answers.filter((other) => other === answer).length > answers.length);
  }

  /** The documents of a view in its order, and by facet how many documents each value would leave: counts are within the
   *  other facets. */
  select(view) {
    const facets = this.of(view);
    const counts = facets.map(() => new Map());
    const shown = [];
    for (const document_ of this.inOrder) {
      if (this.hits && !this.hits[document_]) continue;
      const values = facets.map((facet) => facet.values(document_));
      const failing = facets.findIndex(({ name }, i) => view[name] && !values[i].includes(view[name]));
      const last = facets.findLastIndex(({ name }, i) => view[name] && !values[i].includes(view[name]));
      if (failing !== last) continue;
      if (failing < 0) shown.push(document_);
      counts.forEach((count, i) => {
        if (failing < 0 || failing === i) for (const value of values[i]) count.set(value, (count.get(value) ?? 0) + 1);
      });
    }
    return { facets, counts, shown: this.sorted(shown, view) };
  }

  /** Sort by what the address says; documents without a number come last. */
  sorted(shown, view) {
    const { samples } = this.index;
    const { focus } = this.runsOf(view);
    const rights = (document_) => Number(this.which(document_)[0].replace("right_by_", ""));
    const ofFocus = (name, sign) => (document_) => sign * (samples[name][this.sampleOf[focus].get(document_)] ?? Infinity * sign);
    const keys = { hard: rights, longest: ofFocus("length", -1), shortest: ofFocus("length", 1), unsure: ofFocus("certainty", 1) };
    if (!Object.hasOwn(keys, view.order ?? "")) return shown;
    const numbers = new Map(shown.map((document_) => [document_, keys[view.order](document_)]));
    return shown.sort((one, other) => (numbers.get(one) === numbers.get(other) ? 0 : numbers.get(one) - numbers.get(other)));
  }

  /** The view that is likeliest to be wanted: what only B has right, or the largest loss that could be repaired. */
  likeliest() {
    const task = this.index.tasks.length > 1 ? { task: this.index.tasks[0].name } : {};
    const { facets, counts } = this.select(task);
    const countOf = (name, value) => counts[facets.findIndex((facet) => facet.name === name)].get(value) ?? 0;
    const pick = (name, values) => values.filter((value) => countOf(name, value)).slice(0, 1).map((value) => [name, value]);
    const losses = ["form", "cut", "unanswered"].sort((one, other) => countOf("lost", other) - countOf("lost", one));
    return { ...task, ...Object.fromEntries(this.index.runs.length === 2 ? pick("which", Object.keys(PAIRED)) : pick("lost", [...losses, "wrong"])) };
  }
}
