/* Markdown and LaTeX as models write them, to elements. markdown-it reads the text, and every element is made here from its
   tokens: paragraphs, lists, tables, code and formulas, and nothing else. No link, no image, no HTML. Temml makes MathML. */

const DISPLAYED = /^(\$\$|\\\[|\\begin\{(equation|align|gather|split|cases|aligned)\*?\})/;
const LONGEST_FORMULA = 4000;
const DEEPEST = 60; // elements within elements of a formula, beyond which its source is shown
/** @type {[string, string, boolean][]} */
const DELIMITERS = [["\\(", "\\)", false], ["\\[", "\\]", true], ["$$", "$$", true], ["$", "$", false]];

const reader = markdownit({ html: false, maxNesting: 20 }).disable(["link", "image", "autolink", "reference", "html_block", "html_inline", "lheading", "code"]);

/** Push a formula and go on after it. */
function foundFormula(state, silent, source, isDisplayed, end) {
  if (!silent) Object.assign(state.push("formula", "", 0), { content: source, meta: isDisplayed });
  state.pos = end;
  return true;
}

reader.inline.ruler.before("escape", "formula", (state, silent) => {
  const { src, pos } = state;
  state.unclosed ??= new Set(); // what closes nowhere further on: looked for once, so that no text takes long
  if (src.startsWith("\\boxed{", pos)) {
    let depth = 0;
    for (let end = pos + 6; end < Math.min(src.length, pos + LONGEST_FORMULA); end++) {
      if (src[end] === "{") depth++;
      else if (src[end] === "}" && --depth === 0) return foundFormula(state, silent, src.slice(pos, end + 1), false, end + 1);
    }
  }
  const [open, close, isDisplayed] = DELIMITERS.find(([mark]) => src.startsWith(mark, pos)) ?? [];
  if (!open || state.unclosed.has(close)) return false;
  const end = src.indexOf(close, pos + open.length + 1);
  if (end < 0) state.unclosed.add(close);
  const source = src.slice(pos + open.length, end);
  const isMoney = open === "$" && (!/^\S[^]*(?<=\S)$/.test(source) || /\d/.test(src[end + 1] ?? ""));
  if (end < 0 || source.length > LONGEST_FORMULA || isMoney) return false;
  return foundFormula(state, silent, source, isDisplayed, end + close.length);
});

reader.block.ruler.before(
  "fence",
  "formula",
  (state, start, last, silent) => {
    const text = state.src.slice(state.bMarks[start] + state.tShift[start], state.eMarks[last - 1]).slice(0, LONGEST_FORMULA);
    const [open] = DISPLAYED.exec(text) ?? [];
    if (!open) return false;
    const close = open === "$$" ? "$$" : open === "\\[" ? "\\]" : open.replace("begin", "end");
    const end = text.indexOf(close, open.length);
    if (end < 0 || !/^[.,;\s]*$/.test(text.slice(end + close.length).split("\n", 1)[0])) return false;
    if (silent) return true;
    const source = close.startsWith("\\end") ? text.slice(0, end + close.length) : text.slice(open.length, end);
    Object.assign(state.push("formula", "", 0), { content: source, meta: true });
    state.line = start + text.slice(0, end).split("\n").length;
    return true;
  },
  { alt: ["paragraph", "blockquote", "list"] },
);

/** A text as elements. */
function markdown(text) {
  const root = el("div");
  fill(root, reader.parse(visible(text), {}));
  return [...root.childNodes];
}

const TAGS = { s: "del", h1: "p", h2: "p", h3: "p", h4: "p", h5: "p", h6: "p" };

/** Append what tokens stand for. */
function fill(root, tokens) {
  const open = [root];
  for (const token of tokens) {
    const { type, tag, nesting, content, hidden } = token;
    if (nesting < 0) {
      if (!hidden) open.pop();
    } else if (nesting > 0) {
      if (hidden) continue;
      const start = tag === "ol" && { start: token.attrGet("start") ?? 1 };
      const node = el(TAGS[tag] ?? tag, { ...start, ...(tag[0] === "h" && TAGS[tag] && { class: "heading" }), ...(/^t[hd]$/.test(tag) && { class: "text", ...(tag === "th" && { scope: "col" }) }) });
      open.at(-1).append(tag === "table" ? el("div", { class: "table" }, node) : node);
      open.push(node);
    } else if (type === "inline") fill(open.at(-1), token.children);
    else if (type === "fence") open.at(-1).append(codeBlock(content.replace(/\n$/, ""), token.info.trim().split(/\s/)[0]));
    else if (type === "code_inline") open.at(-1).append(el("code", {}, content));
    else if (type === "formula") open.at(-1).append(formula(content, token.meta));
    else if (tag === "hr") open.at(-1).append(el("hr"));
    else open.at(-1).append(type.endsWith("break") ? "\n" : content);
  }
}

function codeBlock(code, language = "") {
  return el("pre", { class: "code", tabindex: "0", "aria-label": language ? `code, ${language}` : "code" }, el("code", {}, code));
}

/** A formula as an element, named by its source; the source as code if Temml cannot show it. */
function formula(source, isDisplayed) {
  const box = document.createElement("span");
  const deepest = (node) => 1 + Math.max(0, ...[...node.children].map(deepest));
  try {
    temml.render(source, box, { displayMode: isDisplayed, throwOnError: false, trust: false, errorColor: "inherit", maxSize: [20, 20], maxExpand: 200 });
    const node = box.querySelector("math");
    if (node && deepest(box) <= DEEPEST) {
      node.setAttribute("aria-label", source.trim());
      return node;
    }
  } catch {
    // too deep for the library's recursion
  }
  return el("code", {}, source);
}
