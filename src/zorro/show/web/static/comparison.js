// Two explanations of one query side by side, on one layout, and what they share.
"use strict";
window.zorro = window.zorro || {};

// sides: [{name, row, detail, words}] of two, each with its own wording.
zorro.comparison = function (container, {sides, wording}) {
  const root = d3.select(container);
  const grid = root.append("div").attr("class", "panels halves");
  const scene = together();
  for (const side of sides) column(side);
  const section = root.append("section").attr("class", "panel shared");
  section.append("h3").text("What they share");
  const both = wording.kept.filter(({key}) => sides.every(({detail}) => detail[key]));
  for (const {key, nouns, label} of both) shared(section, key, nouns, label);
  if (!both.length)
    section.append("p").attr("class", "muted").text("Their sets are of different kinds.");

  function together() {
    const scenes = sides.map((side) => side.detail.scene).filter(Boolean);
    if (!scenes.length) return null;
    const [one, other] = scenes;
    return other ? zorro.layout.merged(one, other) : one;
  }

  function column({name, row, detail, words: own}) {
    const panel = grid.append("section").attr("class", "panel");
    const head = panel.append("div").attr("class", "heading");
    head.append("h3").text(name);
    if (row.certified || row.status !== detail.method) zorro.badge(head, row);
    panel
      .append("p")
      .attr("class", "size")
      .text(own.size((key) => detail[key].length));
    zorro
      .meter(panel.append("div").attr("class", "scale").node(), {tau: detail.tau, found: null})
      .update({
        value: detail.fidelity.value,
        low: detail.fidelity.lower,
        high: detail.fidelity.upper,
      });
    const {value, lower, upper, samples} = detail.fidelity;
    const share = zorro.shareWithRange(value, lower, upper);
    panel
      .append("p")
      .attr("class", "muted small")
      .text(`Fidelity ${share} in ${zorro.number(samples)} random worlds`);
    if (!scene) return;
    const words = own.within(detail);
    const kept = zorro.keptInDrawing(detail, words, (texts) => texts.join(", "));
    zorro.scene(
      panel.append("div").attr("class", "board").node(),
      zorro.layout.keeping(scene, detail.nodes ?? []),
      {
        wording: words,
        describe: `${name}: kept fixed: ${kept}`,
        keptEdges: detail.edges ?? [],
        frame: zorro.frame(scene),
      },
    );
  }

  function shared(section, kind, noun, label) {
    const [one, other] = sides.map((side) => new Set(side.detail[kind]));
    const groups = [
      ["Both", [...one].filter((id) => other.has(id))],
      [`Only ${sides[0].name}`, [...one].filter((id) => !other.has(id))],
      [`Only ${sides[1].name}`, [...other].filter((id) => !one.has(id))],
    ];
    const all = new Set([...one, ...other]).size;
    section
      .append("h4")
      .text(`${wording.capital(noun)}: ${groups[0][1].length} of ${all} in both`);
    zorro.facts(
      section.append("dl").attr("class", "facts").node(),
      groups.map(([name, ids]) => [name, listed(ids.map(label))]),
    );
  }

  function listed(texts, most = 60) {
    if (!texts.length) return "–";
    const said = texts.slice(0, most).join(", ");
    return texts.length > most ? `${said} and ${texts.length - most} more` : said;
  }
};
