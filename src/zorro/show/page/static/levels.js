// What is said differently of nodes, of links and of whole graphs, level by level.
"use strict";
window.zorro = window.zorro || {};

// Queries are told by their addresses: a node's or graph's number, the ends of a link as "3-7".
//   read(text): the address that a text means, null if none; exists(id, count): of so many nodes
//     or graphs; range: which there are, in words; hint: how one is written
//   order(labels, id): what they are sorted by; column: the kind of their column in the table
//   whyNot: what answers are asked against, "classes" or "links"; otherName: what one is called
zorro.levels = (function () {
  const number = {
    read: (text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null),
    exists: (id, count) => id < count,
    range: (wording, count) => `from 0 to ${zorro.number(count - 1)}`,
    whyNot: "classes",
    otherName: (wording, other) => wording.className(other),
  };
  const ends = (id) => id.split("-").map(Number);
  // Where there are several types, queries are numbered among those of their own.
  const isNamed = (labels) => !labels.types && Object.keys(labels.nodes).length > 0;

  return {
    node: {
      ...number,
      noun: (labels) => labels.types?.target ?? labels.node,
      label: (labels, id) => (isNamed(labels) ? (labels.nodes[id] ?? String(id)) : String(id)),
      hasNames: isNamed,
      hint: (labels) => (isNamed(labels) ? "id or name" : "number"),
      order: (labels, id) => (isNamed(labels) ? (labels.nodes[id] ?? String(id)) : id),
      column: (labels) => (isNamed(labels) ? "named" : "number"),
      drawing: () => "Neighbourhood",
      around: (wording, id, scene) =>
        `${wording.capital(wording.queryName(id))} and ` +
        `${wording.countedNodes(scene.nodes.length - 1)} around it`,
      ringed: "explained",
      centre: "the one that is explained",
      hidden: (wording, count) => `${wording.countedNodes(count)} more within reach, not drawn`,
      undrawn: "The neighbourhood is not drawn: the graph was not at hand when this page was made.",
      unseen:
        "The graph was not at hand when this page was made, so that it shows neither " +
        "neighbourhoods nor values.",
      outOf: (wording, {data}) => `of ${zorro.number(data.nodes)}`,
      data: "Graph",
      sizes: (wording, data) =>
        wording.typeSizes.length ? wording.typeSizes : [wording.countedNodes(data.nodes)],
      nodesAreQueries: true,
      none: (wording) => `There is no such ${wording.node} in the graph.`,
    },
    link: {
      read: (text) => {
        const found = /^\s*(\d{1,15})\s*[-–,\s]\s*(\d{1,15})\s*$/.exec(text);
        return found ? `${Number(found[1])}-${Number(found[2])}` : null;
      },
      exists: (id, count) => ends(id).every((end) => end < count),
      range: (wording, count) => `between ${wording.nodes} 0 to ${zorro.number(count - 1)}`,
      whyNot: "links",
      otherName: (wording, other) => wording.queryName(other),
      noun: () => "link",
      label: (labels, id) =>
        ends(id)
          .map((end) => labels.nodes[end] ?? end)
          .join("\u00a0–\u00a0"),
      hasNames: () => false,
      hint: () => "such as 3-7",
      order: (labels, id) =>
        ends(id)
          .map((end) => String(end).padStart(16, "0"))
          .join("-"),
      column: () => "ends",
      drawing: () => "Both ends and what is around them",
      around: (wording, id, scene) =>
        `${wording.capital(wording.queryName(id))} and ` +
        `${wording.countedNodes(scene.nodes.length - scene.centre)} around it`,
      ringed: "its ends",
      centre: "an end that is asked about",
      hidden: (wording, count) => `${wording.countedNodes(count)} more within reach, not drawn`,
      undrawn: "It is not drawn: the graph was not at hand when this page was made.",
      unseen:
        "The graph was not at hand when this page was made, so that it shows neither drawings " +
        "nor values.",
      outOf: (wording, {data}) => `of ${zorro.number(data.nodes)}`,
      data: "Graph",
      sizes: (wording, data) => [wording.countedNodes(data.nodes)],
      nodesAreQueries: false,
      none: (wording) => `There are no such ${wording.nodes} in the graph.`,
      // Of the node that a link leads from: the link to another one.
      to: (id, end) => `${ends(id)[0]}-${end}`,
      from: (id) => ends(id)[0],
    },
    graph: {
      ...number,
      noun: (labels) => labels.graph,
      label: (labels, id) => String(id),
      hasNames: () => false,
      hint: () => "number",
      order: (labels, id) => id,
      column: () => "number",
      drawing: (wording) => wording.capital(wording.query),
      around: (wording, id, scene) =>
        `${wording.capital(wording.queryName(id))}, ` +
        `${scene.hidden ? "part of it, " : ""}${wording.countedNodes(scene.nodes.length)}`,
      ringed: "",
      centre: "",
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
})();
