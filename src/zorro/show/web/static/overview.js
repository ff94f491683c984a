// A run at a glance. Returns the table, null if nothing is explained.
"use strict";
window.zorro = window.zorro || {};

zorro.overview = function ({
  rows,
  failures,
  unreadable,
  summary,
  wording,
  address,
  start,
  onFilter,
}) {
  const part = (id) => document.getElementById(id);
  for (const id of ["cards", "distributions", "table", "facts"]) part(id).replaceChildren();
  zorro.cards(part("cards"), {summary, wording});
  zorro.failures(part("failures"), {failures, wording});
  zorro.unreadableRows(part("unreadable"), {unreadable, wording});
  zorro.meaning(part("meaning"), {summary, wording});
  zorro.provenance(part("facts"), {summary, wording});
  if (!rows.length) {
    part("distributions").textContent = zorro.nothing(unreadable);
    return null;
  }
  zorro.distributions(part("distributions"), {rows, summary, wording});
  const {hasTruth} = summary;
  return zorro.table(part("table"), {rows, wording, hasTruth, address, start, onFilter});
};
