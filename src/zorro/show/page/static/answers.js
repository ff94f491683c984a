// What is said differently of classes, labels and values, answer by answer, as in answers.py.
"use strict";
window.zorro = window.zorro || {};

// A row has the kind of its answer; the run's own kind is wording.answer.
//   columns: of the table; filters: [{key, name, options or type, passes(row, wanted)}]
//   cards: [figure, name, note] of the summary; distributions: further histograms
//   truth(parent, row, wording): a mark in the heading, if the truth is known
//   showsOutputs: whether it shows more of a set than its fidelity
//   title, show(section, {row, detail, wording, isLive}): what the model says, in full; returns
//     {update(measured)} if so
//   kept: what a set keeps, in words; against: how a server is told what it is compared with;
//     facts: further lines of the details
//   others(run, row, detail): classes that can be asked against
//   stays: what is counted, in words
zorro.answers = (function () {
  const classes = {
    columns: (words, hasTruth) => [
      {
        name: "Predicted",
        kind: "predicted",
        by: (row) => words.className(row.class),
        fill: (cell, row) => {
          zorro.classChip(cell, row.class, words);
          if (row.truth !== null) zorro.answerMark(cell, row);
        },
      },
      ...(hasTruth ? [trueClass(words)] : []),
      {
        name: "p",
        title: "The model's probability of its answer",
        kind: "number optional",
        by: (row) => row.probability,
        fill: (cell, row) => cell.text(zorro.share(row.probability)),
      },
    ],
    filters: (rows, words, hasTruth) => {
      const named = new Map(rows.map((row) => [row.class, words.className(row.class)]));
      const right = ["right", "wrong"].map((answer) => [answer, answer]);
      return [
        {
          key: "class",
          name: "Predicted",
          options: d3.sort(named, ([, name]) => name),
          passes: (row, wanted) => String(row.class) === wanted,
        },
        ...(hasTruth ? [trueClassFilter(rows, words)] : []),
        {
          key: "probability",
          name: "p at least",
          type: "number",
          passes: (row, wanted) => row.probability >= Number(wanted),
        },
        ...(hasTruth
          ? [
              {
                key: "answer",
                name: "The answer is",
                options: right,
                passes: (row, wanted) =>
                  row.truth !== null && (row.truth === row.class) === (wanted === "right"),
              },
            ]
          : []),
      ];
    },
    cards: ({answers: {known, right}}) =>
      right === null
        ? []
        : [
            [
              zorro.percent(right / known),
              "answers right",
              `${zorro.number(right)} of ${zorro.number(known)}`,
            ],
          ],
    distributions: () => [],
    truth: (parent, row, words) => {
      if (row.truth === null) return;
      const isRight = row.truth === row.class;
      parent
        .append("span")
        .attr("class", isRight ? "right" : "wrong")
        .text(isRight ? "✓ right" : `✗ wrong, the truth: ${words.className(row.truth)}`);
    },
    title: "The model's probabilities",
    show: (section, {detail, wording}) => {
      const list = section.append("ul").attr("class", "probabilities");
      for (const [number, probability] of detail.probabilities) {
        const item = list.append("li");
        zorro.classChip(item, number, wording);
        item
          .append("span")
          .attr("class", "track")
          .attr("aria-hidden", "true")
          .append("span")
          .style("width", `${100 * probability}%`)
          .style("background", wording.colour(number));
        item.append("span").attr("class", "number").text(zorro.share(probability));
      }
    },
    kept: (row, detail, words) => {
      if (detail.versus === null) return "the answer";
      const other = words.className(detail.versus.other);
      if (detail.versus.contrast === "not") return `the model from saying ${other}`;
      return `${words.className(row.class)} ahead of ${other}`;
    },
    against: (row, {versus}) => (versus === null ? {} : {why_not: versus.other}),
    facts: () => [],
    others: (run, row, detail) => {
      const every = new Set([
        ...Object.keys(run.labels.classes).map(Number),
        ...run.rows.map((one) => one.class),
        ...detail.probabilities.map(([number]) => number),
      ]);
      every.delete(row.class);
      return d3.sort(every);
    },
    stays: () => "the model's answer stays",
  };

  function trueClassFilter(rows, words) {
    const known = rows.filter(({truth}) => truth !== null);
    const named = new Map(known.map(({truth}) => [truth, words.className(truth)]));
    return {
      key: "truth",
      name: "True",
      options: d3.sort(named, ([, name]) => name),
      passes: (row, wanted) => String(row.truth) === wanted,
    };
  }

  const values = {
    columns: (words, hasTruth) => [
      figures("Predicted", "", (row) => row.value, zorro.amount),
      ...(hasTruth
        ? [
            figures("True", "optional", (row) => row.truth, zorro.amount),
            figures("Error", "optional", zorro.error, zorro.distance, "The model less the truth"),
          ]
        : []),
      figures(
        "Least",
        "optional",
        (row) => row.least,
        zorro.distance,
        "The tolerance that would have been enough, where it is another",
      ),
    ],
    filters: (rows, words, hasTruth) => [
      bound("from", "Value from", (row, wanted) => row.value >= wanted),
      bound("to", "Value to", (row, wanted) => row.value <= wanted),
      ...(hasTruth
        ? [
            bound(
              "off",
              "Off by up to",
              (row, wanted) => row.truth !== null && Math.abs(zorro.error(row)) <= wanted,
            ),
          ]
        : []),
    ],
    cards: ({answers: {known, error, tolerance, share, side}}) => [
      ...(error === null
        ? []
        : [[zorro.distance(error), "error, median", `of ${zorro.number(known)} known`]]),
      ...(tolerance === null
        ? []
        : [
            [
              `${{both: "±", up: "−", down: "+"}[side]}\u00a0${zorro.distance(tolerance)}`,
              "tolerance",
              share === null ? "as it was given" : `${zorro.percent(share)} of the values' spread`,
            ],
          ]),
    ],
    distributions: (rows) => {
      const [low, high] = d3.extent(rows, (row) => row.value);
      const least = Math.max(high - low, 1e-6 * Math.abs(high), 1e-12);
      const domain = d3.scaleLinear([low, Math.max(high, low + least)], [0, 1]).nice().domain();
      return [{name: "Predicted values", key: "value", isWhole: false, domain, format: zorro.amount}];
    },
    truth: (parent, row) => {
      if (row.truth === null) return;
      const text = `true value ${zorro.amount(row.truth)}, off by ${zorro.distance(zorro.error(row))}`;
      parent.append("span").attr("class", "muted").text(text);
    },
    title: "The value and its tolerance",
    showsOutputs: true,
    show: (section, {row, wording, isLive}) =>
      zorro.band(section.append("div").node(), {row, wording, isLive}),
    kept: (row) => {
      if (row.low === null || row.high === null) return `the value at ${zorro.allowed(row)}`;
      return `the value between ${zorro.amount(row.low)} and ${zorro.amount(row.high)}`;
    },
    against: () => ({}),
    facts: (row) => [
      ["Tolerance", `${zorro.within(row.tolerance, row)}: ${zorro.allowed(row)}`],
      [
        "Least tolerance",
        row.least === null
          ? "no smaller one was shown"
          : `${zorro.distance(row.least)} would have been certified, on further samples`,
      ],
    ],
    others: () => [],
    stays: ({answers: {tolerance, side}}) => {
      if (tolerance === null) return "the model's value stays within its tolerance";
      const far = zorro.distance(tolerance);
      const how = {
        both: `stays within ${far} of what it is`,
        up: `does not fall by more than ${far}`,
        down: `does not rise by more than ${far}`,
      };
      return `the model's value ${how[side]}`;
    },
  };

  // Of links: one is ahead of others, or among the first of them.
  const ahead = {
    columns: (words) => [
      {
        name: "Is",
        kind: "predicted",
        by: (row) => row.rivals.length,
        fill: (cell, row) => cell.text(leads(row, words)),
      },
    ],
    filters: () => [],
    cards: () => [],
    distributions: () => [],
    truth: () => {},
    title: "What it is compared with",
    show: (section, {row, wording}) => {
      section.append("p").text(`The model puts it ${leads(row, wording)}.`);
      if (row.rivals.length < 2) return;
      const most = 60;
      const named = row.rivals.slice(0, most).map((end) => rival(row, end, wording));
      const more = row.rivals.length - most;
      section
        .append("p")
        .attr("class", "muted small")
        .text(`${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
    },
    kept: (row, detail, words) => `it ${leads(row, words)}`,
    against: ({rivals, top}) => ({among: rivals, top}),
    facts: () => [],
    others: () => [],
    stays: () => "the link stays ahead",
  };

  return {class: classes, label: {...classes, others: () => []}, value: values, ahead};

  function rival({query}, end, words) {
    return words.queryLabel(words.level.to(query, end));
  }

  function leads(row, words) {
    if (row.rivals.length === 1) return `ahead of ${rival(row, row.rivals[0], words)}`;
    if (row.top === 1) return `ahead of ${zorro.number(row.rivals.length)} others`;
    return `among the first ${row.top} of ${zorro.number(row.rivals.length + 1)}`;
  }

  function trueClass(words) {
    return {
      name: "True",
      kind: "truth optional",
      by: (row) => (row.truth === null ? "" : words.className(row.truth)),
      fill: (cell, row) => {
        const isSame = row.truth === row.class;
        const text = row.truth === null ? "–" : isSame ? "same" : words.className(row.truth);
        zorro.middle(cell, text).classed("muted", isSame || row.truth === null);
      },
    };
  }

  // A column of numbers, of which some may not be known.
  function figures(name, kind, value, write, title) {
    return {
      name,
      title,
      kind: `number ${kind}`,
      by: (row) => value(row) ?? -Infinity,
      fill: (cell, row) => cell.text(value(row) === null ? "–" : write(value(row))),
    };
  }

  function bound(key, name, passes) {
    const isNumber = (wanted) => Number.isFinite(parseFloat(wanted));
    return {
      key,
      name,
      type: "number",
      passes: (row, wanted) => !isNumber(wanted) || passes(row, parseFloat(wanted)),
    };
  }
})();

// A value with as many digits as are read.
zorro.amount = (value) => d3.format(".4~g")(value);

// How far values are from each other.
zorro.distance = (value) => d3.format(".3~g")(value);

// How far a value may move: both ways, or one.
zorro.within = function (distance, {low, high}) {
  const sign = low === null ? "+" : high === null ? "−" : "±";
  return `${sign}\u00a0${zorro.distance(distance)}`;
};

// What a value may be, in words.
zorro.allowed = function ({low, high}) {
  if (high === null) return `${zorro.amount(low)} or more`;
  if (low === null) return `${zorro.amount(high)} or less`;
  return `${zorro.amount(low)} to ${zorro.amount(high)}`;
};

// By how much the model says more than is true; null if that is not known.
zorro.error = ({value, truth}) => (truth === null ? null : value - truth);
