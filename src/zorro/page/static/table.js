// All explanations, to be sorted and filtered; each row leads to its explanation.
"use strict";
window.zorro = window.zorro || {};

zorro.table = function (container, {rows, wording, hasTruth}) {
  const pageSize = 100;
  const columns = [
    {key: "node", name: wording.capital(wording.node), number: !wording.hasNodeNames, kind: wording.hasNodeNames ? "named" : "", text: (row) => wording.nodeLabel(row.node)},
    {key: "class", name: "Predicted", kind: "predicted", sortBy: (row) => wording.className(row.class)},
    ...(hasTruth ? [{key: "truth", name: "True", optional: true, sortBy: (row) => wording.className(row.truth)}] : []),
    {key: "probability", name: "p", title: "The model's probability of its answer", number: true, optional: true, text: (row) => zorro.share(row.probability)},
    {key: "nodes", name: wording.capital(wording.nodes), number: true, text: (row) => zorro.number(row.nodes)},
    {key: "features", name: wording.capital(wording.features), number: true, text: (row) => zorro.number(row.features)},
    {key: "fidelity", name: "Fidelity", number: true, optional: true, text: (row) => zorro.share(row.fidelity)},
    {key: "status", name: "Status", kind: "status", optional: true},
  ];
  const state = {sort: null, descending: false, shown: pageSize, filters: {}};
  const root = d3.select(container);
  const form = root.append("form").attr("class", "filters").attr("aria-label", "Filter")
    .on("submit", (event) => event.preventDefault());
  filters();
  const said = root.append("p").attr("class", "muted count").attr("role", "status");
  const table = root.append("div").attr("class", "scroll-wide").append("table").attr("class", "rows");
  const head = table.append("thead").append("tr");
  const body = table.append("tbody");
  const more = root.append("button").attr("type", "button").attr("class", "more").text("Show more")
    .on("click", () => {
      state.shown += pageSize;
      update();
    });
  head.selectAll("th").data(columns).join("th")
    .attr("scope", "col").attr("class", classes)
    .append("button").attr("type", "button").attr("title", (column) => column.title ?? null)
    .on("click", (_, column) => {
      state.descending = state.sort === column ? !state.descending : false;
      state.sort = column;
      update();
    })
    .text((column) => column.name);
  update();
  return {order: () => chosen().map((row) => row.node)};

  function filters() {
    const field = (name) => {
      const label = form.append("label");
      label.append("span").text(name);
      return label;
    };
    const set = (key, value) => {
      state.filters[key] = value;
      state.shown = pageSize;
      update();
    };
    const choice = (key, name, options) => {
      field(name).append("select").attr("name", key)
        .on("change", (event) => set(key, event.target.value))
        .selectAll("option").data([["", "all"], ...options]).join("option")
        .attr("value", ([value]) => value).text(([, text]) => text);
    };
    const limit = (key, name) => {
      field(name).append("input").attr("name", key).attr("type", "number").attr("min", 0).attr("inputmode", "numeric").attr("placeholder", "any")
        .on("input", (event) => set(key, event.target.value));
    };
    field(`Find a ${wording.node}`).append("input").attr("name", "find").attr("type", "search").attr("placeholder", "id or name")
      .on("input", (event) => set("find", event.target.value.trim().toLowerCase()));
    const named = new Map(rows.map((row) => [row.class, wording.className(row.class)]));
    choice("class", "Predicted", d3.sort(named, ([, name]) => name).map(([number, name]) => [String(number), name]));
    if (hasTruth) choice("answer", "The answer is", [["right", "right"], ["wrong", "wrong"]]);
    choice("status", "Status", d3.sort(new Set(rows.map(zorro.statusName))).map((status) => [status, status]));
    limit("nodes", `${wording.capital(wording.nodes)} up to`);
    limit("features", `${wording.capital(wording.features)} up to`);
  }

  function passes(row) {
    const wanted = state.filters;
    return (!wanted.find || String(row.node).includes(wanted.find) || wording.nodeLabel(row.node).toLowerCase().includes(wanted.find))
      && (!wanted.class || String(row.class) === wanted.class)
      && (!wanted.answer || (row.truth === row.class) === (wanted.answer === "right"))
      && (!wanted.status || zorro.statusName(row) === wanted.status)
      && (!wanted.nodes || row.nodes <= Number(wanted.nodes))
      && (!wanted.features || row.features <= Number(wanted.features));
  }

  function chosen() {
    const kept = rows.filter(passes);
    if (state.sort === null) return kept;
    const by = state.sort.sortBy ?? ((row) => row[state.sort.key]);
    const order = (one, other) => d3.ascending(by(one), by(other)) * (state.descending ? -1 : 1);
    return kept.sort(order);
  }

  function update() {
    const kept = chosen();
    head.selectAll("th").attr("aria-sort", (column) => (
      state.sort !== column ? null : state.descending ? "descending" : "ascending"
    ));
    said.text(kept.length === rows.length ? `${zorro.number(rows.length)} explanations` : `${zorro.number(kept.length)} of ${zorro.number(rows.length)} explanations`);
    body.selectAll("tr").data(kept.slice(0, state.shown), (row) => row.node)
      .join((enter) => enter.append("tr").attr("data-node", (row) => row.node).on("click", open).each(fill))
      .order();
    more.property("hidden", kept.length <= state.shown);
  }

  function fill(row) {
    for (const column of columns) {
      const cell = d3.select(this).append("td").attr("class", classes(column));
      if (column.key === "node") cell.append("a").attr("href", `#node=${row.node}`).text(column.text(row));
      else if (column.key === "class") predicted(cell, row);
      else if (column.key === "truth") cell.text(row.truth === row.class ? "same" : wording.className(row.truth)).classed("muted", row.truth === row.class);
      else if (column.key === "status") zorro.badge(cell, row);
      else cell.text(column.text(row));
    }
  }

  function predicted(cell, row) {
    zorro.classChip(cell, row.class, wording);
    if (!hasTruth) return;
    const isRight = row.truth === row.class;
    cell.append("span").attr("class", isRight ? "right" : "wrong").attr("role", "img")
      .attr("aria-label", isRight ? "right" : "wrong").text(isRight ? "✓" : "✗");
  }

  function open(event, row) {
    if (!event.target.closest("a") && !String(window.getSelection())) window.location.hash = `node=${row.node}`;
  }

  function classes(column) {
    const names = [column.kind, column.number ? "number" : "", column.optional ? "optional" : ""];
    return names.filter(Boolean).join(" ") || null;
  }
};

zorro.classChip = function (parent, number, wording) {
  const chip = parent.append("span").attr("class", "chip");
  chip.append("span").attr("class", `swatch class shape-${wording.shape(number)}`).attr("aria-hidden", "true").style("background", wording.colour(number));
  chip.append("span").text(wording.className(number));
  return chip;
};

zorro.badge = function (parent, row) {
  return parent.append("span").attr("class", `badge ${row.certified ? "good" : "open"}`).text(zorro.statusName(row));
};
