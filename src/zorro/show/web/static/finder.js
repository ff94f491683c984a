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

// count: how many queries there are; names: of some of them, by number.
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
    .attr("placeholder", `Any ${wording.query}: ${wording.hasQueryNames ? "id or name" : "number"}`)
    .on("input", () => said.text(""));
  form.append("button").attr("class", "plain").text("Open");
  const said = form
    .append("p")
    .attr("id", "finder-said")
    .attr("class", "small said")
    .attr("role", "status");

  function find(text) {
    if (!text) return;
    const isNumber = /^\d{1,15}$/.test(text);
    if (isNumber && Number(text) < count) return open(Number(text));
    const named = Object.entries(names);
    const wanted = text.toLowerCase();
    const found =
      named.find(([, name]) => name.toLowerCase() === wanted) ??
      named.find(([, name]) => name.toLowerCase().includes(wanted));
    if (found) return open(Number(found[0]));
    said.text(
      isNumber
        ? `There is no ${wording.query} ${text}: they go from 0 to ${zorro.number(count - 1)}.`
        : `No ${wording.query} with this name is known.`,
    );
  }

  function open(query) {
    input.property("value", "");
    onQuery(query);
  }
};
