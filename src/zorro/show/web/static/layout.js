// Drawings that share their places: made larger, put together, cut apart.
"use strict";
window.zorro = window.zorro || {};

zorro.layout = (function () {
  const room = 0.3; // how far a node that is added stays from others, in hops

  // The size that drawings of parts of a scene must share.
  function frame(scene) {
    return {
      reach: d3.max(scene.nodes, ([, x, y]) => Math.hypot(x, y)) || 1,
      hops: d3.max(scene.nodes, (node) => node[3]) || 0,
      dot: scene.nodes.length > 800 ? 2 : scene.nodes.length > 200 ? 3 : 4,
    };
  }

  function has(scene, id) {
    return scene.nodes.some((node) => node[0] === id);
  }

  // The scene with a node on the ring of its hop, where there is the most room; its edges are
  // those that a larger scene knows.
  function withNode(scene, id, {hop = null, cls = null, larger = null}) {
    if (has(scene, id)) return scene;
    const known = larger?.nodes.find((node) => node[0] === id);
    const ring = known?.[3] ?? hop ?? Math.max(1, frame(scene).hops);
    const start = known ? Math.atan2(known[2], known[1]) : 0;
    const places = d3.range(72).map((at) => {
      const angle = start + (at % 2 ? 1 : -1) * Math.ceil(at / 2) * (Math.PI / 36);
      return [ring * Math.cos(angle), ring * Math.sin(angle)];
    });
    const nearest = ([x, y]) => d3.min(scene.nodes, (node) => Math.hypot(node[1] - x, node[2] - y));
    const free = places.find((place) => nearest(place) >= room) ?? d3.greatest(places, nearest);
    const nodes = [...scene.nodes, [id, ...free, ring, 0, known?.[5] ?? cls]];
    return {...scene, nodes, edges: [...scene.edges, ...edgesOf(nodes, larger, id)]};
  }

  function edgesOf(nodes, larger, id) {
    if (!larger) return [];
    const place = new Map(nodes.map((node, at) => [node[0], at]));
    const ends = d3.pairs(larger.edges).filter((_, at) => at % 2 === 0);
    return ends
      .map(([one, other]) => [larger.nodes[one][0], larger.nodes[other][0]])
      .filter((pair) => pair.includes(id) && pair.every((end) => place.has(end)))
      .flatMap((pair) => pair.map((end) => place.get(end)));
  }

  // One scene with the nodes and edges of both: where the first has places, they stay.
  function merged(scene, other) {
    const all = other.nodes.reduce(
      (whole, [id, , , hop, , cls]) => withNode(whole, id, {hop, cls, larger: other}),
      scene,
    );
    return {...all, hidden: Math.min(scene.hidden, other.hidden)};
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
      if (at > 0 && !passes(node, at)) return false;
      place.set(at, place.size);
      return true;
    });
    const edges = [];
    for (let at = 0; at < scene.edges.length; at += 2) {
      const [one, other] = [place.get(scene.edges[at]), place.get(scene.edges[at + 1])];
      if (one !== undefined && other !== undefined) edges.push(one, other);
    }
    return {...scene, nodes, edges};
  }

  return {frame, has, withNode, merged, keeping, part};
})();
