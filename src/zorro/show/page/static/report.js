// The report: reads the page's data, fills the overview, and opens what the address names.
"use strict";

(function () {
  const {summary, rows, details, failures, unreadable, labels} = JSON.parse(
    document.getElementById("data").textContent,
  );
  const wording = zorro.wording(labels, summary.kept);
  const byQuery = new Map(rows.map((row) => [row.query, row]));
  const address = (query) => `#${labels.level}=${query}`;
  const named = new RegExp(`^#${labels.level}=([^&]+)$`);
  const part = (id) => document.getElementById(id);
  const name = document.title;
  let table = null;
  let left = 0; // how far the overview was scrolled

  part("subject").textContent = summary.subject;
  part("made").textContent =
    `Made ${summary.made.slice(0, 10)} with zorro ${summary.versions.zorro}`;
  zorro.cards(part("cards"), {summary, wording});
  if (rows.length) {
    zorro.distributions(part("distributions"), {rows, summary, wording});
    table = zorro.table(part("table"), {
      rows,
      wording,
      hasTruth: summary.hasTruth,
      address,
      start: zorro.filtersIn(window.location.hash),
      onFilter: (wanted) =>
        window.history.replaceState(null, "", zorro.withFilters("#", wanted) || "#"),
    });
  } else {
    part("distributions").textContent = zorro.nothing(unreadable);
  }
  zorro.failures(part("failures"), {failures, wording});
  zorro.unreadableRows(part("unreadable"), {unreadable, wording});
  zorro.meaning(part("meaning"), {summary, wording});
  zorro.provenance(part("facts"), {summary, wording});
  window.addEventListener("hashchange", show);
  show();
  part("main").classList.remove("waiting");

  function show() {
    const found = named.exec(window.location.hash);
    const row = found ? byQuery.get(wording.level.read(found[1])) : undefined;
    if (row === undefined) close();
    else open(row);
  }

  function close() {
    part("overview").hidden = false;
    part("explanation").hidden = true;
    document.title = name;
    window.scrollTo(0, left);
  }

  function open(row) {
    if (!part("overview").hidden) left = window.scrollY;
    part("overview").hidden = true;
    part("explanation").hidden = false;
    document.title = `${wording.capital(wording.queryName(row.query))} – ${name}`;
    const heading = zorro.explanation(part("explanation"), {
      row,
      detail: details[row.query],
      summary,
      wording: wording.within(details[row.query]),
      links: {back: "#", query: address, ...beside(row.query)},
      isExplained: (query) => byQuery.has(query),
    });
    window.scrollTo(0, 0);
    heading.focus({preventScroll: true});
  }

  function beside(query) {
    const order = table.order();
    const at = order.indexOf(query);
    const link = (other) => (at < 0 || other === undefined ? null : address(other));
    return {previous: link(order[at - 1]), next: link(order[at + 1])};
  }
})();
