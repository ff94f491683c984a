// A neighbourhood: the query in the centre, others on rings by distance, kept ones stressed.
"use strict";
window.zorro = window.zorro || {};

// scene: {nodes: [[id, x, y, hop, selected, class]], edges: [i, j, i, j, …], hidden}
// onToggle(id), if given, makes each node a button; frame {reach, hops, dot} is that of a larger
// drawing which this one lies in; onFit({width, height, x, y}) hears where things are.
// Returns {svg, select}: select(ids) changes which nodes are kept.
zorro.scene = function (
  container,
  scene,
  {wording, describe, onToggle = null, frame = null, onFit = null},
) {
  const nodes = scene.nodes.map(([id, x, y, hop, selected, cls], place) => ({
    id,
    x,
    y,
    hop,
    selected: Boolean(selected),
    class: cls,
    query: place === 0,
  }));
  const edges = d3
    .range(0, scene.edges.length, 2)
    .map((at) => [nodes[scene.edges[at]], nodes[scene.edges[at + 1]]]);
  const shapes = [d3.symbolCircle, d3.symbolSquare, d3.symbolDiamond];
  const reach = frame?.reach ?? (d3.max(nodes, (node) => Math.hypot(node.x, node.y)) || 1);
  const dot = frame?.dot ?? 4; // the radius of nodes that are not kept
  const hops = frame?.hops ?? (d3.max(nodes, (node) => node.hop) || 0);
  const svg = d3
    .select(container)
    .append("svg")
    .attr("class", "scene")
    .attr("role", onToggle ? "group" : "img")
    .attr("aria-label", describe);
  let at = null; // the size and the places of the last drawing

  zorro.fitted(container, (width) => {
    const height = Math.round(Math.min(width * (width < 480 ? 1 : 0.86), 480));
    const scale = (Math.min(width, height) / 2 - 30) / reach;
    const stretch = Math.max(0.8, Math.min(1.35, (width / 2 - 44) / (height / 2 - 30)));
    const x = (node) => width / 2 + node.x * scale * stretch;
    const y = (node) => height / 2 - node.y * scale;
    at = {width, height, x, y};
    svg.attr("width", width).attr("height", height).selectAll("*").remove();

    svg
      .append("g")
      .attr("class", "rings")
      .selectAll("ellipse")
      .data(d3.range(1, hops + 1))
      .join("ellipse")
      .attr("cx", width / 2)
      .attr("cy", height / 2)
      .attr("rx", (hop) => hop * scale * stretch)
      .attr("ry", (hop) => hop * scale);

    svg
      .append("g")
      .attr("class", "edges")
      .selectAll("line")
      .data(edges)
      .join("line")
      .attr("x1", ([one]) => x(one))
      .attr("y1", ([one]) => y(one))
      .attr("x2", ([, other]) => x(other))
      .attr("y2", ([, other]) => y(other));

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
      .style("fill", (node) => wording.colour(node.class));
    marks.append("title");
    svg.append("g").attr("class", "labels");
    if (onToggle) zorro.sceneKeys(svg, {nodes, x, y, onToggle});
    paint();
    onFit?.(at);
  });

  return {
    svg: svg.node(),
    select(ids) {
      const kept = new Set(ids);
      for (const node of nodes) node.selected = kept.has(node.id);
      paint();
    },
  };

  // What changes when nodes are taken in or out.
  function paint() {
    svg
      .selectAll(".edges line")
      .attr("class", ([one, other]) => (stressed(one) && stressed(other) ? "stressed" : null));
    const marks = svg
      .selectAll(".nodes > g")
      .attr(
        "class",
        (node) => `node${node.selected ? " selected" : ""}${node.query ? " query" : ""}`,
      );
    marks
      .select(".dot")
      .attr("d", (node) =>
        d3.symbol(shapes[wording.shape(node.class)], Math.PI * radius(node) ** 2)(),
      );
    marks.select("title").text((node) => tip(node, wording));
    if (onToggle) {
      marks.attr("aria-pressed", (node) => String(node.selected));
      marks.attr("aria-label", (node) => wording.capital(wording.nodeName(node.id)));
    }
    const labelled = nodes.filter(stressed);
    const label = (node) => wording.nodeLabel(node.id);
    svg
      .select(".labels")
      .selectAll("text")
      .data(placed(labelled, at.x, at.y, label, at.width, at.height))
      .join("text")
      .attr("x", (place) => place.x)
      .attr("y", (place) => place.y)
      .attr("text-anchor", (place) => place.anchor)
      .text((place) => place.text);
  }

  function stressed(node) {
    return node.selected || node.query;
  }

  function radius(node) {
    return node.query ? 9 : node.selected ? 8 : dot;
  }

  function tip(node, words) {
    const parts = [words.capital(words.nodeName(node.id))];
    if (node.class !== null) parts.push(words.className(node.class));
    if (node.query) parts.push("the one that is explained");
    parts.push(node.selected ? "kept fixed" : "not kept");
    return parts.join(" · ");
  }

  // Each label goes where it hides nothing, beside its node, else above or below; or nowhere.
  function placed(shown, x, y, text, width, height) {
    const taken = shown.map((node) => box(x(node), y(node), 20, 20));
    return shown
      .map((node) => {
        const label = shortened(text(node));
        const [w, h] = [label.length * 6.8 + 4, 15];
        const gap = node.query ? 18 : 12;
        const choices = [
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
        if (node.x < 0) [choices[0], choices[1]] = [choices[1], choices[0]];
        const free = choices.find(
          ({area}) => inside(area, width, height) && !taken.some((other) => overlap(area, other)),
        );
        if (free === undefined) return null;
        taken.push(free.area);
        return {...free, text: label};
      })
      .filter(Boolean);
  }

  function shortened(text) {
    return text.length > 18 ? `${text.slice(0, 17)}…` : text;
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

// The classes that a drawing shows and what its marks mean.
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
  for (const number of d3.sort(shown.keys())) {
    item(`class shape-${wording.shape(number)}`, wording.className(number))
      .select(".swatch")
      .style("background", wording.colour(number));
  }
  item("ringed", "explained");
  item("large", "kept fixed");
  item("small", "context");
  if (scene.hidden > 0)
    list
      .append("li")
      .attr("class", "muted")
      .text(`${wording.countedNodes(scene.hidden)} more within reach, not drawn`);
};
