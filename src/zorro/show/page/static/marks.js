// Small marks that stand for a class, an answer or a status, wherever they are shown.
"use strict";
window.zorro = window.zorro || {};

// Writes a name that gives way in its middle where there is no room for it: beginnings are often
// the same, and the end tells names apart.
zorro.middle = function (parent, name) {
  const tail = 9;
  const place = parent.append("span").attr("class", "middle");
  if (name.length <= 2 * tail) return place.text(name);
  place.attr("title", name);
  place.append("span").text(name.slice(0, -tail));
  place.append("span").text(name.slice(-tail));
  return place;
};

zorro.classChip = function (parent, number, wording) {
  const name = wording.className(number);
  const chip = parent.append("span").attr("class", "chip").attr("title", name);
  chip
    .append("span")
    .attr("class", `swatch class shape-${wording.shape(number)}`)
    .attr("aria-hidden", "true")
    .style("background", wording.colour(number));
  zorro.middle(chip, name);
  return chip;
};

zorro.badge = function (parent, row) {
  return parent
    .append("span")
    .attr("class", `badge ${row.certified ? "good" : "open"}`)
    .text(zorro.statusName(row));
};

zorro.answerMark = function (parent, row) {
  const isRight = row.truth === row.class;
  return parent
    .append("span")
    .attr("class", isRight ? "right" : "wrong")
    .attr("role", "img")
    .attr("aria-label", isRight ? "right" : "wrong")
    .text(isRight ? "✓" : "✗");
};

// A list of names and texts.
zorro.facts = function (container, lines) {
  const items = d3.select(container).selectAll("div").data(lines).join("div");
  items.append("dt").text(([name]) => name);
  items.append("dd").text(([, text]) => text);
};
