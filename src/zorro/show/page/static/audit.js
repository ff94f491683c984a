// The page of an audit: fills its parts, shows the cases and the explanation that an address names.
"use strict";

(function () {
  const {summary, failures, unreadable, labels, audit, ...packed} = JSON.parse(
    document.getElementById("data").textContent,
  );
  const unpacked = ({common, own}) => own.map((one) => ({...common, ...one}));
  const rows = unpacked(packed.rows);
  const spoken = (detail) => ({...detail, sentence: detail.sentence.map((at) => packed.pieces[at])});
  const details = new Map(
    d3.zip(packed.details.queries, unpacked(packed.details)).map(([query, one]) => [
      query,
      () => spoken(one),
    ]),
  );
  const wording = zorro.wording(labels, summary.kept);
  const byQuery = new Map(rows.map((row) => [row.query, row]));
  const address = (query) => `#${labels.level}=${query}`;
  const casesAt = (name) => `#cases=${name}`;
  const named = new RegExp(`^#${labels.level}=([^&]+)$`);
  const part = (id) => document.getElementById(id);
  const name = document.title;
  let left = 0; // how far the overview was scrolled
  let back = "#";

  part("subject").textContent = summary.subject;
  part("made").textContent =
    `${zorro.number(rows.length)} explanations, made ${summary.made.slice(0, 10)} with zorro ${summary.versions.zorro}`;
  cards();
  zorro.findings(part("findings"), {findings: audit.findings, address: casesAt});
  part("classes-how").textContent = how();
  zorro.profiles(part("classes"), {classes: audit.classes, wording, address: casesAt});
  if (audit.contrasts.length) {
    part("mistakes").hidden = false;
    zorro.contrasts(part("contrasts"), {contrasts: audit.contrasts, wording});
    zorro.densities(part("densities"), {densities: audit.densities, wording});
  }
  if (audit.cells.length) {
    part("confusion").hidden = false;
    zorro.confusion(part("matrix"), {cells: audit.cells, wording, address: casesAt});
  }
  if (audit.suspicious.length) {
    part("doubtful").hidden = false;
    const {suspicious, suspiciousCount: count} = audit;
    zorro.suspicious(part("suspicious"), {suspicious, count, rows, wording, address});
  }
  if (audit.groups.length) {
    part("alike").hidden = false;
    const {groups, groupCount: count} = audit;
    zorro.groups(part("groups"), {groups, count, wording, address: casesAt, query: address});
  }
  const table = zorro.table(part("table"), {rows, wording, hasTruth: summary.hasTruth, address});
  zorro.failures(part("failures"), {failures, wording});
  zorro.unreadableRows(part("unreadable"), {unreadable, wording});
  zorro.meaning(part("meaning"), {summary, wording});
  part("statistics").textContent = [
    `Intervals hold the true share or median in ${zorro.percent(audit.confidence)} of all audits,`,
    "if the explanations are taken for independent draws; those of neighbours are not quite.",
    "What is called more than chance, or different, is so at a false discovery rate of 5\u00a0%",
    "over all that was looked at (Benjamini and Yekutieli).",
  ].join(" ");
  zorro.provenance(part("facts"), {summary, wording});
  window.addEventListener("hashchange", show);
  show();
  part("main").classList.remove("waiting");

  function cards() {
    const {number, percent} = zorro;
    const alarms = audit.findings.filter(({gravity}) => gravity === "alarm").length;
    const {certified, explained} = summary;
    const right = audit.right;
    const shown = [
      [number(alarms), alarms === 1 ? "alarm" : "alarms", `${number(audit.findings.length)} findings`],
      [percent(certified / explained), "certified", `${number(certified)} of ${number(explained)}`],
      ...(right
        ? [
            [
              percent(right.value),
              "answers right",
              `${percent(right.lower)} to ${percent(right.upper)}`,
            ],
          ]
        : []),
      [number(audit.suspiciousCount), "predictions to look at", `of ${number(explained)}`],
      [number(audit.groupCount), "groups that say the same", "five explanations or more"],
    ];
    const items = d3.select(part("cards")).selectAll("div").data(shown).join("div");
    items.append("dt").text((card) => card[1]);
    items.append("dd").attr("class", "figure").text((card) => card[0]);
    items.append("dd").attr("class", "muted").text((card) => card[2]);
  }

  function how() {
    const said = [
      `How many explanations of an answer keep a ${wording.feature} or a ${wording.node}:`,
      "the bar, with its interval as a line.",
    ];
    if (audit.hasGraph)
      said.push(
        "The notch is what sets of the same sizes would keep by chance, drawn from what occurs",
        "there; × says how many times as often that is, with a question mark if it may be chance.",
        `“Absent” means that the answer rests on the ${wording.feature} not being there.`,
      );
    return said.join(" ");
  }

  // The cases that a part of the page speaks of, and what it says of them.
  function cases(which) {
    const [part_, first, ...rest] = which.split("-");
    if (part_ === "finding") {
      const found = audit.findings[first];
      return found && [found.cases, found.text];
    }
    if (part_ === "cell") {
      const cell = audit.cells[first];
      if (!cell) return null;
      const [truth, said] = [cell.truth, cell.predicted].map(wording.className);
      return [cell.cases, truth === said ? `${truth}, rightly` : `${truth} taken for ${said}`];
    }
    if (part_ === "group") {
      const group = audit.groups[first];
      const features = group?.features.map(([id]) => wording.featureName(id)).join(", ");
      return group && [group.cases, `Explanations that keep ${features}`];
    }
    if (part_ === "uses") {
      const [kind, what] = [rest[0], rest.slice(1).join("-")];
      const use = audit.classes[first]?.[kind]?.find((one) => String(one.what) === what);
      const label = kind === "features" ? wording.featureName : wording.nodeName;
      return use && [use.cases, `Explanations that keep ${label(use.what)}`];
    }
    return null;
  }

  function show() {
    const hash = decodeURIComponent(window.location.hash);
    const found = named.exec(hash);
    const row = found ? byQuery.get(wording.level.read(found[1])) : undefined;
    if (row !== undefined) open(row);
    else close(hash);
  }

  function close(hash) {
    const wasOpen = part("overview").hidden;
    part("overview").hidden = false;
    part("explanation").hidden = true;
    document.title = name;
    const some = hash.startsWith("#cases=") ? cases(hash.slice("#cases=".length)) : null;
    part("cases").hidden = !some;
    table.restrict(some ? some[0] : null);
    back = some ? hash : "#";
    if (some) {
      const note = d3.select(part("cases"));
      note.selectAll("*").remove();
      note.append("span").text(`${some[1]} `);
      note.append("a").attr("href", "#").text("Show all explanations");
      part("table-title").scrollIntoView();
      part("table-title").focus({preventScroll: true});
    } else if (wasOpen) window.scrollTo(0, left);
  }

  function open(row) {
    if (!part("overview").hidden) left = window.scrollY;
    part("overview").hidden = true;
    part("explanation").hidden = false;
    document.title = `${wording.capital(wording.queryName(row.query))} – ${name}`;
    const detail = details.get(String(row.query))();
    const heading = zorro.explanation(part("explanation"), {
      row,
      detail,
      summary,
      wording: wording.within(detail),
      links: {back, query: address, ...beside(row.query)},
      isExplained: (query) => byQuery.has(query),
    });
    window.scrollTo(0, 0);
    heading.focus({preventScroll: true});
  }

  function beside(query) {
    const order = table.order();
    const at = order.indexOf(query);
    const link = (other) => (at < 0 || other === undefined ? null : address(other));
    return {previous: link(order[at - 1]), next: link(order[at + 1])};
  }
})();
