// What is shown, as the part of the address behind the #.
"use strict";
window.zorro = window.zorro || {};

zorro.address = (function () {
  const number = /^\d{1,15}$/;
  const edge = /^\d{1,15}-\d{1,15}(-\d{1,9})?$/;
  // How members of each kind are read: null if they are not what they must be.
  const members = {
    nodes: (text) => listed(text, number, Number),
    features: (text) => listed(text, number, Number),
    edges: (text) => listed(text, edge, String),
    edge_attributes: (text) => listed(text, edge, String),
    types: (text) => listed(text, number, Number),
    relations: (text) => listed(text, number, Number),
  };
  // A view with the set as it was found.
  const unedited = Object.fromEntries(Object.keys(members).map((kind) => [kind, null]));

  // {run, level, query, compare, whyNot, method} and the kinds, null for what is not said.
  function read(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const level = Object.keys(zorro.levels).find((name) => said.has(name)) ?? null;
    return {
      run: said.get("run"),
      level,
      query: level === null ? null : zorro.levels[level].read(said.get(level)),
      ...Object.fromEntries(
        Object.entries(members).map(([kind, read]) => [kind, read(said.get(kind))]),
      ),
      compare: said.get("compare"),
      whyNot: other(said.get("why_not")),
      method: said.get("method"),
    };
  }

  // A class, or another link.
  function other(text) {
    if (text === null) return null;
    return zorro.levels.graph.read(text) ?? zorro.levels.link.read(text);
  }

  function write({run, level, query, compare, whyNot, method, ...held}) {
    const parts = [
      ["run", run],
      [level, query],
      ["method", method],
      ["why_not", whyNot],
      ["compare", compare],
      ...Object.keys(members).map((kind) => [kind, held[kind] && held[kind].join(",")]),
    ];
    const said = parts.filter(([, value]) => value !== null && value !== undefined);
    const text = said.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return `#${text.replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
  }

  function listed(text, pattern, as) {
    if (text === null) return null;
    const parts = text === "" ? [] : text.split(",");
    return parts.every((part) => pattern.test(part)) ? parts.map(as) : null;
  }

  return {
    read: () => read(window.location.hash),
    write,
    unedited,
    // A new entry of the history.
    go: (view) => {
      window.location.hash = write(view);
    },
    // The entry that there is says this from now on.
    keep: (view) => window.history.replaceState(null, "", write(view)),
  };
})();
