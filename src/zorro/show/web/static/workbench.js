// An explanation to work on: take elements in or out and see what that does.
"use strict";
window.zorro = window.zorro || {};

// shown: what zorro.explanation takes, without parts; question: {run, query} of it;
// start: an edited set to begin with, or null; tools(parent, saves) adds what is asked further;
// onSet(set) hears of edits, null for the set as it was found. Returns {heading, stop}.
zorro.workbench = function (
  container,
  {shown, question, start, live, limit, learn, tools, onSet},
) {
  const {row, detail, wording} = shown;
  const {summary} = shown;
  const {run, query} = question;
  const kindOf = new Map((detail.scene?.nodes ?? []).map(([id, , , , , kind]) => [id, kind]));
  const kinds = wording.kept.map(({key}) => key);
  const drawn = ["nodes", "edges"].filter((kind) => live && kinds.includes(kind));
  const set = zorro.editedSet(kinds, detail, live ? start : null, changed);
  const against = zorro.answers[row.answer].against(row, detail);
  const links = "among" in against ? against : {}; // with which one is compared
  const notes = {nodes: kindNote, features: featureNote};
  const pieces = [];
  let board = null;
  let yours = null;
  let answer = null; // what the model says, where what is measured shows in it
  const heading = zorro.explanation(container, {
    ...shown,
    parts: {tools: top, drawing, ...(live ? {answer: said, values} : {})},
  });
  return {heading, stop: () => yours?.stop()};

  function changed() {
    for (const piece of pieces) piece.update();
    onSet(set.isChanged() ? set.kept() : null);
  }

  function top(root) {
    tools(root, saves());
    if (!live) return;
    const onMeasured = (measured) => answer?.update(measured);
    yours = zorro.yourSet(root.node(), {set, row, detail, wording, question, limit, onMeasured});
    pieces.push(yours);
  }

  function said(section) {
    answer = zorro.answers[row.answer].show(section, {row, detail, wording, isLive: true});
  }

  function drawing(section) {
    if (drawn.length) {
      section
        .append("p")
        .attr("class", "muted small lead")
        .text(`Click ${drawn.map((kind) => wording.elements[kind].nouns).join(" or ")} to take them in or out.`);
    }
    board = zorro.board(section, {
      scene: detail.scene,
      set,
      wording,
      describe: wording.level.around(wording, row.query, detail.scene),
      onToggle: toggling("nodes"),
      onToggleEdge: toggling("edges"),
      load: live ? (most) => zorro.api.drawing(run, query, most, links).then(read) : null,
    });
    pieces.push(board);
  }

  function toggling(kind) {
    return drawn.includes(kind) ? (id) => set.toggle(kind, id) : null;
  }

  function read(answer) {
    learn(answer.names);
    for (const [id, , , , , kind] of answer.scene.nodes) kindOf.set(id, kind);
    return answer.scene;
  }

  function values(section) {
    if (detail.values) {
      const place = section.append("div");
      let heatmap = map(place, detail.values);
      let asked = 0;
      pieces.push({
        update: () => {
          heatmap.update();
          grow();
        },
      });

      // What was added to the set has values too.
      async function grow() {
        const {nodes, features} = detail.values;
        const held = {nodes: new Set(nodes), features: new Set(features)};
        const isNew = (kind) => kinds.includes(kind) && set.seen(kind).some((id) => !held[kind].has(id));
        if (!isNew("nodes") && !isNew("features")) return;
        const mine = ++asked;
        const wanted = (kind) => (kinds.includes(kind) ? set.seen(kind) : null);
        try {
          const answer = await zorro.api.values({
            ...question,
            nodes: wanted("nodes"),
            features: wanted("features"),
          });
          if (mine !== asked || !answer.values) return;
          place.selectAll("*").remove();
          heatmap = map(place, answer.values);
        } catch {
          // The values that there are stay.
        }
      }
    }
    chips(section);
  }

  function map(place, shownValues) {
    return zorro.heatmap(place.append("div").node(), {
      shown: shownValues,
      wording,
      caption: `Values of the ${wording.features} that the explanation keeps`,
      choice: {
        hasNode: (id) => set.has("nodes", id),
        hasFeature: (id) => set.has("features", id),
        onNode: kinds.includes("nodes") ? (id) => set.toggle("nodes", id) : null,
        onFeature: kinds.includes("features") ? (id) => set.toggle("features", id) : null,
      },
    });
  }

  function chips(section) {
    const list = section.append("dl").attr("class", "kept editable");
    for (const kind of wording.kept) {
      list.append("dt").text(wording.capital(kind.nouns));
      pieces.push(
        zorro.chips(list.append("dd"), {
          name: wording.capital(kind.nouns),
          ids: () => set.seen(kind.key),
          has: (id) => set.has(kind.key, id),
          label: kind.label,
          colour:
            kind.key === "nodes" ? (id) => wording.kindColour(kindOf.get(id) ?? null) : null,
          onToggle: (id) => set.toggle(kind.key, id),
          add: adding(kind),
        }),
      );
    }
  }

  function adding({key, noun, label}) {
    const isNode = key === "nodes";
    return {
      name: `Add ${article(noun)} ${noun}`,
      hint: `Add ${article(noun)} ${noun}…`,
      search: async (text, signal) => {
        const answer = await zorro.api.candidates(run, query, key, text, links, signal);
        return candidates(answer, key, label).filter((entry) => !set.has(key, entry.id));
      },
      onAdd: async (entry) => {
        if (isNode) {
          kindOf.set(entry.id, entry.kind);
          await board?.add(entry.id, entry);
        }
        if (key === "edges") await board?.addEdge(entry.id);
        if (!set.has(key, entry.id)) set.toggle(key, entry.id);
      },
    };
  }

  function article(noun) {
    return /^[aeio]/i.test(noun) ? "an" : "a";
  }

  function candidates(answer, key, label) {
    const named = answer.candidates.filter((entry) => entry.name !== null);
    learn({[key]: Object.fromEntries(named.map((entry) => [entry.id, entry.name]))});
    return answer.candidates.map((entry) => ({
      id: entry.id,
      kind: entry.kind,
      name: label(entry.id),
      note: notes[key]?.(entry) ?? "",
    }));
  }

  function kindNote({kind}) {
    return kind === null || wording.areAtoms ? "" : wording.kindName(kind);
  }

  function featureNote({value, holders}) {
    const on = `on ${wording.countedNodes(holders)}`;
    return value === null ? on : `${value} here, ${on}`;
  }

  function saves() {
    const name = `zorro-${wording.levelName}-${row.query}`;
    const pictures = detail.scene
      ? [
          ["PNG", () => zorro.save.png(name, board.picture(), told())],
          ["SVG", () => zorro.save.svg(name, board.picture(), told())],
        ]
      : [];
    return [...pictures, ["JSON", () => zorro.save.json(name, data())]];
  }

  // What a picture says by itself: of what it is, what is claimed, what its colours mean.
  function told() {
    const legend = d3
      .sort([...new Set(kindOf.values())].filter((kind) => kind !== null && kind !== undefined))
      .map((kind) => ({
        mark: zorro.shapes[wording.kindShape(kind)],
        colour: wording.kindColour(kind),
        text: wording.kindName(kind),
      }));
    if (detail.scene.centre) legend.push({mark: "ring", text: wording.level.ringed});
    if (wording.keepsNodes) legend.push({mark: "large", text: wording.areAtoms ? "full: kept fixed" : "large: kept fixed"});
    if (kinds.includes("types")) legend.push({mark: "large", text: "full: of a type that is kept"});
    if (wording.keepsEdges) legend.push({mark: "line", text: "edge that is kept"});
    if (kinds.includes("relations")) legend.push({mark: "line", text: "of a relation that is kept"});
    const found = detail.sentence.map(([text]) => text).join("");
    return {
      title: `${wording.capital(wording.queryName(row.query))} – ${summary.subject}`,
      claim: set.isChanged() ? editedClaim() : found,
      legend,
    };
  }

  function editedClaim() {
    const size = wording.size(set.size);
    const measured = yours?.measured();
    if (!measured) return `An edited set: ${size}. Its fidelity is not measured.`;
    const {fidelity, low, high, samples} = measured;
    const share = zorro.shareWithRange(fidelity, low, high);
    const kept = zorro.answers[row.answer].kept(row, detail, wording);
    return `An edited set: ${size} keep ${kept} in ${share} of ${zorro.number(samples)} random worlds.`;
  }

  function data() {
    const edited = set.isChanged() ? {...set.kept(), measured: yours?.measured() ?? null} : null;
    const held = edited ?? detail;
    const named = wording.kept.map(({key, label}) => [
      key,
      Object.fromEntries((held[key] ?? []).map((id) => [id, label(id)])),
    ]);
    return {
      [wording.levelName]: row.query,
      subject: summary.subject,
      digests: summary.digests,
      names: Object.fromEntries(named),
      row,
      explanation: detail,
      edited,
    };
  }
};
