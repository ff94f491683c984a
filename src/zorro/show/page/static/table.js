// All explanations, to be sorted and filtered; each row leads to its explanation.
"use strict";
window.zorro = window.zorro || {};

// address(query): of an explanation, within the page.
// Returns {order, restrict}: the queries as they are sorted and filtered now, and what shows only
// some of them, or all again if given null.
zorro.table = function (
  container,
  {rows, wording, hasTruth, address, start = {}, onFilter = () => {}},
) {
  const pageSize = 100;
  const columns = columnsOf(wording, hasTruth);
  const state = {sort: null, descending: false, shown: pageSize, only: null};
  const root = d3.select(container);
  const passes = zorro.filters(container, {
    rows,
    wording,
    hasTruth,
    start,
    onChange: (wanted) => {
      state.shown = pageSize;
      update();
      onFilter(wanted);
    },
  });
  const bar = root.append("div").attr("class", "above-rows");
  const said = bar.append("p").attr("class", "muted count").attr("role", "status");
  bar
    .append("button")
    .attr("type", "button")
    .attr("class", "plain csv")
    .text("Save as CSV")
    .on("click", () => zorro.saveRows(chosen(), wording));
  const frame = root.append("div").attr("class", "frame");
  const table = frame.append("table").attr("class", "rows");
  const head = table.append("thead").append("tr");
  const body = table.append("tbody");
  const more = root
    .append("button")
    .attr("type", "button")
    .attr("class", "more")
    .text("Show more")
    .on("click", () => {
      state.shown += pageSize;
      update();
    });
  head
    .selectAll("th")
    .data(columns)
    .join("th")
    .attr("scope", "col")
    .attr("class", (column) => column.kind)
    .append("button")
    .attr("type", "button")
    .attr("title", (column) => column.title ?? null)
    .on("click", (_, column) => {
      state.descending = state.sort === column ? !state.descending : false;
      state.sort = column;
      update();
    })
    .text((column) => column.name);
  update();
  return {order: () => chosen().map((row) => row.query), restrict};

  function restrict(queries) {
    state.only = queries && new Set(queries);
    state.shown = pageSize;
    update();
  }

  function chosen() {
    const kept = rows.filter((row) => passes(row) && (!state.only || state.only.has(row.query)));
    if (state.sort === null) return kept;
    const order = state.descending ? d3.descending : d3.ascending;
    return d3.sort(kept, (one, other) => order(state.sort.by(one), state.sort.by(other)));
  }

  function update() {
    const kept = chosen();
    head
      .selectAll("th")
      .attr("aria-sort", (column) =>
        state.sort !== column ? null : state.descending ? "descending" : "ascending",
      );
    const all = `${zorro.number(rows.length)} explanations`;
    said.text(kept.length === rows.length ? all : `${zorro.number(kept.length)} of ${all}`);
    body
      .selectAll("tr")
      .data(kept.slice(0, state.shown), (row) => row.query)
      .join((enter) =>
        enter
          .append("tr")
          .attr("data-query", (row) => row.query)
          .on("click", open)
          .each(fill),
      )
      .order();
    more.property("hidden", kept.length <= state.shown);
  }

  function fill(row) {
    for (const column of columns) {
      column.fill(d3.select(this).append("td").attr("class", column.kind), row);
    }
  }

  // The whole row is a target for the pointer; the keyboard has the link in it.
  function open(event, row) {
    const isOther = event.target.closest("a") || String(window.getSelection());
    if (!isOther) window.location.hash = address(row.query);
  }

  function columnsOf(words, withTruth) {
    const number = (key, name, write, kind) => ({
      name,
      kind: `number ${kind}`,
      by: (row) => row[key],
      fill: (cell, row) => cell.text(write(row[key])),
    });
    return [
      {
        name: words.capital(words.query),
        kind: words.queryColumn,
        by: (row) => words.queryOrder(row.query),
        fill: (cell, row) =>
          zorro.middle(
            cell.append("a").attr("href", address(row.query)),
            words.queryLabel(row.query),
          ),
      },
      ...words.answer.columns(words, withTruth),
      ...words.kept.map(({key, nouns}) => number(key, words.capital(nouns), zorro.number, "")),
      {
        name: "Fidelity",
        kind: "number optional",
        by: (row) => row.bound ?? row.fidelity,
        fill: (cell, row) =>
          cell
            .attr("title", `estimated ${zorro.share(row.fidelity)}`)
            .text(row.bound === null ? zorro.share(row.fidelity) : zorro.atLeast(row.bound)),
      },
      {
        name: "Status",
        kind: "status optional",
        by: zorro.statusName,
        fill: zorro.badge,
      },
    ];
  }
};
