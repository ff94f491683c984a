// What queries, nodes, features and classes are called, their colours, how numbers are written.
"use strict";
window.zorro = window.zorro || {};

// kept: the kinds that sets are of, "nodes" or "features" or both.
zorro.wording = function (labels, kept) {
  const plural = (noun) => `${noun}s`;
  const counted = (count, noun) =>
    `${count.toLocaleString("en")} ${count === 1 ? noun : plural(noun)}`;
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const level = zorro.levels[labels.level];
  const query = level.noun(labels);
  const {kinds} = labels;
  const words = {
    level,
    answer: zorro.answers[labels.answer],
    levelName: labels.level,
    query,
    queries: plural(query),
    queryLabel: (id) => level.label(labels, id),
    queryName: (id) => `${query} ${level.label(labels, id)}`,
    hasQueryNames: level.hasNames(labels),
    queryHint: level.hint(labels),
    queryColumn: level.column(labels),
    queryOrder: (id) => level.order(labels, id),
    countedQueries: (count) => counted(count, query),
    node: labels.node,
    feature: labels.feature,
    nodes: plural(labels.node),
    features: plural(labels.feature),
    capital,
    className: (number) => labels.classes[number] ?? `class ${number}`,
    colour: (number) => (number === null ? null : labels.colours[number % labels.colours.length]),
    shape: (number) => shape(number, labels.colours),
    // What nodes are told apart by: the model's classes, or what they are.
    kindName: (number) => kinds.names[number] ?? `class ${number}`,
    kindColour: (number) =>
      number === null ? null : kinds.colours[number % kinds.colours.length],
    kindShape: (number) => (kinds.areAtoms ? 0 : shape(number, kinds.colours)),
    symbol: (number) =>
      kinds.areAtoms && number !== null ? words.kindName(number).slice(0, 2) : "",
    areAtoms: kinds.areAtoms,
    nodeLabel: (id) => labels.nodes[id] ?? String(id),
    nodeName: (id) => `${labels.node} ${words.nodeLabel(id)}`,
    featureLabel: (id) => labels.features[id] ?? String(id),
    featureName: (id) => labels.features[id] ?? `${labels.feature} ${id}`,
    countedNodes: (count) => counted(count, labels.node),
    countedFeatures: (count) => counted(count, labels.feature),
    // The kinds that sets are of, each with its words.
    get kept() {
      const all = {
        nodes: {noun: words.node, nouns: words.nodes, label: words.nodeLabel},
        features: {noun: words.feature, nouns: words.features, label: words.featureLabel},
      };
      return kept.map((key) => ({key, ...all[key]}));
    },
    keepsNodes: kept.includes("nodes"),
    // The size of a set, of which count(key) are kept of a kind.
    size: (count) =>
      words.kept.map(({key, noun}) => counted(count(key), noun)).join("\u00a0×\u00a0"),
    // The words for one explanation: nodes of its graph are called by what they are.
    within: ({kinds: every}) => {
      if (!every || !kinds.areAtoms) return words;
      return zorro.wording({...labels, nodes: named(every)}, kept);
    },
  };
  return words;

  // Colours come again after the last: another shape tells such classes apart.
  function shape(number, colours) {
    return number === null ? 0 : Math.floor(number / colours.length) % 3;
  }

  function named(every) {
    return Object.fromEntries(every.map((kind, id) => [id, `${kinds.names[kind]}${id}`]));
  }
};

zorro.number = (value) => value.toLocaleString("en");

// .93, and never 1.00 for what is less.
zorro.share = (value) =>
  value < 1 && value >= 0.995 ? ">.99" : value.toFixed(2).replace(/^0/, "");

// A threshold as it was given.
zorro.exact = (value) => String(+value.toFixed(6)).replace(/^0/, "");

zorro.percent = (value) => `${+(100 * value).toFixed(1)}\u00a0%`;

zorro.statusName = (row) =>
  row.status === "certified" || !row.certified ? row.status : `${row.status}, certified`;
