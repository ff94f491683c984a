// A run at a glance: what came of it in figures, what failed, and how it was made.
"use strict";
window.zorro = window.zorro || {};

zorro.cards = function (container, {summary, wording}) {
  const {number, percent} = zorro;
  const {explained, certified, failed} = summary;
  const of = (count) => `${number(count)} of ${number(explained)}`;
  const share = (count) => (explained ? percent(count / explained) : "–");
  const sure = summary.delta === null ? "not certified" : `${percent(1 - summary.delta)} sure`;
  const ofEdges = () =>
    summary.medianEdges === null ? "" : `of ${number(summary.medianEdges)} in reach`;
  const outOf = {
    nodes: () => wording.level.outOf(wording, summary),
    features: () => `of ${number(summary.data.features)}`,
    edges: ofEdges,
    edge_attributes: ofEdges,
    types: () => `of ${number(wording.typeNames.length)}`,
    relations: () => `of ${number(wording.relations.length)}`,
  };
  const cards = [
    [number(explained), `${wording.queries} explained`, `of ${number(summary.asked)} asked`],
    [share(certified), "certified", of(certified)],
    ...wording.kept.map(({key, nouns}) => [
      summary.medians[key] ?? "–",
      `${nouns}, median`,
      outOf[key](),
    ]),
    ...wording.answer.cards(summary),
    [zorro.exact(summary.tau), "threshold τ", sure],
    [number(failed), "failed", failed ? "listed below" : "none"],
  ];
  const items = d3.select(container).selectAll("div").data(cards).join("div");
  items.append("dt").text((card) => card[1]);
  const figures = items.append("dd").attr("class", "figure");
  figures.text((card) => card[0]);
  const notes = items.append("dd").attr("class", "muted");
  notes.text((card) => card[2]);
};

zorro.failures = function (section, {failures, wording}) {
  d3.select(section)
    .property("hidden", !failures.length)
    .select("ul")
    .selectAll("li")
    .data(failures)
    .join("li")
    .text(({query, error}) => `${wording.capital(wording.queryName(query))}: ${error}`);
};

// What of a run cannot be read, and why; items: [{name, reason}].
zorro.unreadable = function (details, {title, items}) {
  const few = 3;
  const root = d3
    .select(details)
    .property("hidden", !items.length)
    .property("open", items.length <= few);
  root.select("summary").text(title(items.length));
  const lines = root.select("ul").selectAll("li").data(items).join("li");
  lines.text("");
  lines.append("strong").text(({name}) => name);
  lines.append("span").text(({reason}) => `: ${reason}`);
};

zorro.unreadableRows = function (details, {unreadable, wording}) {
  zorro.unreadable(details, {
    title: (count) =>
      `${count === 1 ? "A row" : `${zorro.number(count)} rows`} of this run cannot be read`,
    items: unreadable.map(({position, query, reason}) => ({
      name: query === null ? `Row ${position}` : wording.capital(wording.queryName(query)),
      reason,
    })),
  });
};

zorro.nothing = (unreadable) =>
  unreadable.length ? "Nothing can be read." : "Nothing has been explained yet.";

zorro.meaning = function (container, {summary, wording}) {
  const sentences = [
    `Each explanation is a set of ${wording.kept.map(({nouns}) => nouns).join(" and ")}.`,
    `In a random world ${wording.keepsValues ? "their values" : "they"} are kept, and`,
    `${zorro.worlds.rest(wording, summary.otherEdges, summary.noise)}.`,
    `The fidelity is the share of such worlds in which ${wording.answer.stays(summary)}. “Certified” means: it is shown, on samples that the`,
    "search has not seen, that the fidelity is at least τ.",
  ];
  if (summary.whyNot !== null) {
    const other = wording.level.otherName(wording, summary.whyNot);
    sentences.push(`The question was why the answer is not ${other}.`);
  }
  if (!summary.hasGraph) {
    sentences.push(wording.level.unseen);
  }
  d3.select(container).text(sentences.join(" "));
};

zorro.provenance = function (container, {summary, wording}) {
  const {data, versions, unseenSamples} = summary;
  const size = [
    ...wording.level.sizes(wording, data),
    `${zorro.number(data.edges)} edges`,
    wording.countedFeatures(data.features),
  ];
  const used = Object.entries(versions).map(([part, version]) => `${part} ${version}`);
  zorro.facts(container, [
    ["Model", summary.model],
    [wording.level.data, size.join(", ")],
    ["Search", `${summary.search}, ${zorro.number(summary.samples)} samples, seed ${summary.seed}`],
    ["Measured on", `${unseenSamples.map(zorro.number).join(" to ") || "no"} held-out samples each`],
    ...(summary.added
      ? [["Added later", `${wording.countedQueries(summary.added)}, one by one, in the explorer`]]
      : []),
    ["Versions", used.join(", ")],
    ["Made", summary.made],
  ]);
};
