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
      const heatmap = zorro.heatmap(section.append("div").node(), {
        shown: detail.values,
        wording,
        caption: `Values of the ${wording.features} that the explanation keeps`,
        choice: {
          hasNode: (id) => set.has("nodes", id),
          hasFeature: (id) => set.has("features", id),
          onNode: kinds.includes("nodes") ? (id) => set.toggle("nodes", id) : null,
          onFeature: kinds.includes("features") ? (id) => set.toggle("features", id) : null,
        },
      });
      pieces.push(heatmap);
    }
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
          ["PNG", () => zorro.save.png(name, board.picture())],
          ["SVG", () => zorro.save.svg(name, board.picture())],
        ]
      : [];
    return [...pictures, ["JSON", () => zorro.save.json(name, data())]];
  }

  function data() {
    const edited = set.isChanged() ? set.kept() : null;
    return {[wording.levelName]: row.query, row, explanation: detail, edited};
  }
};
