// Drawings that fill the width they are given, and are drawn anew when it changes.
"use strict";
window.zorro = window.zorro || {};

// Returns a function that draws again at the width there is.
zorro.fitted = function (container, draw) {
  let drawn = 0;
  const fit = () => {
    const width = Math.floor(container.clientWidth);
    if (width > 0 && width !== drawn) {
      drawn = width;
      draw(width);
    }
  };
  fit();
  new ResizeObserver(fit).observe(container);
  return () => {
    drawn = 0;
    fit();
  };
};
