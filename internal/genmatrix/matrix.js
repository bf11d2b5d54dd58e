"use strict";
for (const matrix of document.querySelectorAll(".pawl-matrix")) {
  const search = matrix.querySelector(".pawl-search");
  const found = matrix.querySelector(".pawl-found");
  const keys = [...matrix.querySelectorAll(".pawl-key")];
  const rows = [...matrix.querySelectorAll(".pawl-scroll tbody tr")];
  const heads = [...matrix.querySelectorAll(".pawl-scroll thead th")].slice(1);
  const cells = rows.map((row) => [...row.querySelectorAll("td")]);
  const fold = (text) => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
  const texts = cells.map((line, i) => line.map((cell, j) =>
    fold([rows[i].querySelector("th").textContent, heads[j].textContent, cell.textContent].join(" "))));

  const apply = () => {
    const words = fold(search.value).split(" ").filter(Boolean);
    const kinds = keys.filter((key) => key.getAttribute("aria-pressed") === "true").map((key) => key.dataset.kind);
    const any = words.length > 0 || kinds.length > 0;
    const columns = heads.map(() => false);
    let count = 0;
    cells.forEach((line, i) => {
      let shown = false;
      line.forEach((cell, j) => {
        const fits = words.every((word) => texts[i][j].includes(word)) && (kinds.length === 0 || kinds.includes(cell.dataset.kind));
        cell.classList.toggle("pawl-off", !fits);
        if (fits) { shown = true; columns[j] = true; count++; }
      });
      rows[i].hidden = !shown;
    });
    if (count === 0) columns.fill(true);
    heads.forEach((head, j) => { head.hidden = !columns[j]; });
    cells.forEach((line) => line.forEach((cell, j) => { cell.hidden = !columns[j]; }));
    found.textContent = any ? found.dataset.text.replace("#", count) : "";
  };

  search.hidden = false;
  search.addEventListener("input", apply);
  for (const key of keys) {
    key.disabled = false;
    key.setAttribute("aria-pressed", "false");
    key.addEventListener("click", () => {
      key.setAttribute("aria-pressed", key.getAttribute("aria-pressed") === "true" ? "false" : "true");
      apply();
    });
  }
  matrix.addEventListener("mouseover", (event) => {
    const cell = event.target.closest("td");
    const at = cell ? cell.cellIndex - 1 : -1;
    heads.forEach((head, j) => head.classList.toggle("pawl-lit", j === at));
  });
  apply();
}
