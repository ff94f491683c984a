// One explanation in full: the sentence, its drawing, its values, how it was found, alternatives.
"use strict";
window.zorro = window.zorro || {};

// links: {back, previous, next} with hrefs or null, and query(id); isExplained: whether one has a
// page here. parts {tools, drawing, answer, values}, if given, are called with a selection to fill: tools
// below the sentence, the others instead of what is drawn here.
zorro.explanation = function (
  container,
  {row, detail, summary, wording, links, isExplained, parts = {}},
) {
  const root = d3.select(container);
  const answer = zorro.answers[row.answer];
  const mostListed = 40;
  root.selectAll("*").remove();
  navigation();
  const title = root.append("div").attr("class", "heading");
  title
    .append("h2")
    .attr("tabindex", -1)
    .text(wording.capital(wording.queryName(row.query)));
  zorro.badge(title, row);
  answer.truth(title, row, wording);
  sentence(root.append("p").attr("class", "sentence"));
  root
    .append("p")
    .attr("class", "muted small aside")
    .text(`In a random world, ${zorro.worlds.rest(wording, detail.otherEdges)}.`);
  parts.tools?.(root);

  const grid = root.append("div").attr("class", "panels");
  if (detail.scene) (parts.drawing ?? drawing)(panel(grid, wording.level.drawing(wording)));
  else withoutDrawing(grid);
  const side = grid.append("div").attr("class", detail.scene ? "side" : "side full");
  (parts.answer ?? said)(panel(side, answer.title));
  if (detail.steps.length) curve(panel(side, "Fidelity, step by step"));
  (parts.values ?? values)(panel(grid, "What it rests on", "full"));
  if (detail.alternatives.length) alternatives(panel(grid, "Other sets that are enough", "full"));
  facts(panel(grid, "Details", "full"));
  return title.select("h2").node();

  function navigation() {
    const bar = root.append("nav").attr("class", "bar").attr("aria-label", "Explanations");
    bar.append("a").attr("href", links.back).text("← All explanations");
    const steps = bar.append("span").attr("class", "steps");
    if (links.previous)
      steps.append("a").attr("href", links.previous).attr("rel", "prev").text("Previous");
    if (links.next) steps.append("a").attr("href", links.next).attr("rel", "next").text("Next");
  }

  function panel(parent, name, kind = "") {
    const section = parent.append("section").attr("class", `panel ${kind}`);
    section.append("h3").text(name);
    return section;
  }

  function sentence(parent) {
    for (const [text, isStressed] of detail.sentence)
      parent.append(isStressed ? "strong" : "span").text(text);
  }

  function drawing(section) {
    const around = wording.level.around(wording, row.query, detail.scene);
    const describe = `${around}; kept fixed: ${zorro.keptInDrawing(detail, wording, listed)}.`;
    const whole = {types: detail.types ?? [], relations: detail.relations ?? []};
    const options = {wording, describe, keptEdges: detail.edges ?? [], whole};
    const hidden = new Set();
    const drawn = zorro.scene(section.append("div").node(), detail.scene, {...options, hidden});
    zorro.sceneLegend(section.node(), detail.scene, {wording});
    zorro.relationFilter(section.node(), detail.scene, {wording, hidden, onChange: drawn.paint});
  }

  function said(section) {
    answer.show(section, {row, detail, wording});
  }

  function withoutDrawing(parent) {
    parent
      .append("p")
      .attr("class", "note full")
      .text(wording.level.undrawn);
  }

  function curve(section) {
    const threshold = zorro.exact(detail.tau);
    const rise = `Fidelity over ${detail.steps.length} steps`;
    const describe = `${rise}: ${measured()}; τ is ${threshold}.`;
    zorro.curve(section.append("div").node(), {...detail, wording, describe});
    section
      .append("p")
      .attr("class", "muted small")
      .text(
        [
          zorro.stepMarks(wording),
          "The steps are measured on the samples that the search saw;",
          `the bar at the right on ${zorro.number(detail.fidelity.samples)} that it did not.`,
        ].join(" "),
      );
    zorro.stepList(section, {steps: detail.steps, wording});
  }

  function values(section) {
    if (wording.isNothing((key) => detail[key].length)) {
      section.append("p").text(zorro.worlds.nothing(wording));
      return;
    }
    if (detail.values) {
      zorro.heatmap(section.append("div").node(), {
        shown: detail.values,
        wording,
        caption: `Values of the ${wording.features} that are kept`,
      });
    }
    elements(section, detail);
  }

  // What a set keeps of each kind; nodes that are queries too lead to their explanations.
  function elements(parent, held) {
    const list = parent.append("dl").attr("class", "kept");
    for (const {key, nouns, label} of wording.kept) {
      list.append("dt").text(wording.capital(nouns));
      const place = list.append("dd");
      if (!held[key].length) place.text("none");
      held[key].slice(0, mostListed).forEach((id, at) => {
        if (at) place.append("span").text(", ");
        const query = key === "nodes" && wording.level.nodesAreQueries ? wording.queryOf(id) : null;
        const isLink = query !== null && isExplained(query) && query !== row.query;
        const name = place.append(isLink ? "a" : "span").text(label(id));
        if (isLink) name.attr("href", links.query(query));
        zorro.loss(place, held.losses?.[key]?.[at]);
      });
      if (held[key].length > mostListed)
        place.append("span").text(` and ${held[key].length - mostListed} more`);
    }
    if (held.losses) parent.append("p").attr("class", "muted small").text(zorro.lossMeaning(held));
  }

  function alternatives(section) {
    const list = section.append("ol").attr("class", "alternatives");
    for (const other of detail.alternatives) {
      const item = list.append("li");
      item
        .append("p")
        .text(
          [
            `${wording.size((key) => other[key].length)},`,
            other.certified ? `fidelity ${zorro.atLeast(other.bound)}, certified; estimated` : "fidelity",
            zorro.share(other.fidelity),
            `(${zorro.share(other.lower)} to ${zorro.share(other.upper)})`,
            ...(other.certified ? [] : ["not certified"]),
          ].join(" "),
        );
      elements(item, other);
    }
  }

  function facts(section) {
    const work = `${zorro.number(detail.evaluations)} evaluations (${detail.evaluator})`;
    zorro.facts(section.append("dl").attr("class", "facts").node(), [
      ["Fidelity", measured()],
      ["Certificate", proved()],
      ...answer.facts(row),
      ["Looked at", detail.lookedAt],
      ["Took", `${detail.seconds} s, ${work}`],
    ]);
  }

  function measured() {
    const {value, lower, upper, samples, confidence} = detail.fidelity;
    return [
      ...(row.certified ? [`${zorro.atLeast(detail.bound, 3)}, ${sure()} sure; estimated`] : []),
      `${zorro.share(value)} on ${zorro.number(samples)} held-out samples,`,
      `${zorro.percent(confidence)} interval ${zorro.share(lower)} to ${zorro.share(upper)}`,
    ].join(" ");
  }

  function proved() {
    return row.certified ? `${sure()} sure, attempt ${detail.attempts}` : "none";
  }

  function sure() {
    return zorro.percent(1 - summary.delta);
  }

  function listed(texts, most = mostListed) {
    const shown = texts.slice(0, most).join(", ");
    return texts.length > most ? `${shown} and ${texts.length - most} more` : shown;
  }
};

// What is lost without an element, beside its name; [value, lower, upper], or nothing.
zorro.loss = function (parent, loss) {
  if (!loss) return;
  const [value, lower, upper] = loss;
  const written = `${value > 0 ? "−" : value < 0 ? "+" : "±"}${zorro.share(Math.abs(value))}`;
  parent
    .append("span")
    .attr("class", "loss")
    .attr("title", `between ${zorro.signed(lower)} and ${zorro.signed(upper)} are lost without it`)
    .text(`\u00a0${written}`);
};

zorro.lossMeaning = ({losses}) =>
  [
    "In the order of what the fidelity changes by without each,",
    `on ${zorro.number(losses.samples)} samples that the search has not seen.`,
  ].join(" ");

// What is kept of what a drawing shows, in words.
zorro.keptInDrawing = function (held, wording, listed) {
  const shown = wording.kept.filter(({key}) => key !== "features" && key !== "edge_attributes");
  return shown.map(({key, label}) => listed(held[key].map(label)) || `no ${key}`).join("; ") || "all";
};
