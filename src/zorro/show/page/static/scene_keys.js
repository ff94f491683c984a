// The nodes of a drawing as buttons: one stop for Tab, arrows go from node to node.
"use strict";
window.zorro = window.zorro || {};

zorro.sceneKeys = function (svg, {nodes, x, y, onToggle}) {
  const arrows = {
    ArrowRight: [1, 0],
    ArrowLeft: [-1, 0],
    ArrowDown: [0, 1],
    ArrowUp: [0, -1],
  };
  const marks = svg
    .selectAll(".nodes > g")
    .attr("role", "button")
    .attr("tabindex", (node) => (node.first ? 0 : -1))
    .on("click", (_, node) => onToggle(node.id))
    .on("focus", (event) => {
      marks.attr("tabindex", -1);
      d3.select(event.currentTarget).attr("tabindex", 0);
    })
    .on("keydown", (event, node) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        onToggle(node.id);
      } else if (event.key in arrows) {
        event.preventDefault();
        const next = beside(node, arrows[event.key]);
        marks.filter((other) => other === next).each((_, at, group) => group[at].focus());
      }
    });

  // The nearest node that way; what lies aside counts as further away.
  function beside(node, [right, down]) {
    const cost = (other) => {
      const [dx, dy] = [x(other) - x(node), y(other) - y(node)];
      const along = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      return other === node || along <= 0.5 || aside > 2 * along ? Infinity : along + 2 * aside;
    };
    const next = d3.least(nodes, cost);
    return next && cost(next) < Infinity ? next : node;
  }
};
