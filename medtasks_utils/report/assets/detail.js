"use strict";

/* One sample, drawn. Whatever comes from data or models reaches the page as text nodes, through visible(). */

const FIRST_SHOWN = 20000; // characters of a long text, until "Show all" is pressed

/** Text with the characters that would act on their surroundings (controls, direction overrides) made visible. */
function visible(text) {
  return String(text)
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\r\n?/g, "\n")
    .replace(/[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, (c) => {
      return `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
    });
}

/** An element; children that are not nodes become text. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

function grouped(number) {
  return number.toLocaleString("en-US");
}

/** A text in a box of its own; a long one is cut until asked for. */
function textBox(text, className) {
  const box = el("pre", { class: className, tabindex: "0" }, text.slice(0, FIRST_SHOWN));
  if (text.length <= FIRST_SHOWN) return [box];
  const more = el("button", { type: "button", class: "show-all" }, `Show all ${grouped(text.length)} characters`);
  more.addEventListener("click", () => {
    box.textContent = visible(text);
    more.remove();
  });
  return [box, more];
}

/** A response: its reasoning, up to the last </think>, apart from what answers are read from. */
function responseBoxes(text) {
  const end = text.lastIndexOf("</think>") + "</think>".length;
  if (text === "") return [el("p", { class: "note" }, "The response is empty.")];
  if (end < "</think>".length) return textBox(text);
  return [...textBox(text.slice(0, end), "reasoning"), ...textBox(text.slice(end).replace(/^\n+/, ""))];
}

/** Messages of a chat or a transcript, or a plain prompt. */
function messageBoxes(messages) {
  if (typeof messages === "string") return textBox(messages);
  return messages.flatMap((message) => {
    if (Array.isArray(message)) return messageBoxes(message); // one transcript for each generation
    if (typeof message !== "object" || message === null) return textBox(asText(message));
    const { role, content, ...rest } = message;
    const boxes = [el("p", { class: "role" }, role ?? "message")];
    if (content !== undefined && content !== null) boxes.push(...textBox(asText(content)));
    if (Object.keys(rest).length) boxes.push(anything(rest));
    return boxes;
  });
}

function asText(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((part) => typeof part?.text === "string")) {
    return value.map((part) => part.text).join("\n");
  }
  return JSON.stringify(value, null, 1);
}

function words(name) {
  return String(name).replaceAll("_", " ");
}

function number(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

/** Any JSON value as nested lists. */
function anything(value) {
  if (value === null || value === undefined || value === "") return el("span", { class: "note" }, "–");
  if (typeof value === "number") return el("span", {}, number(value));
  if (typeof value !== "object") return el("span", {}, value);
  if (Array.isArray(value)) {
    if (!value.length) return el("span", { class: "note" }, "none");
    return el("ol", {}, value.map((item) => el("li", {}, anything(item))));
  }
  const pairs = Object.entries(value);
  return el("dl", {}, pairs.flatMap(([name, item]) => [el("dt", {}, words(name)), el("dd", {}, anything(item))]));
}

/** A judge's verdict; claims with their labels as tables, the rest as it is. */
function judgeBoxes(judge) {
  if (Array.isArray(judge)) return judge.flatMap(judgeBoxes); // one for each generation
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

function textTable(head, rows) {
  const cells = (tag, texts) => texts.map((text) => el(tag, { class: "text", ...(tag === "th" && { scope: "col" }) }, text));
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, cells("th", head))),
    el("tbody", {}, rows.map((row) => el("tr", {}, cells("td", row)))),
  );
}

const MARKS = {
  right: ["✓", "Right"],
  wrong: ["✗", "Wrong"],
  partly: ["◐", "Right in some generations"],
  none: ["○", "No answer found"],
  unscored: ["·", "Not scored"],
};

function mark(verdict) {
  const [sign, word] = MARKS[verdict];
  return el("span", { class: `mark ${verdict}`, role: "img", "aria-label": word, title: word }, sign);
}

/** Answers under both filters, and what was right. */
function answersTable(sample, target, verdictOf) {
  const row = (name, cells) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", { class: "text" }, cell)));
  const rows = Object.keys(sample.answers).map((filter) => {
    const verdict = verdictOf(filter);
    const foundBy = (sample.found_by[filter] ?? []).map(words).join(" · ") || "–";
    return row(filter, [sample.answers[filter].join(" · "), el("span", {}, mark(verdict), " ", MARKS[verdict][1]), foundBy]);
  });
  rows.push(row("target", [target, "", ""]));
  const head = ["", "Answer", "Verdict", "Found by"].map((name) => el("th", { class: "text", scope: "col" }, name));
  return el("div", { class: "table" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** All of a sample, as nodes. */
function sampleNodes(document_, sample, { target, facets, verdictOf, filter }) {
  const part = (title, nodes) => [el("h4", {}, title), ...nodes];
  const nodes = [answersTable(sample, target, verdictOf)];
  if (Object.keys(facets).length) nodes.push(...part("About the example", [anything(facets)]));
  nodes.push(...part("Prompt", messageBoxes(document_.prompt)));
  sample.responses.forEach((response, i) => {
    const title = sample.responses.length > 1 ? `Response ${i + 1} of ${sample.responses.length}` : "Response";
    const length = sample.lengths[i];
    nodes.push(...part(`${title} (${grouped(length)} characters)`, responseBoxes(response)));
    if (length > response.length) {
      nodes.push(el("p", { class: "note" }, "Its middle is left out, to keep the page small; the sample log has all of it."));
    }
  });
  const { transcript, judge, ...others } = sample.details;
  if (transcript) nodes.push(...part("Tool transcript", messageBoxes(transcript)));
  if (judge) nodes.push(...part("Judge", judgeBoxes(judge)));
  for (const [name, value] of Object.entries(others)) nodes.push(...part(words(name), [anything(value)]));
  if (sample.metrics[filter]) nodes.push(...part(`Metrics, ${filter}`, [anything(sample.metrics[filter])]));
  nodes.push(el("details", {}, el("summary", {}, "The row of the data"), anything(document_.doc)));
  return nodes;
}

/** Mark the places where a text occurs, without touching the elements. */
function highlight(root, query) {
  if (!window.Highlight) return;
  CSS.highlights.delete("found");
  if (!query) return;
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
