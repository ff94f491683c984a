// Drawings that fill the width they are given, and are drawn anew when it changes.
"use strict";
window.zorro = window.zorro || {};

// Returns a function that draws again at the width there is. On paper, which is narrower and has
// no time to draw anew, a drawing is made smaller as a whole.
zorro.fitted = function (container, draw) {
  let drawn = 0;
  const fit = () => {
    const width = Math.floor(container.clientWidth);
    if (width > 0 && width !== drawn) {
      drawn = width;
      draw(width);
      for (const svg of container.querySelectorAll("svg[width][height]"))
        svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
    }
  };
  fit();
  new ResizeObserver(fit).observe(container);
  return () => {
    drawn = 0;
    fit();
  };
};
