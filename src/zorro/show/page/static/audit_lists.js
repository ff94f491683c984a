// What an audit lists: findings, predictions to look at, explanations that say the same.
"use strict";
window.zorro = window.zorro || {};

// findings: [{kind, gravity, text, cases}], the gravest first.
zorro.findings = function (container, {findings, address}) {
  const items = d3.select(container).selectAll("li").data(findings).join("li");
  items.attr("class", ({gravity}) => `finding ${gravity}`);
  const heads = items.append("p").attr("class", "kind");
  heads.append("span").attr("class", "badge").text(({gravity}) => gravity);
  heads.append("span").text(({kind}) => kind);
  items.append("p").text(({text}) => text);
  items
    .append("a")
    .attr("href", (_, at) => address(`finding-${at}`))
    .text(({cases}) => (cases.length === 1 ? "The case" : `The ${zorro.number(cases.length)} cases`));
  if (!findings.length)
    d3.select(container).append("li").attr("class", "finding note").text("Nothing stands out.");
};

zorro.suspicious = function (container, {suspicious, count, rows, wording, address}) {
  const root = d3.select(container);
  const byQuery = new Map(rows.map((row) => [row.query, row]));
  const named = {
    "confident and wrong": "wrong, with 90\u00a0% or more",
    "nothing needed": "nothing needed: random inputs get it too",
    "other class": `most kept ${wording.nodes} are of another class`,
    "single feature": `rests on a single ${wording.feature}`,
    "far larger": "needs over three times the class's median",
    "not certified": "not certified",
  };
  const pageSize = 20;
  let shown = pageSize;
  const frame = root.append("div").attr("class", "frame scroll");
  frame.attr("tabindex", 0).attr("role", "region").attr("aria-label", "Suspicious predictions");
  const table = frame.append("table").attr("class", "plain");
  const head = table.append("thead").append("tr");
  for (const text of [wording.capital(wording.query), "Answer", "p", "Kept", "Why"])
    head
      .append("th")
      .attr("scope", "col")
      .attr("class", text === "p" ? "number" : null)
      .text(text);
  const body = table.append("tbody");
  const said = root.append("p").attr("class", "muted small count");
  const more = root.append("button").attr("type", "button").attr("class", "more").text("Show more");
  more.on("click", () => {
    shown += pageSize;
    update();
  });
  update();

  function update() {
    const some = suspicious.slice(0, shown);
    body
      .selectAll("tr")
      .data(some)
      .join((enter) => enter.append("tr").each(fill));
    said.text(`${zorro.number(some.length)} of ${zorro.number(count)}`);
    more.property("hidden", shown >= suspicious.length);
  }

  function fill({query, reasons}) {
    const line = d3.select(this);
    const row = byQuery.get(query);
    line.append("td").append("a").attr("href", address(query)).text(wording.queryLabel(query));
    const answer = line.append("td");
    if (row.class === undefined) answer.text("–");
    else {
      zorro.classChip(answer, row.class, wording);
      if (row.truth !== null) zorro.answerMark(answer, row);
    }
    line
      .append("td")
      .attr("class", "number")
      .text(row.probability === undefined ? "–" : zorro.share(row.probability));
    line.append("td").text(wording.kept.map(({key}) => row[key]).join("\u00a0×\u00a0"));
    line.append("td").attr("class", "why").text(reasons.map((reason) => named[reason] ?? reason).join("; "));
  }
};

// groups: [{class, features: [[feature, count]], cases, representative}].
zorro.groups = function (container, {groups, count, wording, address, query}) {
  const items = d3.select(container).selectAll("li").data(groups).join("li");
  items.each(function (group, at) {
    const item = d3.select(this);
    const line = item.append("p");
    if (group.class !== null) zorro.classChip(line, group.class, wording);
    line
      .append("a")
      .attr("href", address(`group-${at}`))
      .text(`${zorro.number(group.cases.length)} explanations`);
    const share = (some) => zorro.percent(some / group.cases.length);
    item
      .append("p")
      .attr("class", "small")
      .text(
        `keep ${group.features.map(([id, some]) => `${wording.featureName(id)} (${share(some)})`).join(", ")}`,
      );
    const typical = item.append("p").attr("class", "muted small").text("typical: ");
    typical
      .append("a")
      .attr("href", query(group.representative))
      .text(wording.queryName(group.representative));
  });
  if (count > groups.length)
    d3.select(container)
      .append("li")
      .attr("class", "muted small")
      .text(`and ${zorro.number(count - groups.length)} smaller groups`);
};
