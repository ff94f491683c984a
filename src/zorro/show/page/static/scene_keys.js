// Marks of a drawing as buttons: one stop for Tab, arrows go from mark to mark.
"use strict";
window.zorro = window.zorro || {};

// marks: a selection; x, y: where a mark's datum is; isFirst: at which Tab stops first.
zorro.sceneKeys = function (marks, {x, y, isFirst, onToggle}) {
  const arrows = {
    ArrowRight: [1, 0],
    ArrowLeft: [-1, 0],
    ArrowDown: [0, 1],
    ArrowUp: [0, -1],
  };
  marks
    .attr("role", "button")
    .attr("tabindex", (mark) => (isFirst(mark) ? 0 : -1))
    .on("click", (_, mark) => onToggle(mark.id))
    .on("focus", (event) => {
      marks.attr("tabindex", -1);
      d3.select(event.currentTarget).attr("tabindex", 0);
    })
    .on("keydown", (event, mark) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        onToggle(mark.id);
      } else if (event.key in arrows) {
        event.preventDefault();
        const next = beside(mark, arrows[event.key]);
        marks.filter((other) => other === next).each((_, at, group) => group[at].focus());
      }
    });

  // The nearest mark that way; what lies aside counts as further away.
  function beside(mark, [right, down]) {
    const cost = (other) => {
      const [dx, dy] = [x(other) - x(mark), y(other) - y(mark)];
      const along = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      return other === mark || along <= 0.5 || aside > 2 * along ? Infinity : along + 2 * aside;
    };
    const next = d3.least(marks.data(), cost);
    return next && cost(next) < Infinity ? next : mark;
  }
};
