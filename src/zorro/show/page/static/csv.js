// The rows of a table as a file for other tools.
"use strict";
window.zorro = window.zorro || {};

// A line of CSV: what could be read as more than one cell, or as a formula, is quoted.
zorro.csvLine = function (cells) {
  return cells
    .map((cell) => {
      const text = cell === null || cell === undefined ? "" : String(cell);
      const safe = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
      return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    })
    .join(",");
};

// All that the rows hold, with classes by their names too.
zorro.rowsAsCsv = function (rows, wording) {
  const keys = [...new Set(rows.flatMap(Object.keys))].filter((key) => key !== "rivals");
  const named = ["class", "truth"].filter((key) => keys.includes(key) && "class" in (rows[0] ?? {}));
  const head = [...keys, ...named.map((key) => `${key}_name`)];
  const lines = rows.map((row) => [
    ...keys.map((key) => row[key]),
    ...named.map((key) => (row[key] === null ? null : wording.className(row[key]))),
  ]);
  return `${[head, ...lines].map(zorro.csvLine).join("\n")}\n`;
};

zorro.saveRows = function (rows, wording) {
  const file = new Blob([zorro.rowsAsCsv(rows, wording)], {type: "text/csv"});
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "zorro-explanations.csv";
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
