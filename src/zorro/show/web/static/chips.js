// Elements of a set as buttons that take them in and out, and a box to add others.
"use strict";
window.zorro = window.zorro || {};

// ids(): all that are or were in; has(id): whether one is in; add: what zorro.adder needs.
// Returns {update}.
zorro.chips = function (parent, {name, ids, has, label, colour = null, onToggle, add}) {
  const group = parent
    .append("div")
    .attr("class", "chips")
    .attr("role", "group")
    .attr("aria-label", name);
  const list = group.append("ul");
  if (add) zorro.adder(group, add);
  update();
  return {update};

  function update() {
    const items = list
      .selectAll("li")
      .data(ids(), (id) => id)
      .join((enter) => {
        const item = enter.append("li");
        const button = item
          .append("button")
          .attr("type", "button")
          .attr("class", "toggle")
          .on("click", (_, id) => onToggle(id));
        if (colour) {
          button
            .append("span")
            .attr("class", "swatch class")
            .attr("aria-hidden", "true")
            .style("background", (id) => colour(id) ?? "var(--context)");
        }
        button.each(function (id) {
          zorro.middle(d3.select(this), label(id));
        });
        return item;
      });
    items.select("button").attr("aria-pressed", (id) => String(has(id)));
  }
};
