/* The open question: why the point was lost, the question, and the replies side by side. */

const LETTERS = "ABCDEFGHIJ";
const RULES = { "strict-match": "Published rule", "flexible-extract": "Lenient" };
const LONGEST_QUOTE = 48; // characters
const ALIKE = 0.4; // share of words in common from which the differences of two replies say something

/** Build the nodes of the open question, from the document's record, a column for each run that is shown, and how they are. */
function questionNodes(shared, columns, about) {
  const { doc } = shared;
  const range = about.task.range.map((name) => doc[name]).filter((value) => typeof value === "number");
  const [what, remark_] = whyLine(columns.map((column) => sideOf(column, about.filter)), { target: about.target, range: range.length === 2 ? range : undefined, issues: [doc.known_issues].flat().filter(Boolean) });
  const nodes = [el("p", { class: "why" }, el("b", {}, what), remark_ && ` ${remark_}`)];
  if (typeof doc.question === "string") nodes.push(el("div", { class: "quest", tabindex: "0", role: "group", "aria-label": "The question" }, doc.question));
  if (Array.isArray(doc.options)) nodes.push(optionsNode(doc.options, columns, about));
  if (typeof doc.answer === "string") nodes.push(el("p", { class: "quest" }, el("b", {}, "Answer shown: "), doc.answer));
  if (!Array.isArray(doc.options)) nodes.push(el("p", { class: "key" }, "Right: ", el("b", {}, about.target), range.length === 2 && range[0] < range[1] && `, from ${range[0]} to ${range[1]}`));
  if (doc[about.task.solution]) nodes.push(folded("Reference solution", () => textNodes(asText(doc[about.task.solution]), about.raw), { class: "solution", open: "" }));
  const parts = about.diff ? differences(columns) : null;
  nodes.push(el("div", { class: "cols" }, columns.map((column, place) => columnNode(column, { ...about, difference: parts && differenceNode(parts, place) }))));
  nodes.push(promptNode(columns, shared.prompt, about));
  nodes.push(folded("The row of the data", () => anything(doc)));
  return nodes;
}

/** What the why line says of a reply; with several generations, of the first that was cut or else is not right. */
function sideOf({ letter, record, outcome, answer, share, limit }, filter) {
  const { details, right, answers, responses } = record;
  const i = Math.max(0, outcome === "cut" ? [details.ended ?? []].flat().indexOf("length") : (right[filter] ?? []).findIndex((score) => score !== 1));
  const of = (name) => (Array.isArray(details[name]) ? details[name][i] : details[name]);
  const strict = answers["strict-match"]?.[i];
  const response = responses[i] ?? "";
  return {
    letter, outcome, answer, share, limit,
    ended: of("ended"), tokens: of("tokens"), certainty: of("certainty"),
    isEmpty: !response.trim(), isThinking: splitReasoning(response)[2],
    strict: strict === "no answer" ? undefined : strict,
    words: wordsRead(record, "flexible-extract", i),
  };
}

/** Build the folded prompt; where the prompts of two runs differ, with marks at what differs. */
function promptNode(columns, prompt, { raw, prompt: isOpen }) {
  const prompts = columns.map(({ record }) => record.prompt ?? prompt);
  const texts = prompts.map((messages) => messages.map(({ role, content }) => `${role ?? "message"}\n${asText(content ?? "")}`).join("\n\n"));
  const differ = new Set(texts).size > 1;
  const what = prompts[0].length > 1 ? `${prompts[0].length} messages, ` : "";
  const draw = () => (differ && typeof Diff !== "undefined" ? el("div", { class: "cols" }, columns.map((_, place) => differenceNode(Diff.diffWordsWithSpace(texts[0], texts[1]), place))) : messageNodes(prompts[0], raw));
  return folded(`Prompt${differ ? "s differ" : ""}, ${what}${grouped(texts[0].length)} characters`, draw, { class: "prompt", ...(isOpen && { open: "" }) });
}

/** Build the list of options, with a mark at the right one and the letters of the runs that chose it. */
function optionsNode(options, columns, { target, filter }) {
  return el("ul", { class: "opts" }, options.map((option, i) => {
    const by = columns.filter(({ record, answer }) => (record.answers[filter] ?? []).includes(LETTERS[i]) || answer === LETTERS[i]);
    const who = by.map(({ letter }) => (letter ? runSign(letter) : el("span", { class: "chosen" }, "answered")));
    return el("li", LETTERS[i] === target ? { class: "right" } : {}, el("b", {}, LETTERS[i]), el("span", {}, el("bdi", {}, asText(option)), LETTERS[i] === target && el("b", {}, " ✓ right")), el("span", { class: "who" }, who));
  }));
}

/** The letter of a compared run. */
const runSign = (letter) => el("span", { class: `ab ${letter.toLowerCase()}` }, letter);

/** Build the line with what each rule read, and in which words. */
function readNode(record, filter) {
  const filters = Object.keys(record.answers).sort((one, other) => Number(other === filter) - Number(one === filter));
  const parts = filters.map((name) => {
    const ways = [...new Set(record.found_by[name] ?? [])].filter((way) => way !== "none").map(words).join(", ");
    const read = wordsRead(record, name, 0).trim();
    return [`${RULES[name] ?? name}: `, el("b", {}, tally(record.answers[name])), ways && `, from the ${ways}`, read && el("span", {}, " ", el("q", {}, read.length > LONGEST_QUOTE ? `…${read.slice(-LONGEST_QUOTE)}` : read)), ". "];
  });
  return el("p", { class: "read" }, parts);
}

