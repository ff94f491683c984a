// Drawings that share their places: made larger, put together, cut apart.
"use strict";
window.zorro = window.zorro || {};

zorro.layout = (function () {
  const room = 0.3; // how far a node that is added stays from others, in hops

  function has(scene, id) {
    return scene.nodes.some((node) => node[0] === id);
  }

  // The scene with a node more: on the ring of its hop, where there is the most room, or where a
  // larger scene of the same graph has it. Its edges are those that the larger scene knows.
  function withNode(scene, id, {hop = null, kind = null, larger = null}) {
    if (has(scene, id)) return scene;
    const known = larger?.nodes.find((node) => node[0] === id);
    const isPlaced = !scene.centre && known;
    const free = isPlaced ? known.slice(1, 3) : roomFor(scene, known, hop);
    const ring = known?.[3] ?? hop ?? ringOf(scene);
    const nodes = [...scene.nodes, [id, ...free, ring, 0, known?.[5] ?? kind]];
    return withLines({...scene, nodes}, edgesOf(nodes, larger, id));
  }

  // The scene with lines more; lines: [{ends, bond, elements}].
  function withLines(scene, lines) {
    const extended = (held, key) =>
      held.length || lines.some((line) => line[key]?.length)
        ? [...filled(held, scene), ...lines.map((line) => line[key])]
        : [];
    return {
      ...scene,
      edges: [...scene.edges, ...lines.flatMap(({ends}) => ends)],
      bonds: extended(scene.bonds, "bond"),
      elements: extended(scene.elements, "elements"),
    };
  }

  // As many entries as there are lines: where one of two scenes knows nothing, there are none.
  function filled(held, scene) {
    return d3.range(scene.edges.length / 2).map((at) => held[at] ?? null);
  }

  // The scene with an edge, and with its ends; one from a node to itself is not drawn.
  function withEdge(scene, id, {larger = null}) {
    const ends = zorro.ends(id);
    if (ends[0] === ends[1] || hasEdge(scene, id)) return scene;
    const all = ends.reduce((whole, end) => withNode(whole, end, {larger}), scene);
    if (hasEdge(all, id)) return all;
    const places = ends.map((end) => all.nodes.findIndex((node) => node[0] === end));
    const line = d3
      .range(all.edges.length / 2)
      .find((at) => places.every((place) => all.edges.slice(2 * at, 2 * at + 2).includes(place)));
    if (line === undefined) return withLines(all, [{ends: places, bond: null, elements: [id]}]);
    const elements = filled(all.elements, all);
    return {...all, elements: elements.with(line, [...(elements[line] ?? []), id])};
  }

  function hasEdge(scene, id) {
    return scene.elements.some((ids) => ids?.includes(id));
  }

  function ringOf(scene) {
    return Math.max(1, zorro.frame(scene).hops);
  }

  // A place on a ring that is far enough from others.
  function roomFor(scene, known, hop) {
    const ring = known?.[3] ?? hop ?? ringOf(scene);
    const start = known ? Math.atan2(known[2], known[1]) : 0;
    const places = d3.range(72).map((at) => {
      const angle = start + (at % 2 ? 1 : -1) * Math.ceil(at / 2) * (Math.PI / 36);
      const radius = ring + scene.inner;
      return [radius * Math.cos(angle), radius * Math.sin(angle)];
    });
    const nearest = ([x, y]) => d3.min(scene.nodes, (node) => Math.hypot(node[1] - x, node[2] - y));
    return places.find((place) => nearest(place) >= room) ?? d3.greatest(places, nearest);
  }

  function edgesOf(nodes, larger, id) {
    if (!larger) return [];
    const place = new Map(nodes.map((node, at) => [node[0], at]));
    return d3
      .range(0, larger.edges.length, 2)
      .map((at) => ({
        ids: [larger.nodes[larger.edges[at]][0], larger.nodes[larger.edges[at + 1]][0]],
        bond: larger.bonds[at / 2] ?? null,
        elements: larger.elements[at / 2] ?? [],
      }))
      .filter(({ids}) => ids.includes(id) && ids.every((end) => place.has(end)))
      .map(({ids, ...line}) => ({...line, ends: ids.map((end) => place.get(end))}));
  }

  // One scene with the nodes and edges of both: where the first has places, they stay.
  function merged(scene, other) {
    const all = other.nodes.reduce(
      (whole, [id, , , hop, , kind]) => withNode(whole, id, {hop, kind, larger: other}),
      scene,
    );
    const edges = other.elements.flat().filter(Boolean);
    const whole = edges.reduce((part, id) => withEdge(part, id, {larger: other}), all);
    return {...whole, hidden: Math.min(scene.hidden, other.hidden)};
  }

  // The scene with other nodes kept.
  function keeping(scene, ids) {
    const kept = new Set(ids);
    const nodes = scene.nodes.map((node) => node.with(4, Number(kept.has(node[0]))));
    return {...scene, nodes};
  }

  // The nodes that pass, and the edges between them.
  function part(scene, passes) {
    const place = new Map();
    const nodes = scene.nodes.filter((node, at) => {
      if (at >= scene.centre && !passes(node, at)) return false;
      place.set(at, place.size);
      return true;
    });
    const edges = [];
    const bonds = [];
    const elements = [];
    for (let at = 0; at < scene.edges.length; at += 2) {
      const [one, other] = [place.get(scene.edges[at]), place.get(scene.edges[at + 1])];
      if (one === undefined || other === undefined) continue;
      edges.push(one, other);
      if (scene.bonds.length) bonds.push(scene.bonds[at / 2]);
      if (scene.elements.length) elements.push(scene.elements[at / 2]);
    }
    return {...scene, nodes, edges, bonds, elements};
  }

  return {has, hasEdge, withNode, withEdge, merged, keeping, part};
})();
