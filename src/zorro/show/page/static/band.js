// A value in the band that it may not leave, and where it lands when all but a set is random.
"use strict";
window.zorro = window.zorro || {};

// row: {value, tolerance, low, high, least, truth}; low and high are null where the band is open.
// isLive: whether outputs will come, so that there is room for them.
// Returns {update}: update({outputs}), ascending, or update(null) while there are none.
zorro.band = function (container, {row, isLive = false}) {
  const {value, low, high, least, truth} = row;
  const margin = {left: 18, right: 18};
  const bars = isLive ? 84 : 0; // pixels for the outputs
  const line = bars + 24; // of the band
  const height = line + 52;
  let outputs = null;
  let [from, to] = start();
  const root = d3.select(container).attr("class", "band-place");
  const plot = root.append("div").attr("class", "plot").style("min-height", `${height}px`).node();
  const svg = d3.select(plot).append("svg").attr("class", "band").attr("role", "img");
  const redraw = zorro.fitted(plot, draw);
  const legend = root.append("ul").attr("class", "legend");
  explain();
  return {update};

  function update(measured) {
    outputs = measured?.outputs ?? null;
    widen();
    redraw();
    explain();
  }

  // What must be seen without any outputs.
  function start() {
    const far = [row.tolerance, least ?? 0, truth === null ? 0 : Math.abs(truth - value)];
    const reach = 1.5 * d3.max(far);
    return [value - reach, value + reach];
  }

  // The axis grows with what lands outside, and does not shrink again; what is far is left out.
  function widen() {
    if (!outputs?.length) return;
    const most = 6 * row.tolerance;
    const [first, last] = [d3.quantileSorted(outputs, 0.02), d3.quantileSorted(outputs, 0.98)];
    from = Math.min(from, Math.max(first, value - most));
    to = Math.max(to, Math.min(last, value + most));
  }

  function draw(width) {
    const x = d3.scaleLinear([from, to], [margin.left, width - margin.right]).clamp(true);
    svg.attr("width", width).attr("height", height).attr("aria-label", said());
    svg.selectAll("*").remove();
    if (outputs) landed(x);
    allowed(x, width);
    if (least !== null) would(x);
    if (truth !== null) mark("truth", d3.symbolDiamond2, x(truth), 46);
    mark("value", d3.symbolCircle, x(value), 60);
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0,${line + 30})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.max(2, Math.min(7, width / 70)))
          .tickFormat(zorro.amount)
          .tickSize(4)
          .tickPadding(4),
      );
  }

  function allowed(x, width) {
    const [left, right] = [low === null ? 0 : x(low), high === null ? width : x(high)];
    svg
      .append("rect")
      .attr("class", "allowed")
      .attr("x", left)
      .attr("width", Math.max(1, right - left))
      .attr("y", line - 9)
      .attr("height", 18);
    for (const end of [low, high]) {
      if (end === null) continue;
      svg
        .append("line")
        .attr("class", "end")
        .attr("x1", x(end))
        .attr("x2", x(end))
        .attr("y1", outputs ? 6 : line - 13)
        .attr("y2", line + 13);
    }
  }

  // The tolerance that would have been enough, on the sides that count.
  function would(x) {
    const ends = [low === null ? value : value - least, high === null ? value : value + least];
    const group = svg.append("g").attr("class", "least");
    const y = line + 19;
    group.append("line").attr("x1", x(ends[0])).attr("x2", x(ends[1])).attr("y1", y).attr("y2", y);
    for (const end of ends)
      group.append("line").attr("x1", x(end)).attr("x2", x(end)).attr("y1", y - 4).attr("y2", y + 4);
  }

  function mark(kind, shape, x, size) {
    svg
      .append("path")
      .attr("class", kind)
      .attr("transform", `translate(${x.toFixed(1)},${line})`)
      .attr("d", d3.symbol(shape, size)());
  }

  // How often outputs land where; what is beyond the axis is in its outermost bars.
  function landed(x) {
    const count = 40;
    const place = (output) =>
      Math.max(0, Math.min(count - 1, Math.floor(((output - from) / (to - from)) * count)));
    const bins = d3.range(count).map((at) => ({
      left: x(from + (at * (to - from)) / count),
      right: x(from + ((at + 1) * (to - from)) / count),
      inside: 0,
      outside: 0,
    }));
    for (const output of outputs) bins[place(output)][isInside(output) ? "inside" : "outside"] += 1;
    const y = d3.scaleLinear([0, d3.max(bins, (bin) => bin.inside + bin.outside)], [bars + 8, 14]);
    const groups = svg.append("g").selectAll("g").data(bins).join("g");
    for (const [kind, below] of [
      ["inside", () => 0],
      ["outside", (bin) => bin.inside],
    ]) {
      groups
        .filter((bin) => bin[kind] > 0)
        .append("rect")
        .attr("class", kind)
        .attr("x", (bin) => bin.left + 0.5)
        .attr("width", (bin) => Math.max(0.5, bin.right - bin.left - 1))
        .attr("y", (bin) => y(below(bin) + bin[kind]))
        .attr("height", (bin) => y(below(bin)) - y(below(bin) + bin[kind]));
    }
  }

  function isInside(output) {
    return (low === null || output >= low) && (high === null || output <= high);
  }

  function lines() {
    const inside = outputs?.filter(isInside).length;
    return [
      ["value", `${zorro.amount(value)}, what the model says`],
      ["allowed", `allowed: ${zorro.allowed(row)}`],
      ...(least === null
        ? []
        : [["least", `${zorro.within(least, row)} would have been enough${isLive ? ", as found" : ""}`]]),
      ...(truth === null ? [] : [["truth", `${zorro.amount(truth)}, the true value`]]),
      ...(outputs
        ? [
            ["inside", `inside in ${zorro.number(inside)} random worlds`],
            ["outside", `outside in ${zorro.number(outputs.length - inside)}`],
          ]
        : []),
    ];
  }

  function explain() {
    const items = legend.selectAll("li").data(lines()).join("li");
    items.selectAll("*").remove();
    items
      .append("span")
      .attr("class", ([kind]) => `swatch ${kind}`)
      .attr("aria-hidden", "true");
    items.append("span").text(([, text]) => text);
  }

  function said() {
    return `${lines()
      .map(([, text]) => text)
      .join("; ")}.`;
  }
};
