// What is said differently of nodes and of whole graphs, level by level.
"use strict";
window.zorro = window.zorro || {};

zorro.levels = {
  node: {
    noun: (labels) => labels.node,
    label: (labels, id) => labels.nodes[id] ?? String(id),
    hasNames: (labels) => Object.keys(labels.nodes).length > 0,
    drawing: () => "Neighbourhood",
    around: (wording, id, scene) =>
      `${wording.capital(wording.queryName(id))} and ` +
      `${wording.countedNodes(scene.nodes.length - 1)} around it`,
    hidden: (wording, count) => `${wording.countedNodes(count)} more within reach, not drawn`,
    undrawn: "The neighbourhood is not drawn: the graph was not at hand when this page was made.",
    unseen:
      "The graph was not at hand when this page was made, so that it shows neither " +
      "neighbourhoods nor values.",
    outOf: (wording, {data}) => `of ${zorro.number(data.nodes)}`,
    data: "Graph",
    sizes: (wording, data) => [wording.countedNodes(data.nodes)],
    nodesAreQueries: true,
    none: (wording) => `There is no such ${wording.node} in the graph.`,
  },
  graph: {
    noun: (labels) => labels.graph,
    label: (labels, id) => String(id),
    hasNames: () => false,
    drawing: (wording) => wording.capital(wording.query),
    around: (wording, id, scene) =>
      `${wording.capital(wording.queryName(id))}, ` +
      `${scene.hidden ? "part of it, " : ""}${wording.countedNodes(scene.nodes.length)}`,
    hidden: (wording, count) =>
      `${wording.countedNodes(count)} more of this ${wording.query}, not drawn`,
    undrawn: "It is not drawn: the graphs were not at hand when this page was made.",
    unseen:
      "The graphs were not at hand when this page was made, so that it shows neither drawings " +
      "nor values.",
    outOf: (wording, {medianSize}) =>
      medianSize === null ? "" : `of ${zorro.number(medianSize)}, median`,
    data: "Graphs",
    sizes: (wording, data) => [
      wording.countedQueries(data.graphs),
      wording.countedNodes(data.nodes),
    ],
    nodesAreQueries: false,
    none: (wording) => `There is no such ${wording.query} in the data set.`,
  },
};
