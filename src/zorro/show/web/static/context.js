// Thousands of nodes and edges as pixels, below a drawing whose places they share.
"use strict";
window.zorro = window.zorro || {};

// scene: all nodes; isAbove(id): whether the drawing above shows a node itself.
// Returns {draw, at, canvas}: draw(fit) paints, at(x, y) gives the id of the node there or null.
zorro.context = function (container, {scene, isAbove, wording}) {
  const canvas = d3
    .select(container)
    .insert("canvas", ":first-child")
    .attr("class", "context")
    .attr("aria-hidden", "true")
    .node();
  let tree = null;
  return {canvas, draw, at};

  function draw({width, height, x, y}) {
    const fine = window.devicePixelRatio || 1;
    const style = window.getComputedStyle(container);
    canvas.width = width * fine;
    canvas.height = height * fine;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const places = scene.nodes.map(([id, left, up, , , kind]) => {
      const node = {x: left, y: up};
      return {id, x: x(node), y: y(node), kind};
    });
    const pen = canvas.getContext("2d");
    pen.scale(fine, fine);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = style.getPropertyValue("--edge");
    pen.globalAlpha = Math.min(0.8, 900 / (scene.edges.length + 1));
    pen.lineWidth = 0.75;
    pen.beginPath();
    for (let edge = 0; edge < scene.edges.length; edge += 2) {
      const [one, other] = [places[scene.edges[edge]], places[scene.edges[edge + 1]]];
      if (isAbove(one.id) && isAbove(other.id)) continue;
      pen.moveTo(one.x, one.y);
      pen.lineTo(other.x, other.y);
    }
    pen.stroke();
    pen.globalAlpha = Number(style.getPropertyValue("--faint")) || 0.45;
    const own = places.filter((place) => !isAbove(place.id));
    const radius = zorro.frame(scene).dot;
    for (const [kind, group] of d3.group(own, (place) => place.kind)) {
      pen.fillStyle = wording.kindColour(kind) ?? style.getPropertyValue("--context");
      pen.beginPath();
      for (const place of group) {
        pen.moveTo(place.x + radius, place.y);
        pen.arc(place.x, place.y, radius, 0, 2 * Math.PI);
      }
      pen.fill();
    }
    tree = d3
      .quadtree()
      .x((place) => place.x)
      .y((place) => place.y)
      .addAll(own);
  }

  function at(left, top) {
    return tree?.find(left, top, 9)?.id ?? null;
  }
};
