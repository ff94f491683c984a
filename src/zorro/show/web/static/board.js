// The drawing to work on: what matters as buttons, what is around it as pixels.
"use strict";
window.zorro = window.zorro || {};

// set: from zorro.editedSet; load(most): a promise of a larger scene, or null where there is none.
// onToggle(id) of nodes and onToggleEdge(id) of edges, or null if they cannot be changed.
// Returns {update, add, addEdge, picture}.
zorro.board = function (
  section,
  {scene: first, set, wording, describe, onToggle, onToggleEdge, load},
) {
  const mostButtons = 60; // nodes that are drawn one by one beside those that were ever kept
  const mostOfGraph = 150; // of a graph that is drawn whole
  const mostNodes = 2000;
  let scene = first;
  let larger = null;
  let above = null;
  let below = null;
  let shownAbove = new Set();
  let edgesAbove = new Set();
  const hidden = new Set(); // relations that are not drawn
  const field = section.append("div").attr("class", "board").node();
  const tip = section.append("div").attr("class", "tip").property("hidden", true);
  const legend = section.append("div").attr("class", "legend-place").node();
  const line = section.append("div").attr("class", "actions");
  const more = line
    .append("button")
    .attr("type", "button")
    .attr("class", "plain")
    .text(first.centre ? "Show more around it" : "Show more of it")
    .property("hidden", !load || first.hidden === 0)
    .on("click", enlarge);
  const said = line.append("p").attr("class", "muted small").attr("role", "status");
  placeAll();
  draw();
  d3.select(field)
    .on("click", (event) => {
      const id = onToggle && !event.target.closest(".node, .edge") ? under(event) : null;
      if (id !== null) onToggle(id);
    })
    .on("pointermove", (event) => point(event.target.closest(".node, .edge") ? null : under(event), event))
    .on("pointerleave", () => point(null));
  return {update, add, addEdge, picture: () => ({svg: above.svg, canvas: below?.canvas ?? null})};

  function draw() {
    const active = document.activeElement?.closest?.(".board .node, .board .edge");
    const focused = ["data-node", "data-edge"].find((name) => active?.hasAttribute(name));
    const value = focused && active.getAttribute(focused);
    field.replaceChildren();
    const touched = new Set([...set.seenNodes(), ...set.seen("edges").flatMap(zorro.ends)]);
    const most = scene.centre ? mostButtons : mostOfGraph;
    const isButton = ([id], at) => touched.has(id) || at <= most;
    const part = zorro.layout.part(scene, isButton);
    shownAbove = new Set(part.nodes.map((node) => node[0]));
    edgesAbove = new Set(part.elements.flat());
    const options = {scene, wording, isAbove: (id) => shownAbove.has(id)};
    below = part.nodes.length < scene.nodes.length ? zorro.context(field, options) : null;
    above = zorro.scene(field, zorro.layout.keeping(part, set.nodes()), {
      wording,
      describe,
      keptEdges: set.members("edges"),
      whole: whole(),
      onToggle,
      onToggleEdge,
      frame: zorro.frame(scene),
      hidden,
      onFit: (fit) => {
        below?.draw(fit);
        mark();
      },
    });
    legend.replaceChildren();
    zorro.sceneLegend(legend, larger === scene ? {...scene, hidden: 0} : scene, {wording});
    const onChange = () => {
      above.paint();
      mark();
    };
    zorro.relationFilter(legend, scene, {wording, hidden, onChange});
    if (focused) field.querySelector(`[${focused}="${value}"]`)?.focus();
  }

  function update() {
    const edges = set.members("edges").filter(isDrawn);
    const isThere = (id) => edgesAbove.has(id);
    if (set.nodes().every((id) => shownAbove.has(id)) && edges.every(isThere)) {
      above.select(set.nodes(), edges, whole());
      mark();
      return;
    }
    placeAll();
    draw();
  }

  function whole() {
    return {types: set.members("types"), relations: set.members("relations")};
  }

  // All that is kept is in the drawing.
  function placeAll() {
    for (const id of set.nodes()) if (!zorro.layout.has(scene, id)) place(id, {});
    set.members("edges").forEach(placeEdge);
  }

  function isDrawn(edge) {
    const [one, other] = zorro.ends(edge);
    return one !== other;
  }

  // What was in and is not any more can be seen, so that it is found again.
  function mark() {
    const seen = new Set(set.seenNodes());
    d3.select(field)
      .selectAll(".node")
      .classed("was", (node) => seen.has(node.id) && !set.hasNode(node.id));
    const seenEdges = new Set(set.seen("edges"));
    d3.select(field)
      .selectAll(".edges line")
      .classed("was", ({id}) => seenEdges.has(id) && !set.has("edges", id));
  }

  // A node that is not in the drawing yet gets a place, with its edges if they are known.
  async function add(id, {kind}) {
    if (zorro.layout.has(scene, id)) return;
    await enlarged();
    place(id, {kind});
  }

  async function addEdge(id) {
    if (zorro.layout.hasEdge(scene, id)) return;
    await enlarged();
    placeEdge(id);
  }

  async function enlarged() {
    if (load && !larger) larger = await load(mostNodes).catch(() => null);
  }

  function placeEdge(id) {
    scene = zorro.layout.withEdge(scene, id, {larger});
  }

  function place(id, {kind}) {
    scene = zorro.layout.withNode(scene, id, {kind, larger});
  }

  async function enlarge() {
    more.property("disabled", true);
    said.text("Loading…");
    try {
      larger = larger ?? (await load(mostNodes));
    } catch (error) {
      said.text(error.message);
      more.property("disabled", false);
      return;
    }
    scene = larger;
    for (const id of set.seenNodes()) place(id, {});
    set.seen("edges").forEach(placeEdge);
    const all = larger.nodes.length + larger.hidden;
    more.property("hidden", true);
    said.text(
      larger.hidden > 0
        ? `Showing ${zorro.number(larger.nodes.length)} of ${wording.countedNodes(all)}.`
        : `Showing all ${wording.countedNodes(all)}.`,
    );
    draw();
  }

  function under(event) {
    if (!below) return null;
    const box = field.getBoundingClientRect();
    return below.at(event.clientX - box.left, event.clientY - box.top);
  }

  function point(id, event) {
    d3.select(field).classed("pointing", id !== null && onToggle !== null);
    tip.property("hidden", id === null);
    if (id === null) return;
    const box = section.node().getBoundingClientRect();
    tip
      .text(wording.capital(wording.nodeName(id)))
      .style("left", `${event.clientX - box.left}px`)
      .style("top", `${event.clientY - box.top}px`);
  }
};
