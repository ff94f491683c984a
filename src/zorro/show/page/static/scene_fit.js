// Where a scene lies in a field of some width: rings around a query, or a graph as it is.
"use strict";
window.zorro = window.zorro || {};

// The extent that drawings of parts of a scene must share.
zorro.frame = function (scene) {
  const count = scene.nodes.length;
  return {
    reach: d3.max(scene.nodes, ([, x, y]) => Math.hypot(x, y)) || 1,
    across: d3.extent(scene.nodes, ([, x]) => x),
    up: d3.extent(scene.nodes, ([, , y]) => y),
    hops: d3.max(scene.nodes, (node) => node[3]) || 0,
    inner: scene.inner,
    dot: count > 800 ? 2 : count > 200 ? 3 : 4, // the radius of nodes that are not kept
  };
};

// Returns {height, x, y, rings}: rings are [{rx, ry}] around the middle.
zorro.sceneFit = function (isCentred, frame, width) {
  return isCentred ? aroundQuery() : asItIs();

  function aroundQuery() {
    const height = Math.round(Math.min(width * (width < 480 ? 1 : 0.86), 480));
    const scale = (Math.min(width, height) / 2 - 30) / frame.reach;
    const stretch = Math.max(0.8, Math.min(1.35, (width / 2 - 44) / (height / 2 - 30)));
    const rings = d3
      .range(1, frame.hops + 1)
      .map((hop) => hop + frame.inner)
      .map((radius) => ({rx: radius * scale * stretch, ry: radius * scale}));
    return {height, rings, ...places(height, scale * stretch, scale)};
  }

  function asItIs() {
    const [longest, margin, most] = [72, 34, 480];
    const least = width < 480 ? 200 : 340;
    const [wide, high] = [frame.across, frame.up].map(([low, top]) => top - low || 1);
    const across = Math.min(longest, (width - 2 * margin) / wide);
    const height = Math.round(Math.max(least, Math.min(most, across * high + 2 * margin)));
    const scale = Math.min(across, (height - 2 * margin) / high);
    const middle = [frame.across, frame.up].map((ends) => d3.mean(ends));
    return {height, rings: [], ...places(height, scale, scale, ...middle)};
  }

  function places(height, across, down, x = 0, y = 0) {
    return {
      x: (node) => width / 2 + (node.x - x) * across,
      y: (node) => height / 2 - (node.y - y) * down,
    };
  }
};
