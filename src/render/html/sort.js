// Sorting and finding rows. Everything on the page is there without this.
"use strict";
for (const table of document.querySelectorAll("table.rows")) {
  const body = table.tBodies[0], rows = [...body.rows];
  // A number where the cell has one, else its text; cells with neither sort last either way.
  const key = (row, i) => {
    const cell = row.cells[i];
    if (!cell) return null;
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.dataset.none !== undefined ? null : cell.textContent.trim();
  };
  const names = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      let order = rows;
      if (was !== "descending") {
        const sign = was === "ascending" ? -1 : 1;
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const keyed = rows.map((row, at) => [key(row, i), at, row]);
        keyed.sort((a, b) => {
          if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null) || a[1] - b[1];
          return sign * compare(a[0], b[0]) || a[1] - b[1];
        });
        order = keyed.map((k) => k[2]);
      }
      body.append(...order);
    });
  });
  if (rows.length > 12) {
    const find = document.createElement("input");
    find.type = "search";
    find.className = "find";
    find.placeholder = "find in " + rows.length + " rows";
    find.setAttribute("aria-label", "show only rows that contain");
    const texts = rows.map((row) => row.textContent.toLowerCase());
    find.addEventListener("input", () => {
      const wanted = find.value.toLowerCase();
      rows.forEach((row, i) => { row.hidden = !texts[i].includes(wanted); });
    });
    table.closest(".wide").before(find);
  }
}
