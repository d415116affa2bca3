"use strict";

/* Tables that can be sorted by any column and saved as CSV. Rows that sum up the others stay at the end. */

/** What a cell says, without its small print. */
function cellText(cell) {
  return (cell.querySelector(".value") ?? cell).textContent.trim();
}

/** A cell's number; NaN for text. */
function cellNumber(cell) {
  const text = cellText(cell).replaceAll(",", "").replace("−", "-").replace(/^<\s*/, "");
  return text === "" ? NaN : parseFloat(text);
}

function compareCells(a, b, isText) {
  return isText ? cellText(a).localeCompare(cellText(b), "en", { numeric: true }) : cellNumber(a) - cellNumber(b);
}

/** Sort by a column: text upwards first, numbers downwards first, then the other way, then as it was. */
function sortBy(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const isText = head.classList.contains("text");
  const orders = isText ? ["ascending", "descending", "none"] : ["descending", "ascending", "none"];
  const order = orders[(orders.indexOf(head.ariaSort ?? "none") + 1) % 3];
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  if (order !== "none") head.ariaSort = order;
  const body = table.tBodies[0];
  table.inOrder ??= [...body.rows];
  const sign = order === "descending" ? -1 : 1;
  const isEmpty = (row) => (isText ? cellText(row.cells[column]) === "" : Number.isNaN(cellNumber(row.cells[column])));
  const rows = [...table.inOrder];
  if (order !== "none") {
    rows.sort((a, b) => {
      const last = a.matches(".total") - b.matches(".total") || isEmpty(a) - isEmpty(b);
      return last || (isEmpty(a) ? 0 : sign * compareCells(a.cells[column], b.cells[column], isText));
    });
  }
  table.classList.toggle("sorted", order !== "none");
  body.append(...rows);
}

/** What a cell says, apart: {value, low, high, n, signature, note}; numbers as spreadsheets take them. */
function cellParts(cell) {
  const plain = (text) => text.replaceAll(",", "").replace("−", "-").replace(/^\+/, "");
  const text = cellText(cell);
  const [, below, value, star] = /^(<\s*)?([+−-]?[\d,]+(?:\.\d+)?)( \*)?$/.exec(text) ?? [];
  const code = cell.querySelector("code")?.textContent.trim();
  const parts = { value: value === undefined ? (text === code ? "" : text) : plain(value), signature: code };
  const notes = [below && "below", star && "significant"];
  for (const line of [...cell.querySelectorAll(".small:not(code)")].map((small) => small.textContent.trim())) {
    const ends = /^([+−-]?[\d.,]+) to ([+−-]?[\d.,]+)$/.exec(line);
    const count = /^n ([\d,]+)$/.exec(line);
    if (ends) [parts.low, parts.high] = ends.slice(1).map(plain);
    else if (count) parts.n = plain(count[1]);
    else notes.push(line);
  }
  parts.note = notes.filter(Boolean).join("; ");
  return parts;
}

/** A table as CSV: a column for each, and further ones for the interval, n, the signature and small print it has. */
function csvOf(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(cellParts));
  const heads = [...table.tHead.rows[0].cells].map((cell) => cellText(cell));
  const columns = heads.flatMap((head, place) =>
    ["value", "low", "high", "n", "signature", "note"]
      .filter((name) => name === "value" || rows.some((cells) => cells[place][name]))
      .map((name) => ({ place, name, head: name === "value" ? head : `${head || "row"} ${name}` })),
  );
  const lines = [columns.map(({ head }) => head), ...rows.map((cells) => columns.map(({ place, name }) => cells[place][name] ?? ""))];
  return `${lines.map((values) => values.map(quoted).join(",")).join("\r\n")}\r\n`;
}

/** A field of CSV; text that a spreadsheet would take for a formula is set apart from one. */
function quoted(text) {
  const safe = /^[=@+\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function download(name, texts, type = "text/csv") {
  const address = URL.createObjectURL(new Blob(type === "text/csv" ? ["\ufeff", ...texts] : texts, { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function bindTable(box) {
  const table = box.querySelector("table");
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    // no real button: with one in it, a head is not repeated on the pages of a printed table
    const sorter = el("span", { role: "button", tabindex: "0", class: "sort", onclick: () => sortBy(table, column) });
    sorter.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sortBy(table, column);
    });
    sorter.append(...cell.childNodes);
    if (!sorter.textContent.trim()) sorter.setAttribute("aria-label", "sort by the first column");
    cell.append(sorter);
  });
  const [first, second] = table.tHead.rows[0].cells;
  if (second?.classList.contains("text")) {
    box.classList.add("two");
    new ResizeObserver(() => box.style.setProperty("--first", `${first.offsetWidth}px`)).observe(first);
  }
  const name = table.caption.textContent.trim().replace(/[^\w.-]+/g, "-").slice(0, 80);
  table.caption.firstElementChild.append(button("CSV", () => download(`${name}.csv`, [csvOf(table)]), { class: "csv", title: "Download this table as CSV" }));
}
