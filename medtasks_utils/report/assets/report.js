/* What the page does beyond showing its numbers: sorting by a column, and choosing the run of differences. */

/** Return the number in a cell, as the page writes it; the lowest one where there is none. */
function numberIn(cell) {
  const text = cell?.querySelector(".v")?.textContent ?? cell?.textContent ?? "";
  const found = text.replace("−", "-").replaceAll(",", "").match(/-?\d+(\.\d+)?/);
  return found ? Number(found[0]) : -Infinity;
}

/** Sort the rows of a table by a column, the largest first; again, the smallest first. */
function sortBy(head) {
  const place = [...head.parentElement.cells].indexOf(head);
  const sign = head.ariaSort === "descending" ? -1 : 1;
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "descending" : "ascending");
  for (const body of head.closest("table").tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("sep"));
    rows.sort((a, b) => sign * (numberIn(b.cells[place]) - numberIn(a.cells[place])));
    body.append(...rows);
  }
}

/** Let readers choose the run from which differences are shown, if there are differences from several. */
function addReferences() {
  for (const view of document.querySelectorAll("#compare .view")) {
    const tables = [...view.querySelectorAll("[data-reference]")];
    if (tables.length < 2) continue;
    const options = tables.map((table) => el("option", {}, table.dataset.reference));
    const select = el("select", { "aria-label": "The run from which differences are shown" }, options);
    select.addEventListener("change", () => tables.forEach((table, place) => (table.hidden = place !== select.selectedIndex)));
    view.querySelector(".reference").replaceChildren(select);
  }
}

// At once, since the page above the script is there; samples are still to come.
for (const head of document.querySelectorAll("th[data-sort]")) {
  head.append(button([...head.childNodes], () => sortBy(head), { class: "sort", title: "Sort by this column" }));
}
addReferences();
document.documentElement.dataset.ready = "true";
