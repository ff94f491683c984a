// How often values occur; what is certified is told apart from what is not.
"use strict";
window.zorro = window.zorro || {};

// entries: [{value, certified}]. Whole numbers get a bar each, the rare largest ones share one.
zorro.histogram = function (container, {entries, isWhole, domain, format, mark, describe}) {
  const height = 150;
  const margin = {top: 8, right: 14, bottom: 24, left: 34};
  const bins = isWhole ? wholeBins(entries) : shareBins(entries, domain);
  const svg = d3
    .select(container)
    .append("svg")
    .attr("class", "histogram")
    .attr("role", "img")
    .attr("aria-label", describe);

  zorro.fitted(container, (width) => {
    const x = d3.scaleLinear([bins[0].from, bins.at(-1).to], [margin.left, width - margin.right]);
    const y = d3.scaleLinear(
      [0, d3.max(bins, (bin) => bin.count) || 1],
      [height - margin.bottom, margin.top],
    );
    svg.attr("width", width).attr("height", height).selectAll("*").remove();
    svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(${margin.left},0)`)
      .call(
        d3
          .axisLeft(y)
          .ticks(3)
          .tickFormat((count) => (Number.isInteger(count) ? count : ""))
          .tickSize(-(width - margin.left - margin.right)),
      );
    const bars = svg.append("g").selectAll("g").data(bins).join("g").attr("class", "bar");
    const barWidth = (bin) => Math.max(1, x(bin.to) - x(bin.from) - (bins.length > 60 ? 0 : 1.5));
    bars
      .append("rect")
      .attr("class", "certified")
      .attr("x", (bin) => x(bin.from))
      .attr("width", barWidth)
      .attr("y", (bin) => y(bin.certified))
      .attr("height", (bin) => y(0) - y(bin.certified));
    bars
      .append("rect")
      .attr("class", "open")
      .attr("x", (bin) => x(bin.from))
      .attr("width", barWidth)
      .attr("y", (bin) => y(bin.count))
      .attr("height", (bin) => y(bin.certified) - y(bin.count));
    bars
      .append("title")
      .text((bin) => `${bin.name}: ${bin.count}, ${bin.certified} of them certified`);
    if (mark !== undefined) {
      svg
        .append("line")
        .attr("class", "threshold")
        .attr("x1", x(mark))
        .attr("x2", x(mark))
        .attr("y1", margin.top)
        .attr("y2", y(0));
      svg
        .append("text")
        .attr("class", "label threshold-label")
        .attr("x", x(mark) - 4)
        .attr("y", margin.top + 9)
        .attr("text-anchor", "end")
        .text("τ");
    }
    const axis = svg
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0,${height - margin.bottom})`);
    if (isWhole) {
      const every = Math.ceil(bins.length / Math.max(4, Math.floor(width / 42)));
      const shown = bins.filter(
        (_, at) =>
          (at % every === 0 && at < bins.length - Math.min(every, 2)) || at === bins.length - 1,
      );
      axis
        .selectAll("text")
        .data(shown)
        .join("text")
        .attr("x", (bin) => (x(bin.from) + x(bin.to)) / 2)
        .attr("y", 16)
        .attr("text-anchor", "middle")
        .text((bin) => bin.name);
    } else {
      axis.call(
        d3
          .axisBottom(x)
          .ticks(Math.min(6, width / 50))
          .tickFormat(format)
          .tickSize(0)
          .tickPadding(8),
      );
    }
  });

  function wholeBins(shown) {
    const values = d3.sort(shown, (entry) => entry.value).map((entry) => entry.value);
    const [low, high] = [values[0], values.at(-1)];
    const usual = values[Math.floor(0.97 * (values.length - 1))];
    const last = high - low <= 24 ? high : Math.min(high, Math.max(usual, low + 11));
    const counted = d3.range(low, last + 1).map((value) => ({
      from: value - 0.5,
      to: value + 0.5,
      name: value === last && last < high ? `${last}+` : String(value),
      count: 0,
      certified: 0,
    }));
    for (const {value, certified} of shown) add(counted[Math.min(value, last) - low], certified);
    return counted;
  }

  function shareBins(shown, [low, high]) {
    const count = 24;
    const step = (high - low) / count;
    const counted = d3.range(count).map((at) => ({
      from: low + at * step,
      to: low + (at + 1) * step,
      name: `${format(low + at * step)} to ${format(low + (at + 1) * step)}`,
      count: 0,
      certified: 0,
    }));
    for (const {value, certified} of shown)
      add(counted[Math.max(0, Math.min(count - 1, Math.floor((value - low) / step)))], certified);
    return counted;
  }

  function add(bin, certified) {
    bin.count += 1;
    bin.certified += certified ? 1 : 0;
  }
};
