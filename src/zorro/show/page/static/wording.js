// What nodes, features and classes are called, which colours classes have, how numbers are written.
"use strict";
window.zorro = window.zorro || {};

zorro.wording = function (labels) {
  const plural = (noun) => `${noun}s`;
  const counted = (count, noun) =>
    `${count.toLocaleString("en")} ${count === 1 ? noun : plural(noun)}`;
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  return {
    node: labels.node,
    feature: labels.feature,
    nodes: plural(labels.node),
    features: plural(labels.feature),
    capital,
    className: (number) => labels.classes[number] ?? `class ${number}`,
    colour: (number) => (number === null ? null : labels.colours[number % labels.colours.length]),
    // Colours come again after the last: another shape tells such classes apart.
    shape: (number) => (number === null ? 0 : Math.floor(number / labels.colours.length) % 3),
    hasNodeNames: Object.keys(labels.nodes).length > 0,
    nodeLabel: (id) => labels.nodes[id] ?? String(id),
    nodeName: (id) => `${labels.node} ${labels.nodes[id] ?? id}`,
    featureLabel: (id) => labels.features[id] ?? String(id),
    featureName: (id) => labels.features[id] ?? `${labels.feature} ${id}`,
    countedNodes: (count) => counted(count, labels.node),
    countedFeatures: (count) => counted(count, labels.feature),
  };
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
