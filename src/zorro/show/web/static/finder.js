// A choice of the run, and a box to open any query of its data set.
"use strict";
window.zorro = window.zorro || {};

// runs: [{id, name, reason}], the reason why it cannot be read if so; run: the one that is open.
zorro.runChoice = function (container, {runs, run, onRun}) {
  const root = d3.select(container);
  root.selectAll("*").remove();
  if (runs.length < 2) return;
  const label = root.append("label").attr("class", "inline");
  label.append("span").text("Run");
  label
    .append("select")
    .attr("name", "run")
    .on("change", (event) => onRun(event.target.value))
    .selectAll("option")
    .data(runs)
    .join("option")
    .attr("value", (one) => one.id)
    .property("selected", (one) => one.id === run)
    .text((one) => (one.reason ? `${one.name} (cannot be read)` : one.name));
};

// count: how many nodes or graphs there are; names: of some of them, by number.
zorro.finder = function (container, {count, names, wording, onQuery}) {
  const root = d3.select(container);
  const form = root
    .append("form")
    .attr("class", "finder")
    .attr("role", "search")
    .on("submit", (event) => {
      event.preventDefault();
      find(input.property("value").trim());
    });
  const input = form
    .append("input")
    .attr("type", "search")
    .attr("name", "query")
    .attr("autocomplete", "off")
    .attr("aria-label", `Open any ${wording.query}`)
    .attr("aria-describedby", "finder-said")
    .attr("placeholder", `Any ${wording.query}: ${wording.queryHint}`)
    .on("input", () => said.text(""));
  form.append("button").attr("class", "plain").text("Open");
  const said = form
    .append("p")
    .attr("id", "finder-said")
    .attr("class", "small said")
    .attr("role", "status");

  function find(text) {
    if (!text) return;
    const id = wording.level.read(text);
    if (id !== null && wording.level.exists(id, count)) return open(id);
    const named = Object.entries(names);
    const wanted = text.toLowerCase();
    const found =
      named.find(([, name]) => name.toLowerCase() === wanted) ??
      named.find(([, name]) => name.toLowerCase().includes(wanted));
    if (found) return open(Number(found[0]));
    said.text(
      id === null
        ? `No ${wording.query} with this name is known.`
        : `There is no ${wording.query} ${text}: they go ${wording.level.range(wording, count)}.`,
    );
  }

  function open(query) {
    input.property("value", "");
    onQuery(query);
  }
};
