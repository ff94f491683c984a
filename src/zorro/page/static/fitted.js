// Drawings that fill the width they are given, and are drawn anew when it changes.
"use strict";
window.zorro = window.zorro || {};

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
};
