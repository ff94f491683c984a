// A scene: a query among its neighbours, or a whole graph; kept nodes are stressed.
"use strict";
window.zorro = window.zorro || {};

// scene: {nodes: [[id, x, y, hop, selected, kind]], edges: [i, j, i, j, …], bonds, elements, hidden,
// centre, inner, asked}: elements are the edges that each line stands for, where sets are of edges; the first `centre` nodes are asked about, `inner` hops from the middle, and `asked`
// are pairs of their places between which a link is asked about, the explained one first.
// keptEdges are those that are kept; whole: {types, relations}, numbers of those whose nodes or edges
// are kept altogether. onToggle(id), if given, makes each node a button, onToggleEdge(id)
// each edge; frame, from zorro.frame, is that of a larger
// drawing which this one lies in; onFit({width, height, x, y}) hears where things are.
// hidden: numbers of relations whose edges are left out. Returns {svg, select, paint}: select(nodes,
// edges, whole) changes which are kept; paint() is to be called when what is hidden has changed.
zorro.scene = function (
  container,
  scene,
  {
    wording,
    describe,
    keptEdges = [],
    whole = {},
    onToggle = null,
    onToggleEdge = null,
    frame = null,
    onFit = null,
    hidden = new Set(),
  },
) {
  const nodes = scene.nodes.map(([id, x, y, , selected, kind], place) => ({
    id,
    x,
    y,
    selected: Boolean(selected),
    kind,
    symbol: wording.symbol(kind),
    query: place < scene.centre,
    first: place === 0,
  }));
  let kept = new Set(keptEdges);
  let keptWhole = sets(whole);
  const edges = d3.range(0, scene.edges.length, 2).flatMap((at) => {
    const ends = [nodes[scene.edges[at]], nodes[scene.edges[at + 1]]];
    const bond = scene.bonds[at / 2] ?? null;
    const ids = scene.elements[at / 2] ?? [];
    if (!ids.length) return [{id: null, one: ends[0], other: ends[1], bond, aside: 0}];
    // Several between the same nodes lie beside each other, whichever way they lead.
    return ids.map((id, place) => {
      const isTurned = wording.directed && zorro.ends(id)[0] !== ends[0].id;
      const [one, other] = isTurned ? ends.toReversed() : ends;
      const aside = (place - (ids.length - 1) / 2) * (isTurned ? -1 : 1);
      return {id, one, other, bond, aside};
    });
  });
  const lines = edges.flatMap((edge) =>
    zorro.strokes(edge.bond).map(([shift, dashed]) => ({...edge, shift: shift + edge.aside, dashed})),
  );
  const asked = d3.pairs(scene.asked.map((place) => nodes[place])).filter((_, at) => at % 2 === 0);
  const beside = d3.rollup(
    lines.flatMap(({one, other}) => [
      [one, other],
      [other, one],
    ]),
    (pairs) => [...new Set(pairs.map(([, other]) => other))],
    ([one]) => one,
  );
  const shared = frame ?? zorro.frame(scene);
  const svg = d3
    .select(container)
    .append("svg")
    .attr("class", "scene")
    .attr("role", onToggle || onToggleEdge ? "group" : "img")
    .attr("aria-label", describe);
  let at = null; // the size and the places of the last drawing

  zorro.fitted(container, (width) => {
    const {height, x, y, rings} = zorro.sceneFit(scene.centre > 0, shared, width);
    at = {width, height, x, y};
    svg.attr("width", width).attr("height", height).selectAll("*").remove();

    svg
      .append("g")
      .attr("class", "rings")
      .selectAll("ellipse")
      .data(rings)
      .join("ellipse")
      .attr("cx", width / 2)
      .attr("cy", height / 2)
      .attr("rx", ({rx}) => rx)
      .attr("ry", ({ry}) => ry);

    svg
      .append("g")
      .attr("class", "edges")
      .selectAll("line")
      .data(lines)
      .join("line")
      .attr("stroke-dasharray", ({dashed}) => (dashed ? "3 3" : null))
      .each(laid);
    if (wording.directed) arrows();

    svg
      .append("g")
      .attr("class", "asked")
      .selectAll("line")
      .data(asked)
      .join("line")
      .attr("class", (_, place) => (place ? "rival" : null))
      .attr("x1", ([one]) => x(one))
      .attr("y1", ([one]) => y(one))
      .attr("x2", ([, other]) => x(other))
      .attr("y2", ([, other]) => y(other));

    if (onToggleEdge) edgeButtons();
    const marks = svg
      .append("g")
      .attr("class", "nodes")
      .selectAll("g")
      .data(nodes.slice().reverse())
      .join("g")
      .attr("data-node", (node) => node.id)
      .attr("transform", (node) => `translate(${x(node).toFixed(1)},${y(node).toFixed(1)})`);
    if (onToggle) marks.append("circle").attr("class", "target").attr("r", 12);
    marks
      .filter((node) => node.query)
      .append("circle")
      .attr("class", "halo")
      .attr("r", 14);
    marks
      .append("path")
      .attr("class", "dot")
      .style("fill", (node) => (node.symbol ? null : wording.kindColour(node.kind)))
      .style("--kind", (node) => (node.symbol ? wording.kindColour(node.kind) : null));
    marks
      .filter((node) => node.symbol)
      .append("text")
      .attr("class", "symbol")
      .attr("dy", "0.35em")
      .style("--on-kind", (node) => zorro.lettersOn(wording.kindColour(node.kind)))
      .text((node) => node.symbol);
    marks.append("title");
    svg.append("g").attr("class", "labels");
    if (onToggle) zorro.sceneKeys(marks, {x, y, isFirst: (node) => node.first, onToggle});
    paint();
    onFit?.(at);
  });

  return {
    svg: svg.node(),
    paint,
    select(ids, edgeIds = [], wholes = {}) {
      const chosen = new Set(ids);
      for (const node of nodes) node.selected = chosen.has(node.id);
      kept = new Set(edgeIds);
      keptWhole = sets(wholes);
      paint();
    },
  };

  // Wide areas along the edges, since lines are too thin to be hit.
  function edgeButtons() {
    const middle = (axis) => (edge) => (at[axis](edge.one) + at[axis](edge.other)) / 2;
    const wide = 14;
    const buttons = svg
      .append("g")
      .attr("class", "edge-buttons")
      .selectAll("g")
      .data(edges.filter(({id}) => id !== null))
      .join("g")
      .attr("class", "edge")
      .attr("data-edge", ({id}) => id)
      .attr("transform", ({one, other, aside}) => {
        const [dx, dy] = [at.x(other) - at.x(one), at.y(other) - at.y(one)];
        const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
        return `translate(${at.x(one)},${at.y(one)}) rotate(${angle}) translate(0,${-5 * aside})`;
      });
    buttons
      .append("rect")
      .attr("class", "target")
      .attr("y", -wide / 2)
      .attr("height", wide)
      .attr("rx", wide / 2)
      .attr("width", ({one, other}) => Math.hypot(at.x(other) - at.x(one), at.y(other) - at.y(one)));
    buttons.append("title");
    const first = edges.find(({id}) => kept.has(id)) ?? edges.find(({id}) => id !== null);
    zorro.sceneKeys(buttons, {
      x: middle("x"),
      y: middle("y"),
      isFirst: (edge) => edge === first,
      onToggle: onToggleEdge,
    });
  }

  // Which way directed edges lead.
  function arrows() {
    svg
      .append("g")
      .attr("class", "arrows")
      .selectAll("path")
      .data(edges.filter(({id}) => id !== null))
      .join("path")
      .attr("d", "M-5,-4L5,0L-5,4Z")
      .attr("transform", ({one, other, aside}) => {
        const [dx, dy] = [at.x(other) - at.x(one), at.y(other) - at.y(one)];
        const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
        const [x, y] = [at.x(one) + 0.62 * dx, at.y(one) + 0.62 * dy];
        return `translate(${x},${y}) rotate(${angle}) translate(0,${-5 * aside})`;
      });
  }

  // What changes when nodes or edges are taken in or out.
  function paint() {
    const isKept = ({id}) => id !== null && kept.has(id);
    for (const node of nodes) node.end = false;
    for (const edge of edges.filter(isKept)) edge.one.end = edge.other.end = true;
    for (const node of nodes) node.isLeft = !hidden.size || stressed(node);
    for (const edge of edges.filter((each) => !isHidden(each)))
      edge.one.isLeft = edge.other.isLeft = true;
    svg
      .selectAll(".edges line")
      .attr("class", (line) => {
        const {one, other, bond} = line;
        const isStressed = !wording.keepsEdges && stressed(one) && stressed(other);
        const isWhole = line.id !== null && keptWhole.relations.has(wording.relationOf(line.id));
        const how = isKept(line) || isWhole ? "kept" : isStressed ? "stressed" : "";
        return `${bond ? "bond" : ""} ${how} ${isHidden(line) ? "off" : ""}`.trim() || null;
      })
      .filter(".kept")
      .raise();
    svg.classed("many", svg.selectAll(".edges .kept").size() > 40); // thick lines would cover all else
    svg.selectAll(".arrows path").attr("class", (edge) => (isKept(edge) ? "kept" : null));
    const buttons = svg.selectAll(".edge").attr("aria-pressed", (edge) => String(isKept(edge)));
    buttons.attr("aria-label", ({id}) => wording.capital(wording.elements.edges.name(id)));
    buttons
      .select("title")
      .text((edge) => `${wording.edgeLabel(edge.id)}: ${isKept(edge) ? "kept; click to drop" : "not kept; click to keep"}`);
    const marks = svg
      .selectAll(".nodes > g")
      .attr(
        "class",
        (node) =>
          `node${node.selected ? " selected" : ""}${node.query ? " query" : ""}` +
          `${node.end ? " end" : ""}${isWhole(node) ? " whole" : ""}${node.isLeft ? "" : " off"}` +
          `${node.symbol ? " atom" : ""}`,
      );
    marks
      .select(".dot")
      .attr("d", (node) =>
        d3.symbol(zorro.shapes[wording.kindShape(node.kind)], Math.PI * radius(node) ** 2)(),
      );
    marks.select("title").text((node) => tip(node, wording));
    if (onToggle) {
      marks.attr("aria-pressed", (node) => String(node.selected));
      marks.attr("aria-label", (node) => wording.capital(wording.nodeName(node.id)));
    }
    const labelled = nodes.filter(stressed);
    const label = (node) => (node.symbol ? String(node.id) : wording.nodeLabel(node.id));
    svg
      .select(".labels")
      .selectAll("text")
      .data(placed(labelled, at.x, at.y, label, at.width, at.height))
      .join("text")
      .attr("class", (place) => (place.isNumber ? "number" : null))
      .attr("x", (place) => place.x)
      .attr("y", (place) => place.y)
      .attr("text-anchor", (place) => place.anchor)
      .text((place) => place.text);
  }

  function isHidden({id}) {
    return id !== null && hidden.has(wording.relationOf(id));
  }

  function stressed(node) {
    return node.selected || node.query || node.end;
  }

  function radius(node) {
    if (node.symbol) return 13;
    return node.query ? 9 : node.selected ? 8 : node.end || isWhole(node) ? 6 : shared.dot;
  }

  // Whether all nodes of its type are kept.
  function isWhole({kind}) {
    return kind !== null && keptWhole.types.has(kind);
  }

  function sets({types = [], relations = []}) {
    return {types: new Set(types), relations: new Set(relations)};
  }

  // Lines of one bond lie beside each other.
  function laid({one, other, shift}) {
    const [x1, y1, x2, y2] = [at.x(one), at.y(one), at.x(other), at.y(other)];
    const aside = (5 * shift) / (Math.hypot(x2 - x1, y2 - y1) || 1);
    const [dx, dy] = [(y2 - y1) * aside, (x1 - x2) * aside];
    d3.select(this)
      .attr("x1", x1 + dx)
      .attr("y1", y1 + dy)
      .attr("x2", x2 + dx)
      .attr("y2", y2 + dy);
  }

  function tip(node, words) {
    const parts = [words.capital(words.nodeName(node.id))];
    if (node.kind !== null && !node.symbol && !words.relations.length)
      parts.push(words.kindName(node.kind));
    if (node.query) parts.push(words.level.centre);
    if (wording.keepsNodes) parts.push(node.selected ? "kept fixed" : "not kept");
    return parts.join(" · ");
  }

  // Each label goes where it hides nothing, beside its node, else above or below; or nowhere.
  function placed(shown, x, y, text, width, height) {
    const taken = shown.map((node) => box(x(node), y(node), room(node), room(node)));
    return shown
      .map((node) => {
        const label = zorro.short(text(node), 19);
        const [w, h] = [label.length * 6.8 + 4, 15];
        const gap = node.query ? 18 : 12;
        const choices = [
          ...(node.symbol || node.end ? [between(node, w, h)] : []),
          {
            x: x(node) + gap,
            y: y(node) + 4,
            anchor: "start",
            area: box(x(node) + gap + w / 2, y(node), w, h),
          },
          {
            x: x(node) - gap,
            y: y(node) + 4,
            anchor: "end",
            area: box(x(node) - gap - w / 2, y(node), w, h),
          },
          {
            x: x(node),
            y: y(node) - gap,
            anchor: "middle",
            area: box(x(node), y(node) - gap - 4, w, h),
          },
          {
            x: x(node),
            y: y(node) + gap + 9,
            anchor: "middle",
            area: box(x(node), y(node) + gap + 4, w, h),
          },
        ];
        if (node.x < 0 && !node.symbol && !node.end) [choices[0], choices[1]] = [choices[1], choices[0]];
        const others = node.symbol ? taken.filter((_, place) => shown[place] !== node) : taken;
        const free = choices.find(
          ({area}) => inside(area, width, height) && !others.some((other) => overlap(area, other)),
        );
        if (free === undefined) return null;
        taken.push(free.area);
        return {...free, text: label, isNumber: node.symbol !== ""};
      })
      .filter(Boolean);
  }

  // An atom's number goes where the angle between its bonds is widest; the label of another end of
  // kept edges where that between these is.
  function between(node, w, h) {
    const near = node.symbol ? beside.get(node) : keptBeside(node);
    const angles = d3.sort(near ?? [], (other) => angle(node, other));
    const gaps = angles.map((other, place) => {
      const from = angle(node, other);
      const next = angles[(place + 1) % angles.length];
      const wide = (angle(node, next) - from + 2 * Math.PI) % (2 * Math.PI) || 2 * Math.PI;
      return {wide, middle: from + wide / 2};
    });
    const {middle} = d3.greatest(gaps, (gap) => gap.wide) ?? {middle: 0};
    const [far, wide] = node.symbol ? [21, 0] : [node.query ? 20 : 13, w / 2];
    const cx = at.x(node) + (far + wide * Math.abs(Math.cos(middle))) * Math.cos(middle);
    const cy = at.y(node) + far * Math.sin(middle);
    return {x: cx, y: cy + 4, anchor: "middle", area: box(cx, cy, w - 6, h - 5)};
  }

  function keptBeside(node) {
    const near = edges.filter(({id, one, other}) => kept.has(id) && (one === node || other === node));
    return near.map(({one, other}) => (one === node ? other : one));
  }

  function angle(node, other) {
    return Math.atan2(at.y(other) - at.y(node), at.x(other) - at.x(node));
  }

  function room(node) {
    return node.symbol ? 26 : 20;
  }

  function box(cx, cy, w, h) {
    return {left: cx - w / 2, right: cx + w / 2, top: cy - h / 2, bottom: cy + h / 2};
  }

  function inside(area, width, height) {
    return area.left >= 0 && area.right <= width && area.top >= 0 && area.bottom <= height;
  }

  function overlap(one, other) {
    return (
      one.left < other.right &&
      other.left < one.right &&
      one.top < other.bottom &&
      other.top < one.bottom
    );
  }
};

