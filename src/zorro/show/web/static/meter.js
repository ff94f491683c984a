// A fidelity with its interval on a line from 0 to 1, against τ and against another fidelity.
"use strict";
window.zorro = window.zorro || {};

// Returns {update}: update({value, low, high}) or update(null) while there is none.
zorro.meter = function (container, {tau, found}) {
  const height = 74;
  const margin = 16;
  let yours = null;
  const svg = d3.select(container).append("svg").attr("class", "meter").attr("role", "img");
  const redraw = zorro.fitted(container, draw);
  return {
    update(next) {
      yours = next;
      redraw();
    },
  };

  function draw(width) {
    const x = d3.scaleLinear([0, 1], [margin, width - margin]);
    const line = 40;
    svg.attr("width", width).attr("height", height).attr("aria-label", said());
    svg.selectAll("*").remove();
    svg
      .append("line")
      .attr("class", "track")
      .attr("x1", x(0))
      .attr("x2", x(1))
      .attr("y1", line)
      .attr("y2", line);
    svg
      .append("g")
      .selectAll("text")
      .data([0, 0.25, 0.5, 0.75, 1])
      .join("text")
      .attr("x", x)
      .attr("y", height - 6)
      .attr("text-anchor", "middle")
      .text(zorro.share);
    svg
      .append("line")
      .attr("class", "threshold")
      .attr("x1", x(tau))
      .attr("x2", x(tau))
      .attr("y1", 16)
      .attr("y2", line + 12);
    svg
      .append("text")
      .attr("class", "label")
      .attr("x", x(tau))
      .attr("y", 11)
      .attr("text-anchor", "middle")
      .text(`τ = ${zorro.exact(tau)}`);
    if (found !== null) mark("original", x, line, {value: found.value, low: found.lower, high: found.upper});
    if (yours !== null) mark("edited", x, line, yours);
  }

  function mark(kind, x, line, {value, low, high}) {
    const group = svg.append("g").attr("class", kind);
    const y = kind === "original" ? line + 8 : line;
    group.append("line").attr("x1", x(low)).attr("x2", x(high)).attr("y1", y).attr("y2", y);
    group.append("circle").attr("cx", x(value)).attr("cy", y).attr("r", kind === "original" ? 3 : 5.5);
  }

  function said() {
    const original = found === null ? "" : ` The explanation: ${zorro.share(found.value)}.`;
    const own = yours === null ? "" : `Your set: ${zorro.share(yours.value)}.`;
    return `${own}${original} τ is ${zorro.exact(tau)}.`.trim();
  }
};
