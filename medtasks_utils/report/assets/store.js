/* Packed data: base64 of zlib-compressed JSON. The index is one text; a store is chunks, each an array of records. A chunk
   stands in a <script type="text/plain" data-store="NAME">, or in a script of the folder beside the page, and is unpacked
   when one of its records is asked for. */

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

const packedElements = (name) => [...document.querySelectorAll(`script[data-store="${name}"]`)];

const parsed = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve)); // all chunks are there

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
    this.starts = starts;
    /** @type {Element[] | undefined} */
    this.elements = undefined;
    this.decoded = []; // by chunk number, a promise of its records
  }

  /** Return the JSON of a chunk. */
  async text(number) {
    const folder = document.documentElement.dataset.parts;
    if (!folder) await parsed;
    this.elements ??= packedElements(this.name);
    return unpack(folder ? await loadedPart(folder, this.name, number) : this.elements[number].textContent);
  }

  async record(number) {
    const chunk = this.starts.findLastIndex((start) => start <= number);
    this.decoded[chunk] ??= this.text(chunk).then(JSON.parse);
    return (await this.decoded[chunk])[number - this.starts[chunk]];
  }

  /** Call visit(number) for all records with a text in one of their strings, in any case; end when stop() is true. */
  async search(query, visit, stop) {
    const needle = JSON.stringify(query).slice(1, -1).toLowerCase();
    for (let chunk = 0; chunk < this.starts.length && !stop(); chunk++) {
      const text = (await this.text(chunk)).toLowerCase();
      if (text.includes(needle)) JSON.parse(text).forEach((record, i) => hasText(record, query) && visit(this.starts[chunk] + i));
    }
  }
}

/** Return whether a text occurs in a string of a value, names of fields aside. */
function hasText(value, text) {
  if (typeof value === "string") return value.includes(text);
  return typeof value === "object" && value !== null && Object.values(value).some((each) => hasText(each, text));
}
