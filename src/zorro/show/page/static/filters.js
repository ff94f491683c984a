// A form that says which rows are wanted.
"use strict";
window.zorro = window.zorro || {};

// What is wanted, as an address tells it: #only.class=2&only.find=…
zorro.filtersIn = function (hash) {
  const said = [...new URLSearchParams(hash.replace(/^#/, ""))];
  const own = said.filter(([name]) => name.startsWith("only."));
  return Object.fromEntries(own.map(([name, value]) => [name.slice("only.".length), value]));
};

// An address with what is wanted behind what it says already.
zorro.withFilters = function (hash, wanted) {
  const said = Object.entries(wanted).map(([name, value]) => [`only.${name}`, value]);
  const text = String(new URLSearchParams(said));
  return [hash.replace(/^#$/, ""), text].filter(Boolean).join("&").replace(/^(?!#)(?=.)/, "#");
};

// start: what is wanted to begin with, by the fields' names. Returns a function that says of a row
// whether it passes; onChange(wanted) is called when that changes.
zorro.filters = function (container, {rows, wording, hasTruth, start = {}, onChange}) {
  const wanted = {...start};
  const form = d3
    .select(container)
    .append("form")
    .attr("class", "filters")
    .attr("aria-label", "Filter")
    .on("submit", (event) => event.preventDefault());

  input("find", `Find a ${wording.query}`, "search", wording.queryHint);
  const ofAnswers = wording.answer.filters(rows, wording, hasTruth);
  for (const {key, name, options, type} of ofAnswers) {
    if (options) choice(key, name, options);
    else input(key, name, type, "any").attr("step", "any");
  }
  const statuses = d3.sort(new Set(rows.map(zorro.statusName)));
  choice(
    "status",
    "Status",
    statuses.map((status) => [status, status]),
  );
  input("fidelity", "Fidelity at least", "number", "any").attr("min", 0).attr("max", 1).attr("step", "any");
  for (const {key, nouns} of wording.kept)
    input(key, `${wording.capital(nouns)} up to`, "number", "any").attr("min", 0);

  return function (row) {
    return (
      found(row) &&
      ofAnswers.every(({key, passes}) => !wanted[key] || passes(row, wanted[key])) &&
      (!wanted.status || zorro.statusName(row) === wanted.status) &&
      (!wanted.fidelity || (row.bound ?? row.fidelity) >= Number(wanted.fidelity)) &&
      wording.kept.every(({key}) => !wanted[key] || row[key] <= Number(wanted[key]))
    );
  };

  function found(row) {
    if (!wanted.find) return true;
    const text = wanted.find.trim().toLowerCase();
    return (
      String(row.query).includes(text) || wording.queryLabel(row.query).toLowerCase().includes(text)
    );
  }

  function set(event) {
    wanted[event.target.name] = event.target.value;
    onChange(Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== "")));
  }

  function field(name) {
    const label = form.append("label");
    label.append("span").text(name);
    return label;
  }

  function input(key, name, type, hint) {
    return field(name)
      .append("input")
      .attr("name", key)
      .attr("type", type)
      .attr("placeholder", hint)
      .property("value", wanted[key] ?? "")
      .on("input", set);
  }

  function choice(key, name, options) {
    field(name)
      .append("select")
      .attr("name", key)
      .on("change", set)
      .selectAll("option")
      .data([["", "all"], ...options])
      .join("option")
      .attr("value", ([value]) => value)
      .property("selected", ([value]) => String(value) === (wanted[key] ?? ""))
      .text(([, text]) => text);
  }
};
