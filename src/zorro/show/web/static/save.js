// Files to keep: a drawing as SVG or PNG with what it shows in words, plain data as JSON.
"use strict";
window.zorro = window.zorro || {};

zorro.save = (function () {
  const space = "http://www.w3.org/2000/svg";
  // What the style sheet says of marks, and a file of its own must say itself.
  const styles = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-linecap",
    "paint-order",
    "opacity",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
  ];

  // told: {title, claim, legend: [{mark, colour, text}]}, which are written around the drawing. A
  // mark is one of d3's symbols, or "ring", "large", "line", which have colours of their own.
  function standing({svg, canvas}, told) {
    const copy = svg.cloneNode(true);
    const here = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((mark, at) => {
      const style = window.getComputedStyle(here[at]);
      mark.removeAttribute("style");
      for (const name of styles) mark.setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "role", "tabindex", "aria-pressed"]) mark.removeAttribute(name);
    });
    const [width, inner] = [svg.clientWidth, svg.clientHeight];
    if (canvas) {
      const image = document.createElementNS(space, "image");
      image.setAttribute("href", canvas.toDataURL());
      image.setAttribute("width", width);
      image.setAttribute("height", inner);
      copy.prepend(image);
    }
    const around = framed(copy, {width, inner, told, style: window.getComputedStyle(svg)});
    return {text: new XMLSerializer().serializeToString(around.svg), width, height: around.height};
  }

  // A drawing with a title and its claim above, and a legend below.
  function framed(drawing, {width, inner, told, style}) {
    const [edge, line] = [12, 17];
    const ink = style.getPropertyValue("--ink").trim() || "black";
    const font = style.getPropertyValue("font-family") || "sans-serif";
    const claim = wrapped(told.claim, Math.floor((width - 2 * edge) / 6.6));
    const above = edge + 20 + claim.length * line + 6;
    const places = legendPlaces(told.legend, width - 2 * edge);
    const rows = places.length ? places.at(-1).row + 1 : 0;
    const height = above + inner + (rows ? rows * line + edge : 0) + edge;
    const svg = make("svg", {xmlns: space, width, height, viewBox: `0 0 ${width} ${height}`});
    svg.append(make("rect", {width: "100%", height: "100%", fill: surfaceOf(style)}));
    const text = (x, y, content, size, weight = 400) => {
      const mark = make("text", {
        x,
        y,
        fill: ink,
        "font-family": font,
        "font-size": size,
        "font-weight": weight,
      });
      mark.textContent = content;
      svg.append(mark);
    };
    text(edge, edge + 14, zorro.short(told.title, Math.floor((width - 2 * edge) / 9)), 15, 600);
    claim.forEach((part, at) => text(edge, edge + 20 + (at + 1) * line, part, 12.5));
    drawing.removeAttribute("xmlns");
    for (const [name, value] of [["x", 0], ["y", above], ["width", width], ["height", inner]])
      drawing.setAttribute(name, value);
    drawing.setAttribute("viewBox", `0 0 ${width} ${inner}`);
    svg.append(drawing);
    for (const {x, row, mark, colour, text: name} of places) {
      const y = above + inner + edge + row * line;
      svg.append(legendMark(mark, edge + x + 5, y, colour, style));
      text(edge + x + 15, y + 4, name, 12);
    }
    return {svg, height};
  }

  function legendMark(mark, cx, cy, colour, style) {
    const own = (name) => style.getPropertyValue(name).trim();
    if (mark === "line") {
      const [x1, x2] = [cx - 6, cx + 6];
      return make("line", {x1, x2, y1: cy, y2: cy, stroke: own("--high"), "stroke-width": 4});
    }
    if (mark === "ring")
      return make("circle", {cx, cy, r: 5, fill: "none", stroke: own("--ink"), "stroke-width": 2});
    if (mark === "large") return make("circle", {cx, cy, r: 6, fill: own("--muted")});
    return make("path", {
      d: d3.symbol(mark, 80)(),
      transform: `translate(${cx},${cy})`,
      fill: colour,
    });
  }

  function legendPlaces(legend, width) {
    let [x, row] = [0, 0];
    return legend.map((entry) => {
      const wide = 30 + 6.6 * entry.text.length;
      if (x > 0 && x + wide > width) [x, row] = [0, row + 1];
      const place = {...entry, x, row};
      x += wide;
      return place;
    });
  }

  function wrapped(text, most) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + 1 + word.length > most) lines.push("");
      lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
    }
    return lines;
  }

  function make(name, attributes) {
    const mark = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) mark.setAttribute(key, value);
    return mark;
  }

  function surfaceOf(style) {
    return style.getPropertyValue("--surface").trim() || "white";
  }

  function svg(name, picture, told) {
    download(`${name}.svg`, new Blob([standing(picture, told).text], {type: "image/svg+xml"}));
  }

  async function png(name, picture, told) {
    const {text, width, height} = standing(picture, told);
    const fine = 2;
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = fine * width;
    canvas.height = fine * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const file = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    download(`${name}.png`, file);
  }

  function json(name, data) {
    const text = JSON.stringify(data, null, 2);
    download(`${name}.json`, new Blob([text], {type: "application/json"}));
  }

  function download(name, file) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = name;
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  return {svg, png, json};
})();
