"use strict";

/* Packed data. Each <script type="text/plain" data-store="NAME"> holds base64 of zlib-compressed JSON: one array of
   records for a chunk of a store, or the index as a whole. A chunk is decoded when one of its records is asked for. */

const CHUNKS_KEPT = 48;

async function unpack(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function packedElements(name) {
  return [...document.querySelectorAll(`script[data-store="${name}"]`)];
}

class Store {
  /** @param name of the store; @param starts number of the first record of each chunk, ascending */
  constructor(name, starts) {
    this.elements = packedElements(name);
    this.starts = starts;
    this.decoded = new Map(); // chunk number → promise of its records, the most recently used last
  }

  chunk(number) {
    const records = this.decoded.get(number) ?? unpack(this.elements[number].textContent);
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

  /** Calls visit(number, record) for all records, chunk after chunk, until stop() is true. */
  async forEach(visit, stop) {
    for (let chunk = 0; chunk < this.elements.length && !stop(); chunk++) {
      const records = await this.chunk(chunk);
      records.forEach((record, offset) => visit(this.starts[chunk] + offset, record));
    }
  }
}
