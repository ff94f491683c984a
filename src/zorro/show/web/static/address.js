// What is shown, as the part of the address behind the #.
"use strict";
window.zorro = window.zorro || {};

zorro.address = (function () {
  const levels = ["node", "graph"];

  // {run, level, query, nodes, features, compare, whyNot, method}, null for what is not said.
  function read(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const number = (name) => (/^\d{1,15}$/.test(said.get(name) ?? "") ? +said.get(name) : null);
    const level = levels.find((name) => said.has(name)) ?? null;
    return {
      run: said.get("run"),
      level,
      query: level === null ? null : number(level),
      nodes: numbers(said.get("nodes")),
      features: numbers(said.get("features")),
      compare: said.get("compare"),
      whyNot: number("why_not"),
      method: said.get("method"),
    };
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
