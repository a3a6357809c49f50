"use strict";
(() => {
  const find = document.getElementById("find");
  if (!find) return;
  const body = document.getElementById("file-table").tBodies[0];
  const rows = Array.from(body.rows);
  const texts = rows.map((row) => Array.from(row.cells, (cell) => cell.innerText).join(" ").toLowerCase());
  const found = document.getElementById("found");
  const none = document.getElementById("none");

  const show = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      row.hidden = !wanted.every((word) => texts[index].includes(word));
      if (!row.hidden) count += 1;
    });
    found.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    none.hidden = count > 0;
  };

  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.querySelector("data");
    return value ? Number(value.value) : cell.innerText;
  };

  const sort = (head) => {
    const column = head.cellIndex;
    const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [key(row, column), row]);
    keyed.sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0));
    body.append(...keyed.map(([, row]) => row));
  };

  find.addEventListener("input", show);
  find.form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { find.value = ""; show(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== find && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find.focus();
    }
  });
  for (const button of document.querySelectorAll("#file-table th button")) {
    button.addEventListener("click", () => sort(button.parentElement));
  }
  show();
})();
