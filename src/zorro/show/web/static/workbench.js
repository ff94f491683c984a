// An explanation to work on: take nodes and features in or out and see what that does.
"use strict";
window.zorro = window.zorro || {};

// shown: what zorro.explanation takes, without parts; question: {run, node, whyNot} of it;
// start: an edited set to begin with, or null; tools(parent, saves) adds what is asked further;
// onSet(set) hears of edits, null for the set as it was found. Returns {heading, stop}.
zorro.workbench = function (
  container,
  {shown, question, start, live, limit, learn, tools, onSet},
) {
  const {row, detail, wording} = shown;
  const {run, node} = question;
  const classOf = new Map((detail.scene?.nodes ?? []).map(([id, , , , , cls]) => [id, cls]));
  const set = zorro.editedSet(detail, live ? start : null, changed);
  const pieces = [];
  let board = null;
  let yours = null;
  const heading = zorro.explanation(container, {
    ...shown,
    parts: {tools: top, drawing, ...(live ? {values} : {})},
  });
  return {heading, stop: () => yours?.stop()};

  function changed() {
    for (const piece of pieces) piece.update();
    onSet(set.isChanged() ? {nodes: set.nodes(), features: set.features()} : null);
  }

  function top(root) {
    tools(root, saves());
    if (!live) return;
    yours = zorro.yourSet(root.node(), {set, row, detail, wording, question, limit});
    pieces.push(yours);
  }

  function drawing(section) {
    const name = wording.capital(wording.nodeName(row.node));
    const around = wording.countedNodes(detail.scene.nodes.length - 1);
    if (live) {
      section
        .append("p")
        .attr("class", "muted small lead")
        .text(`Click ${wording.nodes} to take them in or out.`);
    }
    board = zorro.board(section, {
      scene: detail.scene,
      set,
      wording,
      describe: `${name} and ${around} around it`,
      onToggle: live ? set.toggleNode : null,
      load: live ? (most) => zorro.api.neighbourhood(run, node, most).then(read) : null,
    });
    pieces.push(board);
  }

  function read(answer) {
    learn(answer.names);
    for (const [id, , , , , cls] of answer.scene.nodes) classOf.set(id, cls);
    return answer.scene;
  }

  function values(section) {
    if (detail.values?.length && detail.values[0].length) {
      const heatmap = zorro.heatmap(section.append("div").node(), {
        ...detail,
        wording,
        caption: `Values of the ${wording.features} that the explanation keeps`,
        choice: {
          hasNode: set.hasNode,
          hasFeature: set.hasFeature,
          onNode: set.toggleNode,
          onFeature: set.toggleFeature,
        },
      });
      pieces.push(heatmap);
    }
    const kept = section.append("dl").attr("class", "kept editable");
    kept.append("dt").text(wording.capital(wording.nodes));
    pieces.push(
      zorro.chips(kept.append("dd"), {
        name: wording.capital(wording.nodes),
        ids: set.seenNodes,
        has: set.hasNode,
        label: wording.nodeLabel,
        colour: (id) => wording.colour(classOf.get(id) ?? null),
        onToggle: set.toggleNode,
        add: adding("nodes"),
      }),
    );
    kept.append("dt").text(wording.capital(wording.features));
    pieces.push(
      zorro.chips(kept.append("dd"), {
        name: wording.capital(wording.features),
        ids: set.seenFeatures,
        has: set.hasFeature,
        label: wording.featureLabel,
        onToggle: set.toggleFeature,
        add: adding("features"),
      }),
    );
  }

  function adding(kind) {
    const isNode = kind === "nodes";
    const has = isNode ? set.hasNode : set.hasFeature;
    const noun = isNode ? wording.node : wording.feature;
    return {
      name: `Add a ${noun}`,
      hint: `Add a ${noun}…`,
      search: async (text, signal) => {
        const answer = await zorro.api.candidates(run, node, kind, text, signal);
        return candidates(answer, isNode).filter((entry) => !has(entry.id));
      },
      onAdd: async (entry) => {
        if (!isNode) return set.toggleFeature(entry.id);
        classOf.set(entry.id, entry.cls);
        await board?.add(entry.id, entry);
        if (!set.hasNode(entry.id)) set.toggleNode(entry.id);
      },
    };
  }

  function candidates(answer, isNode) {
    const kind = isNode ? "nodes" : "features";
    const named = answer.candidates.filter((entry) => entry.name !== null);
    learn({[kind]: Object.fromEntries(named.map((entry) => [entry.id, entry.name]))});
    return answer.candidates.map(({id, answer: cls, value, holders}) => ({
      id,
      cls,
      name: isNode ? wording.nodeLabel(id) : wording.featureLabel(id),
      note: isNode
        ? cls === null
          ? ""
          : wording.className(cls)
        : `${value} here, on ${wording.countedNodes(holders)}`,
    }));
  }

  function saves() {
    const name = `zorro-${row.node}`;
    const pictures = detail.scene
      ? [
          ["PNG", () => zorro.save.png(name, board.picture())],
          ["SVG", () => zorro.save.svg(name, board.picture())],
        ]
      : [];
    return [...pictures, ["JSON", () => zorro.save.json(name, data())]];
  }

  function data() {
    const edited = set.isChanged() ? {nodes: set.nodes(), features: set.features()} : null;
    return {node: row.node, row, explanation: detail, edited};
  }
};
