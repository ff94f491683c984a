// A set that can be changed, with a way back.
"use strict";
window.zorro = window.zorro || {};

// kinds: what sets are of, such as "nodes" and "features"; found: {nodes, features, …} of the
// explanation; start: what to begin with, if it was edited before. onChange() is called after each
// change. What the set is not of is all in it.
zorro.editedSet = function (kinds, found, start, onChange) {
  const first = copy(found);
  let now = start ? copy(start) : first;
  const before = start ? [first] : [];
  let undone = [];
  // All that was ever in, in the order in which it came, so that it can be taken in again.
  const seen = copy(found);
  remember();

  return {
    nodes: () => members("nodes"),
    members,
    seenNodes: () => seenOf("nodes"),
    seen: seenOf,
    hasNode: (id) => has("nodes", id),
    has,
    size: (kind) => now[kind].size,
    // What it keeps of each kind, as it can be sent.
    kept: () => Object.fromEntries(kinds.map((kind) => [kind, members(kind)])),
    isChanged: () => !same(now, first),
    canUndo: () => before.length > 0,
    canRedo: () => undone.length > 0,
    toggle,
    undo: () => step(before, undone),
    redo: () => step(undone, before),
    reset: () => change(copy(first)),
  };

  function members(kind) {
    return [...(now[kind] ?? [])];
  }

  function seenOf(kind) {
    return [...(seen[kind] ?? [])];
  }

  function has(kind, id) {
    return now[kind]?.has(id) ?? true;
  }

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
    for (const kind of kinds) now[kind].forEach((id) => seen[kind].add(id));
  }

  function copy(held) {
    return Object.fromEntries(kinds.map((kind) => [kind, new Set(held[kind])]));
  }

  function same(one, other) {
    return kinds.every(
      (kind) => one[kind].size === other[kind].size && [...one[kind]].every((id) => other[kind].has(id)),
    );
  }
};
