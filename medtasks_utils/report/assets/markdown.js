"use strict";

/* Markdown as models write it, to elements. Every element is made here and every text is a text node: a response can
   choose between paragraphs, lists, tables, code and formulas, and nothing else. No link, no image, no HTML. */

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const ITEM = /^( *)([-*+•]|\d{1,9}[.)])( +)(?=\S)/;
const QUOTE = /^ {0,3}> ?/;
const DELIMITERS = /^[\s|:-]*-[\s|:-]*$/;
const FORMULA = /^\s*(\$\$|\\\[|\\begin\{(?:equation|align|gather|split|cases|aligned)\*?\})/;
const NESTED = 6; // blocks in blocks, beyond which text is shown as it is
const LONGEST_FORMULA = 4000;

/** A text as elements. */
function markdown(text) {
  return blocks(visible(text).replace(/\t/g, "    ").split("\n"), 0);
}

function blocks(lines, depth) {
  if (depth > NESTED) return [el("p", {}, lines.join("\n"))];
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    if (!lines[at].trim()) at++;
    else {
      const [node, next] = block(lines, at, depth);
      nodes.push(...[node].flat());
      at = next;
    }
  }
  return nodes;
}

/** The block that begins at a line, and the line after it. */
function block(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end++;
    return [codeBlock(lines.slice(at + 1, end).join("\n"), fence[2]), end + 1];
  }
  const displayed = FORMULA.test(line) && displayedFormula(lines, at);
  if (displayed) return displayed;
  const heading = HEADING.exec(line);
  if (heading) return [el("p", { class: "heading" }, inline(heading[2].replace(/\s#+\s*$/, ""))), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (QUOTE.test(line)) {
    const end = upTo(lines, at, (text) => !QUOTE.test(text));
    return [el("blockquote", {}, blocks(lines.slice(at, end).map((text) => text.replace(QUOTE, "")), depth + 1)), end];
  }
  if (ITEM.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) {
    const end = upTo(lines, at + 2, (text) => !text.includes("|"));
    return [tableOf(lines[at], lines.slice(at + 2, end)), end];
  }
  const end = Math.max(at + 1, upTo(lines, at + 1, (text, i) => startsBlock(lines, i)));
  return [el("p", {}, inline(lines.slice(at, end).join("\n").trim())), end];
}

/** The first line from one on that is blank or ends a block. */
function upTo(lines, at, ends) {
  while (at < lines.length && lines[at].trim() && !ends(lines[at], at)) at++;
  return at;
}

function startsBlock(lines, at) {
  const line = lines[at];
  return [FENCE, HEADING, RULE, QUOTE, ITEM, FORMULA].some((pattern) => pattern.test(line)) || isTable(lines, at);
}

function isTable(lines, at) {
  const next = lines[at + 1] ?? "";
  return lines[at].includes("|") && next.includes("|") && next.length < 2000 && DELIMITERS.test(next);
}

function codeBlock(text, language = "") {
  return el("pre", { class: "code", tabindex: "0", "aria-label": language ? `code, ${language}` : "code" }, el("code", {}, text));
}

function tableOf(head, rows) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const nodes = (line) => cells(line).map((text) => inline(text));
  return el("div", { class: "table" }, textTable(nodes(head), rows.map(nodes)));
}

/** Items with the lines that are indented under them. */
function list(lines, at, depth) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const numbered = /\d/.test(marker);
  const items = [];
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length > indent.length + 1 || item[1].length < indent.length || /\d/.test(item[2]) !== numbered) break;
    const width = item[0].length;
    const own = [lines[at].slice(width)];
    for (at++; at < lines.length; at++) {
      const blank = !lines[at].trim();
      const inside = lines[at].search(/\S/) > item[1].length;
      if (blank ? !(lines[at + 1]?.search(/\S/) > item[1].length) : !inside && (ITEM.test(lines[at]) || !lines[at - 1].trim() || startsBlock(lines, at))) break;
      own.push(lines[at].slice(Math.min(width, Math.max(0, lines[at].search(/\S/)))));
    }
    while (at < lines.length - 1 && !lines[at].trim() && ITEM.test(lines[at + 1])) at++;
    items.push(el("li", {}, blocks(own, depth + 1)));
  }
  return [el(numbered ? "ol" : "ul", numbered ? { start: parseInt(marker, 10) } : {}, items), at];
}

