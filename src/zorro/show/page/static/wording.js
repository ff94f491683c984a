// What queries, nodes, features and classes are called, their colours, how numbers are written.
"use strict";
window.zorro = window.zorro || {};

// What keeps values only together, and so is counted together.
zorro.blocks = [["types"], ["nodes", "features"], ["relations"], ["edges"], ["edge_attributes"]];

// The ends of an edge, which is told by them: 3-7, or 3-7-1 of several.
zorro.ends = (edge) => edge.split("-").slice(0, 2).map(Number);

// kept: the kinds that sets are of: "nodes", "features", "edges", "edge_attributes", and of several
// types "types", "relations". directed: whether an edge is another than its reverse. rowsSuffice:
// whether a kept node keeps something of itself though no feature is kept.
zorro.wording = function (labels, kept, directed = false, rowsSuffice = false) {
  const plural = (noun) => `${noun}s`;
  const counted = (count, noun) =>
    `${count.toLocaleString("en")} ${count === 1 ? noun : plural(noun)}`;
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const level = zorro.levels[labels.level];
  const query = level.noun(labels);
  const {kinds, types = null} = labels;
  const typed = types && zorro.typed(types);
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
    kindShape: (number) => {
      if (kinds.areTypes) return number % zorro.shapes.length;
      return kinds.areAtoms ? 0 : shape(number, kinds.colours);
    },
    symbol: (number) =>
      kinds.areAtoms && number !== null ? words.kindName(number).slice(0, 2) : "",
    areAtoms: kinds.areAtoms,
    nodeLabel: (id) => labels.nodes[id] ?? typed?.node(Number(id)) ?? String(id),
    nodeName: (id) => (typed ? words.nodeLabel(id) : `${labels.node} ${words.nodeLabel(id)}`),
    // The query that a node can be, null if none.
    queryOf: (id) => (typed ? typed.query(id) : id),
    typeNames: types?.nodes.map(({name}) => name) ?? [],
    typeSizes: types?.nodes.map(({name, count}) => counted(count, name)) ?? [],
    relations: typed?.relations ?? [],
    relationOf: (edge) => typed?.relation(edge) ?? null,
    featureLabel: (id) => labels.features[id] ?? String(id),
    featureName: (id) => labels.features[id] ?? `${labels.feature} ${id}`,
    countedNodes: (count) => counted(count, labels.node),
    countedFeatures: (count) => counted(count, labels.feature),
    directed,
    edgeLabel: (id) => {
      if (typed) return typed.edge(id, words.nodeLabel);
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
        types: {
          noun: "type",
          nouns: "types",
          label: (id) => types.nodes[id].name,
          name: (id) => `type ${types.nodes[id].name}`,
        },
        relations: {
          noun: "relation",
          nouns: "relations",
          label: (id) => typed.relations[id],
          name: (id) => `relation ${typed.relations[id]}`,
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
    dropsEdges: kept.includes("edges") || kept.includes("relations"),
    keepsValues: ["types", "nodes", "features"].some((key) => kept.includes(key)),
    // Whether a set of which count(key) are kept of a kind keeps nothing.
    isNothing: (count) => !filled(count).length,
    // The size of such a set.
    size: (count) =>
      counting(count)
        .map((block) =>
          told(block, count)
            .map((key) => counted(count(key), words.elements[key].noun))
            .join("\u00a0×\u00a0"),
        )
        .join(" and "),
    // Whether that is several things, and not one.
    isPlural: (count) => {
      const [[first, ...partners], ...more] = counting(count);
      const isAlone = told([first, ...partners], count).length === 1;
      return more.length > 0 || (isAlone && count(first) !== 1);
    },
    // The words for one explanation: nodes of its graph are called by what they are.
    within: ({kinds: every, directed: isDirected = false, rowsSuffice: suffice = false}) => {
      const isNamed = every && kinds.areAtoms;
      if (!isNamed && isDirected === directed && suffice === rowsSuffice) return words;
      const known = isNamed ? {...labels, nodes: named(every)} : labels;
      return zorro.wording(known, kept, isDirected, suffice);
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
    const counts = (key) => count(key) > 0 || (rowsSuffice && key === "features");
    return blocks().filter((block) => block.every(counts));
  }

  // Of nodes that are kept as they are, without any feature, only how many they are.
  function told(block, count) {
    const [first] = block;
    return rowsSuffice && count(first) > 0 ? block.filter((key) => count(key) > 0) : block;
  }

  // Colours come again after the last: another shape tells such classes apart.
  function shape(number, colours) {
    return number === null ? 0 : Math.floor(number / colours.length) % 3;
  }

  function named(every) {
    return Object.fromEntries(every.map((kind, id) => [id, `${kinds.names[kind]}${id}`]));
  }
};

// A name that is shortened in its middle where it is long: beginning and end tell names apart.
zorro.short = function (name, most = 44) {
  if (name.length <= most) return name;
  const half = Math.floor((most - 1) / 2);
  return `${name.slice(0, half)}…${name.slice(-half)}`;
};

zorro.number = (value) => value.toLocaleString("en");

// Rounded to so many decimals as `zorro.explanation.written` does, so that page and text agree.
zorro.rounded = (value, digits) => {
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.floor(Math.abs(value) * scale + 0.5)) / scale;
};

// .93, and never 1.00 for what is less.
zorro.share = (value) =>
  value < 1 && value >= 0.995
    ? ">.99"
    : zorro.rounded(value, 2).toFixed(2).replace(/^0/, "");

// What was shown, rounded down as `zorro.explanation.written` does: ≥ .85.
zorro.atLeast = (bound, digits = 2) => {
  const scale = 10 ** digits;
  const short = (Math.floor(bound * scale + 1e-9) / scale).toFixed(digits);
  return `≥ ${short.replace(/^0/, "")}`;
};

zorro.signed = (value) => `${value < 0 ? "−" : ""}${zorro.share(Math.abs(value))}`;

// A threshold as it was given.
zorro.exact = (value) => String(+value.toFixed(6)).replace(/^0/, "");

zorro.percent = (value) => `${zorro.rounded(100 * value, 1)}\u00a0%`;

// How many times as often something is: two digits, or whole numbers.
zorro.times = (lift) => {
  if (lift >= 10) return zorro.number(zorro.rounded(lift, 0));
  return lift > 0 ? String(zorro.rounded(lift, 1 - Math.floor(Math.log10(lift)))) : "0";
};

zorro.statusName = (row) =>
  row.status === "certified" || !row.certified ? row.status : `${row.status}, certified`;
