"use strict";
(() => {
  // A rewrite to the clipboard. A page from the disk may not be given the clipboard's own interface.
  for (const button of document.querySelectorAll(".copy")) {
    const text = document.getElementById(button.dataset.copies);
    const say = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
    const select = () => {
      getSelection().selectAllChildren(text);
      say(document.execCommand("copy") ? "Copied" : "Selected");
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      if (navigator.clipboard) navigator.clipboard.writeText(text.innerText).then(() => say("Copied"), select);
      else select();
    });
  }

  // The evidence, rung by rung, on every plot.
  const steps = document.querySelector(".steps");
  if (!steps) return;
  const rungs = Array.from(steps.querySelectorAll("[data-step]"));
  const captions = Array.from(document.querySelectorAll("[data-caption]"));
  const main = document.getElementById("main");
  let timer = 0;
  const go = (place) => {
    rungs.forEach((rung, index) => rung.setAttribute("aria-pressed", String(index === place)));
    captions.forEach((caption, index) => { caption.hidden = index !== place; });
    main.dataset.step = rungs[place].dataset.step;
  };
  const at = () => rungs.findIndex((rung) => rung.getAttribute("aria-pressed") === "true");
  const play = () => {
    clearTimeout(timer);
    go((at() + 1) % rungs.length);
    if (at() < rungs.length - 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) timer = setTimeout(play, 1400);
  };
  rungs.forEach((rung, index) => rung.addEventListener("click", () => { clearTimeout(timer); go(index); }));
  steps.querySelector(".play").addEventListener("click", play);
  steps.hidden = false;
})();
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

  addEventListener("hashchange", () => { // a bar leads to its file, whatever was searched for
    const row = document.getElementById(location.hash.slice(1));
    if (row && row.hidden) { find.value = ""; show(); row.scrollIntoView({ block: "center" }); }
  });
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