/** Return the answers with their frequencies, the most frequent first. */
function tally(answers) {
  const counts = new Map();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  return answers.length < 2 ? (answers[0] ?? "–") : ordered.map(([answer, times]) => `${answer} ×${times}`).join(", ");
}

/** Build a reply with all that was read and scored in it. */
function columnNode({ letter, run, record, verdict, signs, marks }, about) {
  const nodes = [el("h3", {}, letter && runSign(letter), el("bdi", {}, run), " ", box(verdict)), readNode(record, about.filter)];
  if (signs.length) nodes.push(el("p", { class: "signs" }, signs.join(" · ")));
  for (const note of record.notes ?? []) nodes.push(el("p", { class: "note" }, note));
  nodes.push(...(about.difference ? [about.difference] : generationNodes(record, { ...about, run })), marks);
  const { transcript, judge, words: _, ended, tokens, reasoning, certainty, ...others } = record.details;
  if (judge) nodes.push(folded("Judge", () => judgeNodes(judge), { open: "" }));
  for (const [name, value] of Object.entries(others)) nodes.push(folded(sentence(words(name)), () => anything(value)));
  if (record.metrics[about.filter]) nodes.push(folded("Metrics", () => anything(record.metrics[about.filter])));
  return el("div", { class: "col", role: "group", "aria-label": `The reply of ${run}` }, nodes);
}

/** Build the reply; of several generations all, the first one open, with a line about their agreement. */
function generationNodes(record, about) {
  const { responses } = record;
  const filter = about.filter in record.answers ? about.filter : Object.keys(record.answers)[0];
  const { transcript = [] } = record.details; // of one generation, or one for each
  const transcripts = Array.isArray(transcript[0]) ? transcript : [transcript];
  const drawn = (i) => {
    const turns = conversationNodes(transcripts[i] ?? [], about.raw);
    const apart = record.details.reasoning?.[i];
    return [
      apart && folded(`Reasoning sent separately, ${grouped(apart.length)} characters`, () => textNodes(apart, about.raw), { class: "reasoning" }),
      el("div", { class: "resp", tabindex: "0", role: "group", "aria-label": `What ${about.run} wrote`, "data-words": wordsRead(record, filter, i) }, turns.length ? turns : responseNodes(responses[i], about.raw)),
      endNode(record.details, i, responses[i].length),
    ].filter(Boolean);
  };
  if (responses.length === 1) return drawn(0);
  const answers = record.answers[filter] ?? [];
  const most = Math.max(0, ...answers.map((answer) => answers.filter((other) => other === answer).length));
  const agreement = el("p", { class: "agreement" }, `${responses.length} generations, ${most} of ${answers.length} agree: ${tally(answers)}`);
  return [agreement, ...responses.map((_, i) => {
    const right = record.right[filter]?.[i];
    const wrong = answers[i] === "no answer" ? "none" : "wrong"; // as report/packed_samples.py writes it
    const title = el("span", {}, box(right === 1 ? "right" : right === 0 ? wrong : "unscored"), ` Generation ${i + 1}: ${answers[i] ?? "–"}`);
    return folded(title, () => drawn(i), { class: "generation", open: i === 0 && "" });
  })];
}

const ENDS = { stop: "finished", length: "cut at the token limit", filter: "stopped by a content filter" };

/** Build a line with the end of a reply, its length, and how certain the reading is. */
function endNode({ ended, tokens, certainty }, i, length) {
  const sure = Array.isArray(certainty) ? certainty[i] : certainty;
  const known = [ENDS[ended?.[i]], tokens?.[i] && `${grouped(tokens[i])} tokens`, `${grouped(length)} character${length === 1 ? "" : "s"}`, sure > 0 && `certainty of the reading ${sure}`].filter(Boolean);
  return el("p", { class: "note" }, sentence(known.join(", ")));
}

/** Return the parts of two replies that differ; null if there are not two, or if they have little in common. */
function differences(columns) {
  const texts = columns.map(({ record }) => record.responses[0] ?? "");
  if (texts.length !== 2 || typeof Diff === "undefined" || inCommon(texts) <= ALIKE) return null;
  return Diff.diffWordsWithSpace(texts[0], texts[1], { timeout: 2000 }) ?? null; // nothing if it takes longer
}

/** Return the share of distinct words that two texts have in common. */
function inCommon(texts) {
  const [one, other] = texts.map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  return (2 * [...one].filter((word) => other.has(word)).length) / (one.size + other.size || 1);
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
      range.setStart(first[0], first[1]);
      range.setEnd(last[0], last[1] + 1);
      return [range];
    }
  }
  return [];
}

/** Build a judge's output: claims with their labels as tables, other fields as they are. */
function judgeNodes(judge) {
  if (Array.isArray(judge)) return judge.flatMap(judgeNodes); // one for each generation
  if (typeof judge !== "object" || judge === null) return [anything(judge)];
  const rest = { ...judge, ...judge.output };
  delete rest.output;
  const tables = [];
  const cells = (tag, ...texts) => el("tr", {}, texts.map((text) => el(tag, { class: "text", ...(tag === "th" && { scope: "col" }) }, text)));
  for (const [claims, labels, title] of [["claims", "labels", "Claim"], ["reference_claims", "reference_labels", "Reference's claim"]]) {
    if (!Array.isArray(rest[claims]) || !Array.isArray(rest[labels])) continue;
    const rows = rest[claims].map((claim, i) => cells("td", asText(claim), words(asText(rest[labels][i] ?? "–"))));
    tables.push(el("table", {}, el("thead", {}, cells("th", title, "Label")), el("tbody", {}, rows)));
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
    fillFold(fold);
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
