"use strict";

/* The detail view of an example: the prompt, and one column for each response shown. */

const LETTERS = "ABCDEFGHIJ";

/** Build the nodes of an example's detail view.
 *
 * @param shared the document's record
 * @param columns of the runs shown: {run, record, badges, verdict, verdictOf(filter)}
 * @param about {target, facets, filter, raw, several}
 */
function exampleNodes(shared, columns, about) {
  const { doc } = shared;
  const nodes = [];
  if (columns.length === 1) nodes.push(verdictNode(columns[0], about));
  if (typeof doc.question === "string") nodes.push(el("div", { class: "question", tabindex: "0" }, doc.question));
  if (Array.isArray(doc.options)) nodes.push(optionsNode(doc.options, columns, about));
  if (typeof doc.answer === "string") nodes.push(el("div", { class: "question", tabindex: "0" }, el("b", {}, "Answer shown: "), doc.answer));
  const texts = columns.map(({ record }) => record.responses[0] ?? "");
  const parts = about.diff ? Diff.diffWordsWithSpace(...texts, { timeout: 2000 }) : null; // nothing if it takes longer
  nodes.push(el("div", { class: "columns" }, columns.map((column, place) => columnNode(column, { ...about, difference: parts && differenceNode(parts, place) }, columns.length > 1))));
  nodes.push(promptNode(columns[0].record.prompt ?? shared.prompt, about.raw));
  if (Object.keys(about.facets).length) nodes.push(folded("About the example", () => anything(about.facets)));
  nodes.push(folded("The row of the data", () => anything(doc)));
  return nodes;
}

function promptNode(messages, raw) {
  const length = messages.reduce((sum, { content }) => sum + asText(content ?? "").length, 0);
  const what = messages.length > 1 ? `${messages.length} messages, ` : "";
  return folded(`Prompt, ${what}${grouped(length)} characters`, () => messageNodes(messages, raw), { class: "prompt" });
}

/** Build the list of options, with marks at the right one and the chosen ones. */
function optionsNode(options, columns, { target, filter }) {
  const items = options.map((option, i) => {
    const letter = LETTERS[i];
    const by = columns.filter(({ record }) => record.answers[filter]?.includes(letter)).map(({ run }) => run);
    const who = columns.length > 1 ? by.join(", ") : "answered";
    const tags = [...(letter === target ? [el("span", { class: "tag right" }, "right")] : []), ...(by.length ? [el("span", { class: "tag" }, who)] : [])];
    return el("li", letter === target ? { class: "target" } : {}, el("b", {}, `${letter} `), el("bdi", {}, asText(option)), " ", tags);
  });
  return el("ul", { class: "options" }, items);
}

/** Build the line with the chosen filter's answer, whether it is right, and the other filters' answers. */
function verdictNode({ record, verdict, verdictOf }, { target, filter }) {
  const filters = Object.keys(record.answers);
  const chosen = filters.includes(filter) ? filter : filters[0];
  const given = (name) => tally(record.answers[name] ?? []);
  const ways = (name) => [...new Set(record.found_by[name] ?? [])].map(words).join(", ");
  const found = ways(chosen) && ways(chosen) !== "none" ? `found by ${ways(chosen)}` : "";
  const words_ = wordsRead(record, chosen, 0);
  const others = filters.filter((name) => name !== chosen && (given(name) !== given(chosen) || verdictOf(name) !== verdict));
  const lines = [
    el("p", { class: "answer" }, mark(verdict), " ", el("b", {}, MARKS[verdict][1]), verdict === "none" ? "" : ["; answer ", el("b", {}, given(chosen))].flat()),
    el("p", { class: "note" }, "right answer ", el("b", {}, target), found && ` · ${found} · ${chosen}`),
    words_ && el("p", { class: "note" }, "read from ", el("q", {}, words_.trim())),
    ...others.map((name) => el("p", { class: "note" }, `${name}: ${given(name)}, `, MARKS[verdictOf(name)][1].toLowerCase())),
  ];
  return el("div", { class: `verdict ${verdict}` }, lines);
}

