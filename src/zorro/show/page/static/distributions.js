// The distributions of a run: sizes and fidelity, a histogram each.
"use strict";
window.zorro = window.zorro || {};

zorro.distributions = function (container, {rows, summary, wording}) {
  const lowest = d3.min(rows, (row) => row.fidelity);
  const from = Math.max(0, Math.floor(10 * Math.min(lowest, summary.tau, 0.95)) / 10);
  const shown = [
    ...wording.answer.distributions(rows),
    ...wording.kept.map(({key, nouns}) => ({
      name: `${wording.capital(nouns)} kept`,
      key,
      isWhole: true,
    })),
    {
      name: "Fidelity, estimated on held-out samples",
      key: "fidelity",
      isWhole: false,
      domain: [from, 1],
      format: zorro.share,
      mark: summary.tau,
    },
  ];
  for (const {name, key, ...options} of shown) {
    const figure = d3.select(container).append("figure");
    figure.append("figcaption").text(name);
    const entries = rows.map((row) => ({value: row[key], certified: row.certified}));
    const [low, middle, high] = [d3.min, d3.median, d3.max].map((of) =>
      of(entries, (entry) => entry.value),
    );
    const range = `from ${low} to ${high}, median ${middle}`;
    const describe = `${name} of ${rows.length} explanations: ${range}`;
    zorro.histogram(figure.append("div").attr("class", "plot").node(), {
      entries,
      describe,
      ...options,
    });
  }
  if (rows.some((row) => !row.certified)) legend(container);

  function legend(parent) {
    const list = d3.select(parent).append("ul").attr("class", "legend");
    for (const [kind, text] of [
      ["certified", "certified"],
      ["open", "not certified"],
    ]) {
      const item = list.append("li");
      item.append("span").attr("class", `swatch ${kind}`).attr("aria-hidden", "true");
      item.append("span").text(text);
    }
  }
};
