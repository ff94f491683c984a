// What is different about wrong answers: medians side by side, and a joint density.
"use strict";
window.zorro = window.zorro || {};

zorro.contrasts = function (container, {contrasts, wording}) {
  const names = {
    nodes: `${wording.nodes} kept`,
    features: `${wording.features} kept`,
    edges: "edges kept",
    probability: "the model's probability",
    distance: "hops to what is kept, mean",
    "predicted support": `of the answer's class among kept ${wording.nodes}, by the model`,
    "true support": `of the answer's class among kept ${wording.nodes}, in truth`,
    "training share": `training ${wording.nodes} among those kept`,
  };
  const frame = d3
    .select(container)
    .append("div")
    .attr("class", "frame scroll")
    .attr("tabindex", 0)
    .attr("role", "region")
    .attr("aria-label", "Right against wrong answers");
  const table = frame.append("table").attr("class", "plain");
  const head = table.append("thead").append("tr");
  for (const [text, kind] of [
    ["Median", ""],
    ["right answers", "number"],
    ["wrong answers", "number"],
    ["larger where wrong", "number"],
    ["Verdict", ""],
  ])
    head.append("th").attr("scope", "col").attr("class", kind).text(text);
  const lines = table.append("tbody").selectAll("tr").data(contrasts).join("tr");
  lines
    .append("th")
    .attr("scope", "row")
    .text(({quantity}) => names[quantity] ?? quantity);
  for (const side of ["right", "wrong"])
    lines
      .append("td")
      .attr("class", "number")
      .text((row) => median(row[side], row.quantity));
  lines
    .append("td")
    .attr("class", "number")
    .text(({larger}) => `${zorro.percent(larger)} of pairs`);
  lines.append("td").text(({differs}) => (differs ? "differs" : "no difference shown"));

  function median({value, lower, upper}, quantity) {
    const isShare = quantity === "probability" || / (support|share)$/.test(quantity);
    const short = isShare ? zorro.percent : (number) => String(+number.toPrecision(3));
    const ends =
      lower === null || upper === null
        ? "of too few to say more"
        : `${short(lower)} to ${short(upper)}`;
    return `${short(value)} (${ends})`;
  }
};

zorro.densities = function (container, {densities, wording}) {
  const shown = ["right", "wrong"].filter((side) => densities[side]);
  for (const side of shown) {
    const {counts, total} = densities[side];
    const figure = d3.select(container).append("figure");
    figure
      .append("figcaption")
      .text(`${wording.capital(side)} answers: ${zorro.number(total)} that keep other ${wording.nodes}`);
    draw(figure, counts, total, side);
  }

  function draw(figure, counts, total, side) {
    const [size, cell] = [counts.length, 18];
    const margin = {left: 46, bottom: 36, top: 4, right: 6};
    const most = d3.max(counts.flat());
    const width = margin.left + size * cell + margin.right;
    const height = margin.top + size * cell + margin.bottom;
    const svg = figure
      .append("svg")
      .attr("viewBox", `0 0 ${width} ${height}`)
      .attr("class", "density")
      .attr("role", "img")
      .attr("aria-label", `${side} answers by the shares of their class: ${inWords(counts, total)}`);
    counts.forEach((row, predicted) =>
      row.forEach((count, truth) => {
        svg
          .append("rect")
          .attr("x", margin.left + predicted * cell)
          .attr("y", margin.top + (size - 1 - truth) * cell)
          .attr("width", cell - 1)
          .attr("height", cell - 1)
          .attr("class", count ? "some" : "none")
          .style("opacity", count ? 0.15 + 0.85 * Math.sqrt(count / most) : null)
          .append("title")
          .text(`${count} of ${total}`);
      }),
    );
    const bottom = margin.top + size * cell;
    for (const [at, text] of [[0, "0"], [0.5, ".5"], [1, "1"]]) {
      svg
        .append("text")
        .attr("x", margin.left + at * size * cell)
        .attr("y", bottom + 14)
        .attr("text-anchor", "middle")
        .text(text);
      svg
        .append("text")
        .attr("x", margin.left - 6)
        .attr("y", bottom - at * size * cell + 4)
        .attr("text-anchor", "end")
        .text(text);
    }
    svg
      .append("text")
      .attr("x", margin.left + (size * cell) / 2)
      .attr("y", bottom + 30)
      .attr("text-anchor", "middle")
      .text("of the answer's class, by the model");
    svg
      .append("text")
      .attr("transform", `translate(12,${margin.top + (size * cell) / 2}) rotate(-90)`)
      .attr("text-anchor", "middle")
      .text("of the answer's class, in truth");
  }

  function inWords(counts, total) {
    const top = counts.at(-1).at(-1);
    const bottom = counts[0][0];
    return `${top} of ${total} rest on the answer's class alone, ${bottom} on others alone`;
  }
};

// cells: [{truth, predicted, cases}]; each leads to its cases.
zorro.confusion = function (container, {cells, wording, address}) {
  const numbers = d3.sort(new Set(cells.flatMap(({truth, predicted}) => [truth, predicted])));
  const at = new Map(cells.map((cell, place) => [`${cell.truth}-${cell.predicted}`, place]));
  const totals = d3.rollup(cells, (some) => d3.sum(some, ({cases}) => cases.length), ({truth}) => truth);
  const root = d3.select(container);
  root
    .append("p")
    .attr("class", "muted small prose")
    .text("In rows what is true, in columns what the model says. Each number opens its explanations.");
  const scroll = root
    .append("div")
    .attr("class", "frame scroll")
    .attr("tabindex", 0)
    .attr("role", "region")
    .attr("aria-label", "Confusion matrix");
  const table = scroll.append("table").attr("class", "plain confusion");
  const head = table.append("thead").append("tr");
  head.append("th").attr("scope", "col").text("truth");
  head
    .selectAll("th.said")
    .data(numbers)
    .join("th")
    .attr("class", "number said")
    .attr("scope", "col")
    .text(wording.className);
  const lines = table.append("tbody").selectAll("tr").data(numbers).join("tr");
  lines.append("th").attr("scope", "row").text(wording.className);
  lines
    .selectAll("td")
    .data((truth) => numbers.map((predicted) => ({truth, predicted})))
    .join("td")
    .attr("class", ({truth, predicted}) => `number ${truth === predicted ? "diagonal" : "off"}`)
    .each(function ({truth, predicted}) {
      const place = at.get(`${truth}-${predicted}`);
      if (place === undefined) return;
      const count = cells[place].cases.length;
      d3.select(this)
        .style("--strength", (count / totals.get(truth)).toFixed(3))
        .append("a")
        .attr("href", address(`cell-${place}`))
        .attr(
          "aria-label",
          `${count}: ${wording.className(truth)} taken for ${wording.className(predicted)}`,
        )
        .text(zorro.number(count));
    });
};
