// Graphs of several types: what their nodes, edges and relations are called.
"use strict";
window.zorro = window.zorro || {};

// The shapes of types' marks; classes whose colours come again have the first three.
zorro.shapes = [
  d3.symbolCircle,
  d3.symbolSquare,
  d3.symbolDiamond,
  d3.symbolTriangle,
  d3.symbolStar,
  d3.symbolCross,
];

// types: {nodes: [{name, first, count}], relations: [[source, name, target]], target}: nodes are
// numbered type by type, and the number of an edge of several between its nodes tells its relation.
zorro.typed = function ({nodes, relations, target}) {
  const asked = nodes.find(({name}) => name === target);
  const has = ({first, count}, id) => first <= id && id < first + count;
  const typeOf = (id) => nodes.find((type) => has(type, id));
  const relation = (edge) => Number(edge.split("-")[2] ?? 0) % relations.length;
  return {
    relations: relations.map((each) => each.join("–")),
    relation,
    node: (id) => {
      const type = typeOf(id);
      return type ? `${type.name} ${id - type.first}` : String(id);
    },
    query: (id) => (has(asked, id) ? id - asked.first : null),
    // Of an edge its ends in the order of its relation, with the relation's name between them.
    edge: (id, label) => {
      const [source, name, end] = relations[relation(id)];
      const again = Math.floor(Number(id.split("-")[2] ?? 0) / relations.length);
      const ends = zorro.ends(id);
      const isTurned = source !== end && typeOf(ends[0]).name !== source;
      const [one, other] = isTurned ? ends.toReversed() : ends;
      return `${label(one)} ${name} ${label(other)}${again ? ` (${again})` : ""}`;
    },
  };
};

// Which relations' edges a drawing shows; hidden: a set of their numbers that are left out, which
// changes; onChange is told when it does.
zorro.relationFilter = function (container, scene, {wording, hidden, onChange}) {
  const shown = d3.sort(new Set(scene.elements.flat().map(wording.relationOf)));
  if (shown.length < 2) return;
  const root = d3
    .select(container)
    .append("div")
    .attr("class", "relations")
    .attr("role", "group")
    .attr("aria-label", "Relations that are drawn");
  const buttons = root
    .selectAll("button")
    .data(shown)
    .join("button")
    .attr("type", "button")
    .attr("class", "relation")
    .text((number) => wording.relations[number])
    .on("click", (_, number) => {
      if (!hidden.delete(number)) hidden.add(number);
      mark();
      onChange();
    });
  mark();

  function mark() {
    buttons.attr("aria-pressed", (number) => String(!hidden.has(number)));
  }
};
