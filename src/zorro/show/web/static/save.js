// Files to keep: a drawing as SVG or PNG, plain data as JSON.
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

  function standing({svg, canvas}) {
    const copy = svg.cloneNode(true);
    const here = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((mark, at) => {
      const style = window.getComputedStyle(here[at]);
      mark.removeAttribute("style");
      for (const name of styles) mark.setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "role", "tabindex", "aria-pressed"]) mark.removeAttribute(name);
    });
    copy.setAttribute("xmlns", space);
    const [width, height] = [svg.clientWidth, svg.clientHeight];
    copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
    if (canvas) {
      const image = document.createElementNS(space, "image");
      image.setAttribute("href", canvas.toDataURL());
      image.setAttribute("width", width);
      image.setAttribute("height", height);
      copy.prepend(image);
    }
    const ground = document.createElementNS(space, "rect");
    ground.setAttribute("width", "100%");
    ground.setAttribute("height", "100%");
    ground.setAttribute("fill", surface(svg));
    copy.prepend(ground);
    return {text: new XMLSerializer().serializeToString(copy), width, height};
  }

  function surface(element) {
    return window.getComputedStyle(element).getPropertyValue("--surface").trim() || "white";
  }

  function svg(name, picture) {
    download(`${name}.svg`, new Blob([standing(picture).text], {type: "image/svg+xml"}));
  }

  async function png(name, picture) {
    const {text, width, height} = standing(picture);
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
