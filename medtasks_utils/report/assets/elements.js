/* Helpers that create elements. Text from data and models becomes text nodes only, through visible(). */

/** Spell out characters that affect the text around them (controls, direction overrides). */
function visible(text) {
  return String(text)
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\r\n?/g, "\n")
    .replace(/[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, (c) => {
      return `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
    });
}

/** Create an element; children that are not nodes become text, and null, undefined and false are skipped. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child !== false && child !== undefined && child !== null && child !== "").map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);

const fillers = new WeakMap(); // what creates the content of a folded part

/** Create a folded part whose content is created when it is unfolded. */
function folded(title, make, attributes = {}) {
  const fold = el("details", attributes, el("summary", {}, title));
  fillers.set(fold, () => fold.children.length > 1 || fold.append(...[make()].flat().filter(Boolean)));
  fold.addEventListener("toggle", () => fillFold(fold));
  if (fold.open) fillFold(fold);
  return fold;
}

function fillFold(fold) {
  fillers.get(fold)?.();
}

const grouped = (number) => number.toLocaleString("en-US");
const words = (name) => String(name).replaceAll("_", " ");

/** Capitalise the first letter of a text. */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function asText(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((part) => typeof part?.text === "string")) {
    return value.map((part) => part.text).join("\n");
  }
  return JSON.stringify(value, null, 1);
}

/** Show any JSON value as nested lists. */
function anything(value) {
  if (value === null || value === undefined || value === "") return el("span", { class: "note" }, "–");
  if (typeof value === "number") return el("span", {}, Number.isInteger(value) ? value : value.toFixed(Math.abs(value) < 10 ? 3 : 1));
  if (typeof value !== "object") return el("span", {}, value);
  if (Array.isArray(value)) {
    if (!value.length) return el("span", { class: "note" }, "none");
    return el("ol", {}, value.map((item) => el("li", {}, anything(item))));
  }
  return el("dl", {}, Object.entries(value).flatMap(([name, item]) => [el("dt", {}, words(name)), el("dd", {}, anything(item))]));
}

const BOXES = { right: ["✓", "Right"], wrong: ["✗", "Wrong"], partly: ["◐", "Right in some generations"], none: ["–", "No answer"], unscored: ["·", "Not scored"] };

/** Create the box that says how a reply ended. */
function box(verdict, of = "") {
  const [sign, word] = BOXES[verdict];
  const title = of ? `${of}: ${word}` : word;
  return el("span", { class: `box ${verdict}`, role: "img", "aria-label": title, title }, sign);
}

/** A text as a cell of a CSV; what a spreadsheet would take for a formula is set apart by an apostrophe. */
function csvCell(text) {
  const safe = /^[=@+\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csv = (rows) => rows.map((row) => `${row.map((value) => csvCell(String(value ?? ""))).join(",")}\r\n`).join("");

/** Save a CSV as a file. */
function download(name, text) {
  const blob = new Blob(["\ufeff", text], { type: "text/csv" });
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
