/* A board of more than 60 runs shows the first 40 of its order, or those whose names a search finds. */

const FIRST_ROWS = 40;

document.addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll(".board-frame")) {
    const rows = () => [...frame.querySelectorAll(".board tbody tr:not(.sep)")];
    if (rows().length <= 60) continue;
    const search = el("input", { type: "search", "aria-label": "Search runs by name", placeholder: `Search ${rows().length} runs` });
    const show = () => rows().forEach((row, place) => (row.hidden = search.value ? !row.cells[0].textContent.toLowerCase().includes(search.value.toLowerCase()) : place >= FIRST_ROWS));
    for (const event of ["input", "click"]) frame.addEventListener(event, show); // a click may have sorted by a column
    frame.prepend(search, el("p", { class: "note" }, `The first ${FIRST_ROWS} are shown, or those that a search finds.`));
    show();
  }
});