// The lines that an edge is drawn as: [how far to its left, whether it is dashed].
zorro.strokes = (bond) =>
  ({
    double: [[-0.5, false], [0.5, false]],
    triple: [[-1, false], [0, false], [1, false]],
    aromatic: [[0, false], [1, true]],
  })[bond] ?? [[0, false]];

// White or black, whichever can be read on a colour.
zorro.lettersOn = function (colour) {
  const {r, g, b} = d3.rgb(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#222222" : "#ffffff";
};

// The kinds of nodes that a drawing shows and what its marks mean.
zorro.sceneLegend = function (container, scene, {wording}) {
  const list = d3.select(container).append("ul").attr("class", "legend");
  const shown = d3.group(
    scene.nodes.filter((node) => node[5] !== null),
    (node) => node[5],
  );
  const item = (kind, text) => {
    const entry = list.append("li");
    entry.append("span").attr("class", `swatch ${kind}`).attr("aria-hidden", "true");
    entry.append("span").text(text);
    return entry;
  };
  for (const number of wording.areAtoms ? [] : d3.sort(shown.keys())) {
    item(`class shape-${wording.kindShape(number)}`, wording.kindName(number))
      .select(".swatch")
      .style("background", wording.kindColour(number));
  }
  if (scene.centre) item("ringed", wording.level.ringed);
  if (scene.asked.length)
    item("asked", carriesMessages(scene) ? "explained" : "explained, carries no messages");
  if (scene.asked.length > 2) item("asked rival", "what it is compared with");
  if (wording.keepsNodes) {
    item("large", "kept fixed");
    item(wording.areAtoms ? "hollow" : "small", scene.centre ? "context" : "not kept");
  }
  const keeps = (kind) => wording.kept.some(({key}) => key === kind);
  if (keeps("types")) {
    item("large", "of a type that is kept");
    item("small", "of another type");
  }
  if (wording.keepsEdges || keeps("relations")) {
    item("edge-kept", wording.keepsEdges ? "edge that is kept" : "of a relation that is kept");
    item("edge-other", "other edge");
  }
  if (scene.hidden > 0)
    list
      .append("li")
      .attr("class", "muted")
      .text(wording.level.hidden(wording, scene.hidden));

  // Whether the link that is asked about is an edge as well.
  function carriesMessages({edges, asked: [one, other]}) {
    return d3
      .range(0, edges.length, 2)
      .some((at) => Math.min(edges[at], edges[at + 1]) === one && Math.max(edges[at], edges[at + 1]) === other);
  }
};
