"use strict";

/* Packed data: base64 of zlib-compressed JSON. The index is one text; a store is chunks, each an array of records with
   one on each line. A chunk stands in a <script type="text/plain" data-store="NAME">, or in a script of the folder beside
   the page, and is unpacked when one of its records is asked for. */

const CHUNKS_KEPT = 48;
const SEARCHED_KEPT = 300_000_000; // characters that searches keep unpacked

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  return Uint8Array.from({ length: binary.length }, (_, i) => binary.charCodeAt(i));
}

async function unpack(base64) {
  const inflating = new DecompressionStream("deflate");
  const writer = inflating.writable.getWriter(); // a third of the time that Blob.stream().pipeThrough() takes
  writer.write(bytesOf(base64));
  writer.close();
  return new Response(inflating.readable).text();
}

function packedElements(name) {
  return [...document.querySelectorAll(`script[data-store="${name}"]`)];
}

const awaited = new Map(); // what to call with the content of a part that is being loaded

/** Receive a part from a script in the folder next to the page. */
function part(name, number, base64) {
  awaited.get(`${name}-${number}`)(base64);
}

function loadedPart(folder, name, number) {
  return new Promise((resolve, reject) => {
    const address = `${folder}/${name}-${number}.js`;
    awaited.set(`${name}-${number}`, resolve);
    const script = el("script", { src: encodeURI(address) });
    script.addEventListener("load", () => script.remove());
    script.addEventListener("error", () => reject(new Error(`${address} is missing; keep this file next to the page`)));
    document.head.append(script);
  });
}

class Store {
  /** @param name of the store; @param starts number of the first record of each chunk, ascending */
  constructor(name, starts) {
    this.name = name;
    this.elements = packedElements(name);
    this.starts = starts;
    this.decoded = new Map(); // chunk number → promise of its records, the most recently used last
    this.searched = new Map(); // chunk number → promise of its JSON in lower case
    this.kept = 0;
  }

  /** Return the JSON of a chunk in lower case, which stays unpacked for later searches as long as there is room. */
  inLowerCase(number) {
    if (this.searched.has(number)) return this.searched.get(number);
    const text = this.text(number).then((json) => json.toLowerCase());
    if (this.kept < SEARCHED_KEPT) this.searched.set(number, text);
    text.then(({ length }) => (this.kept += length));
    return text;
  }

  /** Return the JSON of a chunk. */
  async text(number) {
    const folder = document.documentElement.dataset.parts;
    return unpack(folder ? await loadedPart(folder, this.name, number) : this.elements[number].textContent);
  }

  chunk(number) {
    const records = this.decoded.get(number) ?? this.text(number).then(JSON.parse);
    this.decoded.delete(number);
    this.decoded.set(number, records);
    if (this.decoded.size > CHUNKS_KEPT) this.decoded.delete(this.decoded.keys().next().value);
    return records;
  }

  async record(number) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= number) low = middle;
      else high = middle - 1;
    }
    return (await this.chunk(low))[number - this.starts[low]];
  }

  /** Calls visit(number) for all records with a text in one of their strings, in any case; says after each chunk how
   *  far it is, and ends when stop() is true. */
  async search(query, visit, stop, progress) {
    const needle = JSON.stringify(query).slice(1, -1).toLowerCase();
    for (let chunk = 0; chunk < this.starts.length && !stop(); chunk++) {
      for (const line of linesWith(await this.inLowerCase(chunk), needle)) visit(this.starts[chunk] + line);
      progress((chunk + 1) / this.starts.length);
    }
  }
}

/** Return the numbers of the lines with a text, encoded as in JSON, in a string that is not the name of a field. */
function* linesWith(text, needle) {
  let [line, counted] = [0, 0];
  for (let at = text.indexOf(needle); at >= 0; ) {
    if (!isInValue(text, at, needle)) {
      at = text.indexOf(needle, at + 1);
      continue;
    }
    for (let end = text.indexOf("\n", counted); end >= 0 && end < at; end = text.indexOf("\n", counted)) {
      counted = end + 1;
      line++;
    }
    yield line;
    const next = text.indexOf("\n", at);
    at = next < 0 ? -1 : text.indexOf(needle, next);
  }
}

const OUTSIDE = /^[-+\d.,:[\]{}a-u]*$/; // what may stand in JSON outside of strings: numbers, null, true, false, brackets

function isInValue(text, at, needle) {
  if (isEscaped(text, at)) return false; // the n of a \n
  let end = text.indexOf('"', at + needle.length);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end < 0) return false;
  if (OUTSIDE.test(needle)) {
    let quotes = 0;
    for (let i = text.lastIndexOf("\n", at) + 1; i < at; i++) {
      if (text[i] === "\\") i++;
      else if (text[i] === '"') quotes++;
    }
    if (quotes % 2 === 0) return false;
  }
  return text[end + 1] !== ":";
}

function isEscaped(text, at) {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}
