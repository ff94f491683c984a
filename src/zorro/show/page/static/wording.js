// What queries, nodes, features and classes are called, their colours, how numbers are written.
"use strict";
window.zorro = window.zorro || {};

// What keeps values only together, and so is counted together.
zorro.blocks = [["nodes", "features"], ["edges"], ["edge_attributes"]];

// The ends of an edge, which is told by them: 3-7, or 3-7-1 of several.
zorro.ends = (edge) => edge.split("-").slice(0, 2).map(Number);

// kept: the kinds that sets are of: "nodes", "features", "edges", "edge_attributes". directed:
// whether an edge is another than its reverse.
zorro.wording = function (labels, kept, directed = false) {
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
    directed,
    edgeLabel: (id) => {
      const [one, other, ...number] = id.split("-");
      const several = number.map((k) => ` (${k})`).join("");
      return `${words.nodeLabel(one)}${directed ? "→" : "–"}${words.nodeLabel(other)}${several}`;
    },
    // The kinds of elements, each with its words.
    get elements() {
      return {
        nodes: {noun: words.node, nouns: words.nodes, label: words.nodeLabel, name: words.nodeName},
        features: {
          noun: words.feature,
          nouns: words.features,
          label: words.featureLabel,
          name: words.featureName,
        },
        edges: {
          noun: "edge",
          nouns: "edges",
          label: words.edgeLabel,
          name: (id) => `edge ${words.edgeLabel(id)}`,
        },
        edge_attributes: {
          noun: "edge's attribute",
          nouns: "edges' attributes",
          label: words.edgeLabel,
          name: (id) => `the attributes of ${words.edgeLabel(id)}`,
        },
      };
    },
    // Those that sets are of.
    get kept() {
      return kept.map((key) => ({key, ...words.elements[key]}));
    },
    keepsNodes: kept.includes("nodes"),
    keepsAttributes: kept.includes("edge_attributes"),
    keepsEdges: kept.includes("edges"),
    keepsValues: kept.includes("nodes") || kept.includes("features"),
    // Whether a set of which count(key) are kept of a kind keeps nothing.
    isNothing: (count) => !filled(count).length,
    // The size of such a set.
    size: (count) =>
      counting(count)
        .map((block) =>
          block.map((key) => counted(count(key), words.elements[key].noun)).join("\u00a0×\u00a0"),
        )
        .join(" and "),
    // Whether that is several things, and not one.
    isPlural: (count) => {
      const [[first, ...partners], ...more] = counting(count);
      return more.length > 0 || (!partners.length && count(first) !== 1);
    },
    // The words for one explanation: nodes of its graph are called by what they are.
    within: ({kinds: every, directed: isDirected = false}) => {
      const isNamed = every && kinds.areAtoms;
      if (!isNamed && isDirected === directed) return words;
      return zorro.wording(isNamed ? {...labels, nodes: named(every)} : labels, kept, isDirected);
    },
  };
  return words;

  function blocks() {
    const asked = zorro.blocks.map((block) => block.filter((key) => kept.includes(key)));
    return asked.filter((block) => block.length);
  }

  // What is counted: what keeps something, or all kinds if nothing does.
  function counting(count) {
    const some = filled(count);
    return some.length ? some : blocks();
  }

  function filled(count) {
    return blocks().filter((block) => block.every((key) => count(key) > 0));
  }

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
