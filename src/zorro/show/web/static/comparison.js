// Explanations of one query side by side, on one layout, and what they share.
"use strict";
window.zorro = window.zorro || {};

// sides: [{name, row, detail, words}] of two or more, each with its own wording.
zorro.comparison = function (container, {sides, wording}) {
  const mostScored = 25;
  const root = d3.select(container);
  const isPair = sides.length === 2;
  const grid = root.append("div").attr("class", `panels ${isPair ? "halves" : "several"}`);
  const scene = together();
  for (const side of sides) column(side);
  const section = root.append("section").attr("class", "panel shared");
  section.append("h3").text("What they share");
  const both = wording.kept.filter(({key}) => sides.every(({detail}) => detail[key]));
  for (const kind of both) shared(section, kind);
  if (!both.length)
    section.append("p").attr("class", "muted").text("Their sets are of different kinds.");

  function together() {
    const scenes = sides.map((side) => side.detail.scene).filter(Boolean);
    if (!scenes.length) return null;
    return scenes.reduce((one, other) => zorro.layout.merged(one, other));
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
    if (detail.masks) scored(panel, detail, own);
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
        whole: {types: detail.types ?? [], relations: detail.relations ?? []},
        frame: zorro.frame(scene),
      },
    );
  }

  // Of a method that gives scores: where the set is cut off, and what the scores are worth whole.
  function scored(panel, {masks}, own) {
    const {value, lower, upper, samples} = masks.fidelity;
    const cuts = [
      ["nodes", own.countedNodes],
      ["features", own.countedFeatures],
    ]
      .filter(([key]) => masks[key])
      .map(([key, counted]) => `${masks[key].length} of ${counted(masks.ranked[key])}`);
    const share = zorro.shareWithRange(value, lower, upper);
    const cut = `Cut off: the highest ${cuts.join(" and ")} with a score above 0.`;
    panel
      .append("p")
      .attr("class", "muted small scored")
      .text(
        [
          ...(cuts.length ? [cut] : []),
          `All scores as they are, as weights of what is kept: fidelity ${share}`,
          `in ${zorro.number(samples)}.`,
        ].join(" "),
      );
  }

  function shared(section, {key, nouns, label}) {
    const held = sides.map(({detail}) => new Set(detail[key]));
    const all = [...new Set(held.flatMap((one) => [...one]))];
    const inAll = all.filter((id) => held.every((one) => one.has(id)));
    const where = isPair ? "both" : `all ${sides.length}`;
    section
      .append("h4")
      .text(`${wording.capital(nouns)}: ${inAll.length} of ${all.length} in ${where}`);
    if (isPair) {
      const only = (at) => all.filter((id) => held[at].has(id) && !held[1 - at].has(id));
      const groups = [["Both", inAll], ...sides.map(({name}, at) => [`Only ${name}`, only(at)])];
      zorro.facts(
        section.append("dl").attr("class", "facts").node(),
        groups.map(([name, ids]) => [name, listed(ids.map(label))]),
      );
    }
    const hasScores = sides.some(({detail}) => detail.masks?.[key]);
    if (all.length && (hasScores || !isPair)) scores(section, {key, nouns, label, all, held});
  }

  // What each side says of each element: those that most sides keep come first.
  function scores(section, {key, nouns, label, all, held}) {
    const count = (id) => held.filter((one) => one.has(id)).length;
    const ids = d3.sort(all, (id) => -count(id));
    const given = sides.map(({detail}) => new Map(detail.masks?.[key] ?? []));
    const frame = section.append("div").attr("class", "frame scroll").attr("tabindex", 0);
    frame.attr("role", "region").attr("aria-label", `Scores of ${nouns}`);
    const table = frame.append("table").attr("class", "plain scores");
    const head = table.append("thead").append("tr");
    head.append("th").attr("scope", "col").text(wording.capital(wording.elements[key].noun));
    for (const {name} of sides)
      head.append("th").attr("scope", "col").attr("class", "number").text(name);
    const body = table.append("tbody");
    for (const id of ids.slice(0, mostScored)) {
      const line = body.append("tr");
      const full = label(id);
      line.append("th").attr("scope", "row").attr("title", full).text(zorro.short(full));
      sides.forEach(({detail}, at) => {
        const cell = line.append("td").attr("class", "number");
        if (!held[at].has(id)) cell.attr("class", "number muted").text("–");
        else if (given[at].has(id)) cell.text(String(+given[at].get(id).toPrecision(2)));
        else {
          cell.text("kept");
          zorro.loss(cell, detail.losses?.[key]?.[detail[key].indexOf(id)]);
        }
      });
    }
    const rest = ids.length - mostScored;
    const more = rest > 0 ? ` ${zorro.number(rest)} more are not listed.` : "";
    section
      .append("p")
      .attr("class", "muted small")
      .text(`A method's own scores, of which only the order compares; “kept” where there are none.${more}`);
  }

  function listed(texts, most = 60) {
    if (!texts.length) return "–";
    const said = texts.slice(0, most).join(", ");
    return texts.length > most ? `${said} and ${texts.length - most} more` : said;
  }
};
