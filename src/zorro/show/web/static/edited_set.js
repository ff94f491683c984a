// A set of nodes and features that can be changed, with a way back.
"use strict";
window.zorro = window.zorro || {};

// found: {nodes, features} of the explanation; start: what to begin with, if it was edited before.
// onChange() is called after each change.
zorro.editedSet = function (found, start, onChange) {
  const first = copy(found);
  let now = start ? copy(start) : first;
  let before = start ? [first] : [];
  let undone = [];
  // All that was ever in, in the order in which it came, so that it can be taken in again.
  const seen = {nodes: new Set(found.nodes), features: new Set(found.features)};
  remember();

  return {
    nodes: () => [...now.nodes],
    features: () => [...now.features],
    seenNodes: () => [...seen.nodes],
    seenFeatures: () => [...seen.features],
    hasNode: (id) => now.nodes.has(id),
    hasFeature: (id) => now.features.has(id),
    isChanged: () => !same(now, first),
    canUndo: () => before.length > 0,
    canRedo: () => undone.length > 0,
    toggleNode: (id) => toggle("nodes", id),
    toggleFeature: (id) => toggle("features", id),
    undo: () => step(before, undone),
    redo: () => step(undone, before),
    reset: () => change(copy(first)),
  };

  function toggle(kind, id) {
    const next = copy(now);
    if (!next[kind].delete(id)) next[kind].add(id);
    change(next);
  }

  function change(next) {
    before.push(now);
    undone = [];
    now = next;
    remember();
    onChange();
  }

  function step(from, to) {
    if (!from.length) return;
    to.push(now);
    now = from.pop();
    remember();
    onChange();
  }

  function remember() {
    for (const kind of ["nodes", "features"]) now[kind].forEach((id) => seen[kind].add(id));
  }

  function copy({nodes, features}) {
    return {nodes: new Set(nodes), features: new Set(features)};
  }

  function same(one, other) {
    return ["nodes", "features"].every(
      (kind) => one[kind].size === other[kind].size && [...one[kind]].every((id) => other[kind].has(id)),
    );
  }
};
