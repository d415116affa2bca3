"use strict";

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

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat());
  return element;
}

function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

/** Create a folded part whose content is created when it is unfolded. */
function folded(title, make, attributes = {}) {
  const fold = el("details", attributes, el("summary", {}, title));
  fold.fill = () => fold.children.length > 1 || fold.append(...[make()].flat().filter(Boolean));
  fold.addEventListener("toggle", fold.fill);
  if (fold.open) fold.fill();
  return fold;
}

function grouped(number) {
  return number.toLocaleString("en-US");
}

function words(name) {
  return String(name).replaceAll("_", " ");
}

/** Capitalise the first letter of a text. */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function asText(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((part) => typeof part?.text === "string")) {
    return value.map((part) => part.text).join("\n");
  }
  return JSON.stringify(value, null, 1);
}

function number(value) {
  return Number.isNaN(value) ? "–" : Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

/** Show any JSON value as nested lists. */
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

/** Create a table whose cells are texts or nodes. */
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
