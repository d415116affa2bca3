/* A board of more than 60 runs shows the first 40 of its order, or those whose names a search finds. */

const MOST_ROWS = 60;
const FIRST_ROWS = 40;

document.addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll(".board-frame")) {
    const rows = () => [...frame.querySelectorAll(".board tbody tr:not(.sep)")];
    const { length } = rows();
    if (length <= MOST_ROWS) continue;
    const search = el("input", { type: "search", "aria-label": "Search runs by name", placeholder: `Search ${length} runs; ${FIRST_ROWS} are shown` });
    const show = () => rows().forEach((row, place) => (row.hidden = search.value ? !row.cells[0].textContent.toLowerCase().includes(search.value.toLowerCase()) : place >= FIRST_ROWS));
    search.addEventListener("input", show);
    frame.addEventListener("click", show); // a column may have been sorted
    frame.prepend(search);
    show();
  }
});
