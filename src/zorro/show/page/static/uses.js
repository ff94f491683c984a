// How often explanations of a class keep something: a bar with its interval, and what chance gives.
"use strict";
window.zorro = window.zorro || {};

// uses: [{what, share, expected, lift, q, present, cases}]; name(what); link(use) an address or null.
zorro.uses = function (container, {caption, uses, name, link}) {
  const figure = d3.select(container).append("div").attr("class", "uses");
  figure.append("h4").text(caption);
  const list = figure.append("ul");
  for (const use of uses) {
    const {value, lower, upper, count, total} = use.share;
    const item = list.append("li");
    const href = link(use);
    const label = item.append(href ? "a" : "span").attr("class", "name").text(zorro.short(name(use.what), 40));
    if (label.text() !== name(use.what)) label.attr("title", name(use.what));
    if (href) label.attr("href", href);
    const chance =
      use.expected === null ? "" : `, ${zorro.percent(use.expected)} expected by chance`;
    const interval = `${zorro.percent(lower)} to ${zorro.percent(upper)}`;
    const words = `${zorro.number(count)} of ${zorro.number(total)}, ${interval}${chance}`;
    const bar = item.append("span").attr("class", "gauge").attr("title", words);
    bar.append("span").attr("class", "fill").style("width", `${100 * value}%`);
    bar
      .append("span")
      .attr("class", "interval")
      .style("left", `${100 * lower}%`)
      .style("width", `${100 * (upper - lower)}%`);
    if (use.expected !== null)
      bar.append("span").attr("class", "chance").style("left", `${100 * use.expected}%`);
    const figures = item.append("span").attr("class", "figures");
    figures.append("span").text(zorro.percent(value));
    figures.append("span").attr("class", "unseen").text(` (${words})`);
    figures.append("span").attr("class", "muted lift").text(times(use));
  }

  function times({lift, q, present}) {
    const absent = present !== null && present < 0.5 ? "absent" : "";
    if (lift === null) return absent;
    const sure = lift > 1 && q > 0.05 ? "?" : "";
    return [`×${zorro.times(lift)}${sure}`, absent].filter(Boolean).join(", ");
  }
};

// What each class rests on, a panel each.
zorro.profiles = function (container, {classes, wording, address}) {
  const {number, percent} = zorro;
  classes.forEach((profile, at) => {
    const panel = d3.select(container).append("section").attr("class", "panel");
    const heading = panel.append("h3");
    if (profile.class === null) heading.text("All answers");
    else zorro.classChip(heading, profile.class, wording);
    const right = profile.right === null ? "" : `, ${percent(profile.right.value)} of them right`;
    const size = wording.size((key) => profile.sizes[key] ?? 0);
    panel
      .append("p")
      .attr("class", "muted small")
      .text(`${number(profile.count)} answers${right}; ${size} at the median`);
    const cases = (kind) => (use) =>
      use.cases.length ? address(`uses-${at}-${kind}-${use.what}`) : null;
    const shown = [
      ["features", wording.capital(wording.features), wording.featureLabel],
      ["kinds", `Kinds of ${wording.nodes}`, kindName],
      ["nodes", `Single ${wording.nodes}`, wording.nodeLabel],
    ];
    for (const [kind, caption, name] of shown) {
      const uses = profile[kind].slice(0, kind === "nodes" ? 3 : 8);
      if (uses.length) zorro.uses(panel.node(), {caption, uses, name, link: cases(kind)});
    }
  });

  function kindName(kind) {
    return {
      own: `the ${wording.node} itself`,
      training: `training ${wording.nodes}`,
      "not training": `no training ${wording.nodes}`,
    }[kind] ?? kind;
  }
};
