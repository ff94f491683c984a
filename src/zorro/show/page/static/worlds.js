// What a random world is, where sets are of values, of edges, or of both.
"use strict";
window.zorro = window.zorro || {};

zorro.worlds = (function () {
  // What happens to all that is not kept; noise, if given, is named. A part of a sentence.
  function rest({keepsValues, dropsEdges, keepsAttributes}, otherEdges, noise = null) {
    const drawn = noise === null ? "random ones" : `random ones (${noise} noise)`;
    const values = `all other values that the model can see are replaced by ${drawn}`;
    if (!dropsEdges || !otherEdges) return values;
    const parts = [
      ...(keepsValues ? [values] : []),
      edges(otherEdges),
      ...(keepsAttributes ? ["all other attributes of edges are those of random ones"] : []),
    ];
    return parts.join(", and ");
  }

  function edges({presence, effect}) {
    if (presence === null) return "all other edges exchange their ends";
    const how = effect === "structure" ? "is there" : "carries messages";
    return `each other edge ${how} with probability ${zorro.exact(presence)}`;
  }

  // What is said where nothing is kept.
  function nothing({keepsValues, dropsEdges}) {
    if (!dropsEdges) return "Nothing: random values everywhere are enough.";
    return `Nothing: random edges${keepsValues ? " and values" : ""} everywhere are enough.`;
  }

  return {rest, nothing};
})();
