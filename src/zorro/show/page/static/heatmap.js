// The kept values: a row per node, a column per feature, as a table that is coloured by value.
"use strict";
window.zorro = window.zorro || {};

// shown: {nodes, features, rows}; choice {hasNode, hasFeature, onNode, onFeature}, if given, makes
// the headings buttons that take a row or a column in or out; what cannot be chosen is null.
// Returns {update}, to be called when what is in has changed.
zorro.heatmap = function (
  container,
  {shown: {nodes, features, rows: values}, wording, caption, choice = {}},
) {
  const numbers = values.flat().filter((value) => typeof value === "number");
  const largest = d3.max(numbers, Math.abs) || 1;
  const isBinary = values.flat().every((value) => value === 0 || value === 1 || value === "");
  const shownFeatures = features.slice(0, values[0]?.length ?? 0);
  const how = `${wording.capital(wording.nodes)} in rows, ${wording.features} in columns.`;
  d3.select(container)
    .append("p")
    .attr("class", "muted small")
    .text(isBinary ? `${how} Filled cells are 1, empty ones 0.` : how);
  const scroll = d3
    .select(container)
    .append("div")
    .attr("class", "scroll")
    .attr("tabindex", 0)
    .attr("role", "region")
    .attr("aria-label", caption);
  const table = scroll.append("table").attr("class", `heatmap${isBinary ? " binary" : ""}`);
  table.append("caption").attr("class", "unseen").text(caption);

  const head = table.append("thead").append("tr");
  head.append("td");
  const columns = head.selectAll("th").data(shownFeatures).join("th").attr("scope", "col");
  named(heading(columns, choice.onFeature), wording.featureLabel, 17);

  const lines = table.append("tbody").selectAll("tr").data(values).join("tr");
  const starts = lines
    .append("th")
    .attr("scope", "row")
    .datum((_, at) => nodes[at]);
  named(choice.onNode ? heading(starts, choice.onNode) : starts, wording.nodeLabel, 23);
  const cells = lines
    .selectAll("td")
    .data((line) => line)
    .join("td")
    .attr("class", (value) =>
      value === "" ? "none" : value < 0 ? "low" : value > 0 ? "high" : "zero",
    )
    .style("--strength", (value) => (Math.abs(value) / largest || 0).toFixed(3))
    .text((value) => (isBinary && value === 0 ? "" : String(value)));

  const missing = [
    nodes.length > values.length ? wording.countedNodes(nodes.length - values.length) : null,
    features.length > shownFeatures.length
      ? wording.countedFeatures(features.length - shownFeatures.length)
      : null,
  ].filter(Boolean);
  if (missing.length) {
    d3.select(container)
      .append("p")
      .attr("class", "muted small")
      .text(`${missing.join(" and ")} more are not shown.`);
  }
  const update = () => {
    if (choice.onFeature) {
      columns.select("button").attr("aria-pressed", (id) => String(choice.hasFeature(id)));
      cells.classed("out", (_, at) => !choice.hasFeature(shownFeatures[at]));
    }
    if (choice.onNode) {
      starts.select("button").attr("aria-pressed", (id) => String(choice.hasNode(id)));
      lines.classed("out", (_, at) => !choice.hasNode(nodes[at]));
    }
  };
  update();
  return {update};

  // As long as there is room for: what the style sheet cut off would be the end, which tells.
  function named(cell, label, most) {
    cell.attr("title", label).text((id) => zorro.short(label(id), most));
  }

  function heading(cell, onClick) {
    if (!onClick) return cell.append("span");
    return cell
      .append("button")
      .attr("type", "button")
      .attr("class", "pick")
      .on("click", (_, id) => onClick(id));
  }
};
