// How the fidelity rose while the search added elements, and what unseen samples said in the end.
"use strict";
window.zorro = window.zorro || {};

// What the marks of steps mean.
zorro.stepMarks = function (wording) {
  const shapes = {
    nodes: "squares",
    features: "dots",
    edges: "triangles",
    edge_attributes: "diamonds",
    types: "dots",
    relations: "triangles",
  };
  const said = wording.kept.map(({key, nouns}) => `${shapes[key]} are ${nouns}`).join(", ");
  return `${wording.capital(said)}; hollow ones were taken out.`;
};

// The steps in words, for those who cannot hover over a mark: on touch screens and on paper.
zorro.stepList = function (parent, {steps, wording}) {
  const most = 40;
  const list = parent.append("ol").attr("class", "steps-in-words").attr("start", 0);
  for (const [kind, id, fidelity, added] of steps.slice(0, most)) {
    const element = wording.elements[`${kind}s`];
    const name = element ? element.name(id) : "nothing kept";
    const sign = element ? (added ? "+\u00a0" : "−\u00a0") : "";
    const item = list.append("li");
    item.append("span").text(`${sign}${name}`);
    item.append("span").attr("class", "muted").text(` ${zorro.share(fidelity)}`);
  }
  if (steps.length > most)
    list.append("li").attr("class", "muted").text(`and ${zorro.number(steps.length - most)} more`);
};

// steps: [[kind, id, fidelity, added]]; fidelity: {value, lower, upper, samples, confidence}, or
// null while the search goes on. Returns {update}, which takes the steps that there are by now.
zorro.curve = function (container, {steps: known, fidelity, tau, wording, describe}) {
  let steps = known;
  const margin = {top: 14, right: 76, bottom: 40, left: 38};
  const height = 260;
  const symbols = {
    node: d3.symbolSquare,
    edge: d3.symbolTriangle,
    edge_attribute: d3.symbolDiamond,
    relation: d3.symbolTriangle,
  };
  const svg = d3
    .select(container)
    .append("svg")
    .attr("class", "curve")
    .attr("role", "img")
    .attr("aria-label", describe);

  const redraw = zorro.fitted(container, (width) => {
    const x = d3.scaleLinear(
      [0, Math.max(1, steps.length - 1)],
      [margin.left + 8, width - margin.right - 8],
    );
    const y = d3.scaleLinear([0, 1], [height - margin.bottom, margin.top]);
    const end = width - margin.right + 28;
    svg.attr("width", width).attr("height", height).selectAll("*").remove();

    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(${margin.left},0)`)
      .call(
        d3
          .axisLeft(y)
          .tickValues([0, 0.25, 0.5, 0.75, 1])
          .tickFormat(zorro.share)
          .tickSize(-(width - margin.left - margin.right)),
      );
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0,${height - margin.bottom})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.min(8, steps.length, width / 55))
          .tickFormat((at) => (Number.isInteger(at) ? at : ""))
          .tickSize(0)
          .tickPadding(8),
      );
    svg
      .append("text")
      .attr("class", "label")
      .attr("x", (x.range()[0] + x.range()[1]) / 2)
      .attr("y", height - 4)
      .attr("text-anchor", "middle")
      .text("steps of the search");

    svg
      .append("line")
      .attr("class", "threshold")
      .attr("x1", margin.left)
      .attr("x2", width - margin.right + 40)
      .attr("y1", y(tau))
      .attr("y2", y(tau));
    svg
      .append("text")
      .attr("class", "label threshold-label")
      .attr("x", margin.left + 4)
      .attr("y", y(tau) - 5)
      .text(`τ = ${zorro.exact(tau)}`);

    svg
      .append("path")
      .attr("class", "line")
      .attr(
        "d",
        d3.line(
          (_, at) => x(at),
          (step) => y(step[2]),
        )(steps),
      );
    const marks = svg
      .append("g")
      .selectAll("path")
      .data(steps)
      .join("path")
      .attr("class", ([, , , added]) => `step${added ? "" : " out"}`)
      .attr("transform", (step, at) => `translate(${x(at).toFixed(1)},${y(step[2]).toFixed(1)})`)
      .attr("d", ([kind]) =>
        d3.symbol(
          symbols[kind] ?? d3.symbolCircle,
          steps.length > 60 ? 8 : 34,
        )(),
      );
    marks.append("title").text((step, at) => `${at}: ${move(step)} → ${zorro.share(step[2])}`);

    if (fidelity) measured(y, end);
  });
  return {
    update(more) {
      steps = more;
      redraw();
    },
  };

  function measured(y, end) {
    const fresh = svg.append("g").attr("class", "fresh");
    fresh
      .append("line")
      .attr("x1", end)
      .attr("x2", end)
      .attr("y1", y(fidelity.lower))
      .attr("y2", y(fidelity.upper));
    for (const value of [fidelity.lower, fidelity.upper]) {
      fresh
        .append("line")
        .attr("x1", end - 4)
        .attr("x2", end + 4)
        .attr("y1", y(value))
        .attr("y2", y(value));
    }
    fresh.append("circle").attr("cx", end).attr("cy", y(fidelity.value)).attr("r", 2.5);
    fresh
      .append("text")
      .attr("class", "value")
      .attr("x", end + 10)
      .attr("y", y(fidelity.value) + 4)
      .text(zorro.share(fidelity.value));
    svg
      .append("text")
      .attr("class", "label")
      .attr("x", end)
      .attr("y", height - margin.bottom + 16)
      .attr("text-anchor", "middle")
      .text("unseen");
  }

  function move([kind, id, , added]) {
    if (kind === "") return "start";
    const {noun, name} = wording.elements[`${kind}s`];
    if (id === null) return added ? `with one more ${noun}` : `one ${noun} less`;
    const what = name(id);
    return added ? `with ${what}` : `without ${what}`;
  }
};
