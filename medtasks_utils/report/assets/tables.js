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

/** A table as CSV: a column for each, and one more for small print such as intervals where there is any. */
function csvOf(table) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const small = (cell) => [...cell.querySelectorAll(".small")].map((line) => line.textContent.trim()).join("; ");
  const withSmall = heads.map((_, column) => rows.some((row) => small(row.cells[column])));
  const line = (values) => values.flatMap(([text, more], column) => (withSmall[column] ? [text, more] : [text])).map(quoted).join(",");
  const lines = [line(heads.map((head) => [head, `${head || "row"}, details`]))];
  for (const row of rows) lines.push(line([...row.cells].map((cell) => [cellText(cell).replace("−", "-"), small(cell)])));
  return lines.join("\r\n") + "\r\n";
}

/** A field of CSV; text that a spreadsheet would take for a formula is set apart from one. */
function quoted(text) {
  const safe = /^[=@+\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function bindTables() {
  for (const box of document.querySelectorAll("main .table")) {
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
    table.caption.firstElementChild.append(button("CSV", () => download(`${name}.csv`, csvOf(table)), { class: "csv", title: "Download this table as CSV" }));
  }
}
