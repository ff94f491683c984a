// What is shown, as the part of the address behind the #.
"use strict";
window.zorro = window.zorro || {};

zorro.address = (function () {
  // {run, level, query, nodes, features, compare, whyNot, method}, null for what is not said.
  function read(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const level = Object.keys(zorro.levels).find((name) => said.has(name)) ?? null;
    return {
      run: said.get("run"),
      level,
      query: level === null ? null : zorro.levels[level].read(said.get(level)),
      nodes: numbers(said.get("nodes")),
      features: numbers(said.get("features")),
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

  function write({run, level, query, nodes, features, compare, whyNot, method}) {
    const parts = [
      ["run", run],
      [level, query],
      ["method", method],
      ["why_not", whyNot],
      ["compare", compare],
      ["nodes", nodes && nodes.join(",")],
      ["features", features && features.join(",")],
    ];
    const said = parts.filter(([, value]) => value !== null && value !== undefined);
    const text = said.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return `#${text.replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
  }

  function numbers(text) {
    if (text === null) return null;
    const parts = text === "" ? [] : text.split(",");
    return parts.every((part) => /^\d{1,15}$/.test(part)) ? parts.map(Number) : null;
  }

  return {
    read: () => read(window.location.hash),
    write,
    // A new entry of the history.
    go: (view) => {
      window.location.hash = write(view);
    },
    // The entry that there is says this from now on.
    keep: (view) => window.history.replaceState(null, "", write(view)),
  };
})();