/** Return the answers with their frequencies, the most frequent first. */
function tally(answers) {
  const counts = new Map();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  return answers.length < 2 ? (answers[0] ?? "–") : ordered.map(([answer, times]) => `${answer} ×${times}`).join(", ");
}

function columnNode(column, about, isOneOfSeveral) {
  const { record, badges } = column;
  const nodes = isOneOfSeveral ? [el("h4", {}, el("bdi", {}, column.run)), verdictNode(column, about)] : [];
  if (badges.length) nodes.push(el("p", { class: "tags" }, badges.map((badge) => el("span", { class: "tag" }, badge))));
  for (const note of record.notes ?? []) nodes.push(el("p", { class: "note" }, note));
  nodes.push(column.mark, ...(about.difference ? [about.difference] : generationNodes(record, about)));
  const { transcript, judge, words: _, ended, tokens, reasoning, certainty, ...others } = record.details;
  if (judge) nodes.push(folded("Judge", () => judgeNodes(judge), { open: "" }));
  for (const [name, value] of Object.entries(others)) nodes.push(folded(sentence(words(name)), () => anything(value)));
  if (record.metrics[about.filter]) nodes.push(folded(`Metrics, ${about.filter}`, () => anything(record.metrics[about.filter])));
  return el("div", { class: "column", role: "group", "aria-label": column.run }, nodes);
}

/** Build the response; for several generations, all of them, the first one open, with a line about their agreement. */
function generationNodes(record, about) {
  const { responses } = record;
  const filter = about.filter in record.answers ? about.filter : Object.keys(record.answers)[0];
  const lengths = responses.map((response) => response.length);
  const transcripts = generationTranscripts(record.details.transcript, responses.length);
  const drawn = (i) => {
    const turns = transcripts[i] ? conversationNodes(transcripts[i], about.raw) : [];
    const apart = record.details.reasoning?.[i];
    return [
      endNode(record.details, i),
      apart && folded(`Reasoning sent separately, ${grouped(apart.length)} characters`, () => textNodes(apart, about.raw), { class: "reasoning" }),
      el("div", { class: "read", "data-words": wordsRead(record, filter, i) }, turns.length ? turns : responseNodes(responses[i], about.raw)),
    ].filter(Boolean);
  };
  if (responses.length === 1) {
    const nodes = drawn(0);
    const turns = nodes.at(-1).querySelectorAll(":scope > .turn").length;
    return [el("h4", {}, turns ? `Conversation, ${turns} turn${turns > 1 ? "s" : ""}` : `Response, ${grouped(lengths[0])} characters`), ...nodes];
  }
  const answers = record.answers[filter] ?? [];
  const most = Math.max(0, ...answers.map((answer) => answers.filter((other) => other === answer).length));
  const agreement = el("p", { class: "agreement" }, `${responses.length} generations, ${most} of ${answers.length} agree: ${tally(answers)}`);
  return [agreement, ...responses.map((_, i) => {
    const right = record.right[filter]?.[i];
    const wrong = answers[i] === "no answer" ? "none" : "wrong"; // as report/packed_samples.py writes it
    const verdict = right === 1 ? "right" : right === 0 ? wrong : "unscored";
    const title = el("span", {}, mark(verdict), ` Generation ${i + 1}: ${answers[i] ?? "–"}`, el("span", { class: "note" }, ` ${grouped(lengths[i])} characters`));
    return folded(title, () => drawn(i), { class: "generation", open: i === 0 && "" });
  })];
}

const ENDS = { stop: "ended by itself", length: "cut at the token limit", filter: "stopped by a content filter", unknown: "" };

/** Build a line with the end of a reply and its number of tokens; nothing if both are unknown. */
function endNode({ ended, tokens, certainty }, i) {
  const sure = Array.isArray(certainty) ? certainty[i] : certainty;
  const known = [ENDS[ended?.[i]], tokens?.[i] && `${grouped(tokens[i])} tokens`, typeof sure === "number" && `certainty of the reading ${sure}, if an answer is stated`].filter(Boolean);
  return known.length ? el("p", { class: "note" }, sentence(known.join(", "))) : "";
}