/** A formula in a paragraph of its own: [nodes, next line]; null if it is not closed. */
function displayedFormula(lines, at) {
  const text = lines.slice(at, at + 60).join("\n");
  const opening = FORMULA.exec(text);
  const environment = opening[1].startsWith("\\begin");
  const close = environment ? `\\end{${opening[1].slice(7)}` : opening[1] === "$$" ? "$$" : "\\]";
  const start = opening[0].length;
  const end = text.indexOf(close, start);
  if (end < 0 || end - start > LONGEST_FORMULA) return null;
  const source = environment ? text.slice(0, end + close.length) : text.slice(start, end);
  const after = text.slice(end + close.length);
  const rest = after.split("\n", 1)[0];
  const next = at + text.slice(0, end).split("\n").length;
  return [[formula(source, true), ...(rest.replace(/[.,;\s]/g, "") ? [el("p", {}, inline(rest.trim()))] : [])], next];
}

// ---- within a line

const RULES = [
  { open: "\\(", close: "\\)", make: (text) => formula(text) },
  { open: "\\[", close: "\\]", make: (text) => formula(text, true) },
  { open: "$$", close: "$$", make: (text) => formula(text, true) },
  { open: "$", close: "$", fits: (text, after) => /^\S/.test(text) && /\S$/.test(text) && !/^\d/.test(after) && !text.includes("\n\n"), make: (text) => formula(text) },
  { open: "``", close: "``", make: (text) => el("code", {}, text) },
  { open: "`", close: "`", make: (text) => el("code", {}, text) },
  { open: "***", close: "***", inner: true, make: (nodes) => el("strong", {}, el("em", {}, nodes)) },
  { open: "**", close: "**", inner: true, make: (nodes) => el("strong", {}, nodes) },
  { open: "__", close: "__", inner: true, word: true, make: (nodes) => el("strong", {}, nodes) },
  { open: "*", close: "*", inner: true, make: (nodes) => el("em", {}, nodes) },
  { open: "_", close: "_", inner: true, word: true, make: (nodes) => el("em", {}, nodes) },
  { open: "~~", close: "~~", inner: true, make: (nodes) => el("del", {}, nodes) },
];

/** A paragraph's text as nodes. */
function inline(text, depth = 0) {
  const nodes = [];
  const unclosed = new Set(); // what closes nowhere further on: looked for once, so that no text takes long
  const special = /[\\$`*_~]/g;
  let plain = 0;
  const put = (node, from, to) => {
    if (from > plain) nodes.push(text.slice(plain, from));
    nodes.push(node);
    plain = special.lastIndex = to;
  };
  for (let match = special.exec(text); match; match = special.exec(text)) {
    const at = match.index;
    const found = depth < NESTED && (boxed(text, at, unclosed) || spanned(text, at, unclosed, depth));
    if (found) put(found.node, at, found.end);
    else if (text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) put(text[at + 1], at, at + 2);
  }
  if (plain < text.length) nodes.push(text.slice(plain));
  return nodes;
}

function spanned(text, at, unclosed, depth) {
  for (const rule of RULES) {
    if (!text.startsWith(rule.open, at) || unclosed.has(rule.close)) continue;
    const start = at + rule.open.length;
    if (rule.inner && (/\s/.test(text[start] ?? " ") || (rule.word && /\w/.test(text[at - 1] ?? "")))) continue;
    const end = text.indexOf(rule.close, start + 1);
    if (end < 0) unclosed.add(rule.close);
    if (end < 0 || end - start > LONGEST_FORMULA) continue;
    const content = text.slice(start, end);
    const after = text.slice(end + rule.close.length, end + rule.close.length + 1);
    if (rule.fits && !rule.fits(content, after)) continue;
    if (rule.inner && (/\s$/.test(content) || (rule.word && /\w/.test(after)))) continue;
    return { node: rule.make(rule.inner ? inline(content, depth + 1) : content), end: end + rule.close.length };
  }
  return null;
}

/** A \boxed{…} outside of any formula, as answers are often written. */
function boxed(text, at, unclosed) {
  if (unclosed.has("\\boxed") || !text.startsWith("\\boxed{", at)) return null;
  let depth = 0;
  for (let end = at + 6; end < Math.min(text.length, at + LONGEST_FORMULA); end++) {
    if (text[end] === "{") depth++;
    else if (text[end] === "}" && --depth === 0) return { node: formula(text.slice(at, end + 1)), end: end + 1 };
  }
  unclosed.add("\\boxed");
  return null;
}
