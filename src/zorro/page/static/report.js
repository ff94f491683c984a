// The report: reads the page's data, fills the overview, and opens what the address names.
"use strict";

(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const {summary, rows, details, failures} = data;
  const wording = zorro.wording(data.labels);
  const byNode = new Map(rows.map((row) => [row.node, row]));
  const overview = document.getElementById("overview");
  const opened = document.getElementById("explanation");
  const name = document.title;
  let table = null;
  let left = 0;

  header();
  if (rows.length) {
    zorro.distributions(document.getElementById("distributions"), {rows, summary, wording});
    table = zorro.table(document.getElementById("table"), {
      rows,
      wording,
      hasTruth: summary.hasTruth,
    });
  } else {
    d3.select("#distributions").append("p").text("Nothing has been explained yet.");
  }
  listFailures();
  how();
  window.addEventListener("hashchange", show);
  show();

  function header() {
    d3.select("#subject").text(summary.subject);
    d3.select("#made").text(
      `Made ${summary.made.slice(0, 10)} with zorro ${summary.versions.zorro}`,
    );
    const cards = [
      [
        zorro.number(summary.explained),
        `${wording.nodes} explained`,
        `of ${zorro.number(summary.asked)} asked`,
      ],
      [
        summary.explained ? zorro.percent(summary.certified / summary.explained) : "–",
        "certified",
        `${zorro.number(summary.certified)} of ${zorro.number(summary.explained)}`,
      ],
      [
        summary.medianNodes ?? "–",
        `${wording.nodes}, median`,
        `of ${zorro.number(summary.data.nodes)}`,
      ],
      [
        summary.medianFeatures ?? "–",
        `${wording.features}, median`,
        `of ${zorro.number(summary.data.features)}`,
      ],
      ...(summary.right === null
        ? []
        : [
            [
              zorro.percent(summary.right / Math.max(1, summary.explained)),
              "answers right",
              `${zorro.number(summary.right)} of ${zorro.number(summary.explained)}`,
            ],
          ]),
      [
        zorro.exact(summary.tau),
        "threshold τ",
        summary.delta === null
          ? "no certificate asked for"
          : `${zorro.percent(1 - summary.delta)} sure`,
      ],
      [zorro.number(summary.failed), "failed", summary.failed ? "listed below" : "none"],
    ];
    const items = d3.select("#cards").selectAll("div").data(cards).join("div");
    items.append("dt").text(([, label]) => label);
    items
      .append("dd")
      .attr("class", "figure")
      .text(([figure]) => figure);
    items
      .append("dd")
      .attr("class", "muted")
      .text(([, , note]) => note);
  }

  function listFailures() {
    d3.select("#failures")
      .property("hidden", !failures.length)
      .select("ul")
      .selectAll("li")
      .data(failures)
      .join("li")
      .text(({node, error}) => `${wording.capital(wording.nodeName(node))}: ${error}`);
  }

  function how() {
    const question =
      summary.whyNot === null || summary.whyNot === undefined
        ? ""
        : ` The question was why the answer is not ${wording.className(summary.whyNot)}.`;
    d3.select("#meaning").text(
      `Each explanation is a set of ${wording.nodes} and ${wording.features}. In a random world their values are kept, and all other values that the model can see are replaced by random ones (${summary.noise} noise). The share of such worlds in which the model's answer stays is the fidelity. “Certified” means: it is shown on samples that the search has not seen that the fidelity is at least τ.${question}${summary.hasGraph ? "" : " The graph was not at hand when this page was made, so neighbourhoods and values are not shown."}`,
    );
    zorro.facts(document.getElementById("facts"), [
      ["Model", summary.model],
      [
        "Graph",
        `${wording.countedNodes(summary.data.nodes)}, ${zorro.number(summary.data.edges)} edges, ${wording.countedFeatures(summary.data.features)}`,
      ],
      [
        "Search",
        `${summary.search}, ${zorro.number(summary.samples)} samples, seed ${summary.seed}`,
      ],
      [
        "Measured on",
        summary.freshSamples.length
          ? `${summary.freshSamples.map(zorro.number).join(", ")} fresh samples each`
          : "–",
      ],
      [
        "Versions",
        Object.entries(summary.versions)
          .map(([part, version]) => `${part} ${version}`)
          .join(", "),
      ],
      ["Made", summary.made],
    ]);
  }

  function show() {
    const named = /^#node=(\d+)$/.exec(window.location.hash);
    const row = named ? byNode.get(Number(named[1])) : undefined;
    if (row === undefined) {
      overview.hidden = false;
      opened.hidden = true;
      document.title = name;
      window.scrollTo(0, left);
      return;
    }
    if (!overview.hidden) left = window.scrollY;
    overview.hidden = true;
    opened.hidden = false;
    document.title = `${wording.capital(wording.nodeName(row.node))} – ${name}`;
    const order = table.order();
    const at = order.indexOf(row.node);
    const link = (node) => (at < 0 || node === undefined ? null : `#node=${node}`);
    const heading = zorro.explanation(opened, {
      row,
      detail: details[row.node],
      summary,
      wording,
      links: {back: "#", previous: link(order[at - 1]), next: link(order[at + 1])},
      isExplained: (node) => byNode.has(node),
    });
    window.scrollTo(0, 0);
    heading.focus({preventScroll: true});
  }
})();