/** Build one side of two compared texts, with marks at the parts that the other side lacks. */
function differenceNode(parts, side) {
  const shown = parts.filter(({ added, removed }) => (side ? !removed : !added));
  return el("pre", { class: "raw difference", tabindex: "0", "aria-label": "Differences" }, shown.map(({ value, added, removed }) => (added || removed ? el(side ? "ins" : "del", {}, value) : value)));
}

const FORM_READ = /[^\n]{0,40}(?:\\boxed\{[^{}]*\}|<answer>[^<]*<\/answer>)/g; // a box or a tag, with what stands before it

/** Return the words in which a filter read its answer: as logged, or else the box or tag. */
function wordsRead(record, filter, i) {
  const { words: logged } = record.details;
  const own = Array.isArray(logged) ? logged[i] : logged;
  if (filter === "flexible-extract" && own) return own;
  const isInForm = ["box", "tag"].includes(record.found_by[filter]?.[i]);
  return (isInForm && record.responses[i].match(FORM_READ)?.at(-1)) || "";
}

/** Mark the words that were read in the unfolded parts; only letters and digits are compared, since formatting is lost. */
function markRead(root) {
  if (!window.Highlight) return;
  CSS.highlights.set("read", new Highlight(...[...root.querySelectorAll("[data-words]")].flatMap((box) => rangeOf(box, box.dataset.words))));
}

function rangeOf(box, words_) {
  const wanted = words_.replace(/\\[a-z]+/gi, "").replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  const places = [];
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest(".reasoning") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  for (let node = walker.nextNode(); node; node = walker.nextNode()) for (let at = 0; at < node.data.length; at++) if (/[\p{L}\p{N}]/u.test(node.data[at])) places.push([node, at]);
  const text = places.map(([node, at]) => node.data[at].toLowerCase()[0]).join("");
  const isWhole = (at, length) => ![places[at - 1], places[at + length]].some((place, side) => place && place[0] === places[side ? at + length - 1 : at][0] && Math.abs(place[1] - places[side ? at + length - 1 : at][1]) === 1);
  for (const sought of wanted ? [wanted, wanted.slice(-16)] : []) {
    for (let at = text.lastIndexOf(sought); at >= 0; at = at ? text.lastIndexOf(sought, at - 1) : -1) {
      if (sought.length < 4 && !isWhole(at, sought.length)) continue;
      const [first, last] = [places[at], places[at + sought.length - 1]];
      const range = new Range();
      range.setStart(...first);
      range.setEnd(last[0], last[1] + 1);
      return [range];
    }
  }
  return [];
}

/** Return a transcript for each generation; a single transcript belongs to the first generation. */
function generationTranscripts(transcript, count) {
  if (!Array.isArray(transcript)) return [];
  return Array.isArray(transcript[0]) ? transcript.slice(0, count) : [transcript];
}

/** Build a judge's output: claims with their labels as tables, other fields as they are. */
function judgeNodes(judge) {
  if (Array.isArray(judge)) return judge.flatMap(judgeNodes); // one for each generation
  if (typeof judge !== "object" || judge === null) return [anything(judge)];
  const rest = { ...judge, ...judge.output };
  delete rest.output;
  const tables = [];
  for (const [claims, labels, title] of [["claims", "labels", "Claim"], ["reference_claims", "reference_labels", "Reference's claim"]]) {
    if (!Array.isArray(rest[claims]) || !Array.isArray(rest[labels])) continue;
    const rows = rest[claims].map((claim, i) => [asText(claim), words(asText(rest[labels][i] ?? "–"))]);
    tables.push(textTable([title, "Label"], rows));
    delete rest[claims];
    delete rest[labels];
  }
  return [anything(rest), ...tables];
}

/** Highlight all occurrences of a text without changing elements; folded parts with an occurrence are opened. */
function highlight(root, query) {
  if (window.Highlight) CSS.highlights.delete("found");
  if (!query) return;
  for (const fold of root.querySelectorAll("details")) {
    fold.fill?.();
    fold.open ||= fold.textContent.toLowerCase().includes(query);
  }
  if (!window.Highlight) return;
  const ranges = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 1000; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue; // lower case moved the positions
    for (let at = text.indexOf(query); at >= 0 && ranges.length < 1000; at = text.indexOf(query, at + query.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + query.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
