// The fidelity of the set as it is now, in words and on a line, with undo and reset.
"use strict";
window.zorro = window.zorro || {};

// set: from zorro.editedSet; question: what the server needs to know beside the set;
// onMeasured(measured) hears what the server says of it, also of the set as it was found where
// the answer shows more of that than its fidelity.
// Returns {update, stop}; update() is to be called when the set has changed.
zorro.yourSet = function (
  container,
  {set, row, detail, wording, question, limit, onMeasured},
) {
  const answer = zorro.answers[row.answer];
  const worlds = [200, 1000].filter((count) => count <= limit);
  let samples = worlds[0] ?? limit;
  const root = d3
    .select(container)
    .append("section")
    .attr("class", "panel your-set")
    .attr("aria-labelledby", "your-set");
  const told = root.append("div").attr("class", "told");
  told.append("h3").attr("id", "your-set").text("Your set");
  const sentence = told.append("p").attr("class", "verdict").attr("role", "status");
  const meter = zorro.meter(root.append("div").attr("class", "scale").node(), {
    tau: detail.tau,
    found: detail.fidelity,
  });
  const line = root.append("div").attr("class", "actions");
  const undo = button("Undo", () => set.undo());
  const redo = button("Redo", () => set.redo());
  const reset = button("Reset", () => set.reset());
  if (worlds.length > 1) choice();
  const legend = line.append("ul").attr("class", "legend");
  for (const [kind, name] of [
    ["edited", "yours"],
    ["original", "as found"],
  ]) {
    const item = legend.append("li");
    item.append("span").attr("class", `swatch ${kind}`).attr("aria-hidden", "true");
    item.append("span").text(name);
  }
  const measurer = zorro.measurer(answered);
  document.addEventListener("keydown", stepBack);
  let latest = null; // what was measured of the set as it is
  update();
  return {update, stop, measured: () => latest};

  function stop() {
    document.removeEventListener("keydown", stepBack);
    measurer.stop();
  }

  // Ctrl+Z and Ctrl+Shift+Z, or ⌘, but where a text is written.
  function stepBack(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
    if (event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    if (event.shiftKey) set.redo();
    else set.undo();
  }

  function update() {
    latest = null;
    const hadFocus = [undo, redo, reset].find((one) => one.node() === document.activeElement);
    undo.property("disabled", !set.canUndo());
    redo.property("disabled", !set.canRedo());
    reset.property("disabled", !set.isChanged());
    if (hadFocus?.property("disabled")) (set.canUndo() ? undo : redo).node().focus();
    root.classed("changed", set.isChanged());
    if (set.isChanged()) {
      root.classed("measuring", true).attr("aria-busy", "true");
      measure();
    } else {
      if (answer.showsOutputs) measure();
      else measurer.stop();
      root.classed("measuring", false).attr("aria-busy", null);
      const {value, lower, upper, samples: count} = detail.fidelity;
      tell("As it was found:", {fidelity: value, low: lower, high: upper, samples: count});
      meter.update(null);
    }
  }

  function measure() {
    measurer.measure({...question, ...answer.against(row, detail), ...set.kept(), samples});
  }

  function answered({measured, error}) {
    onMeasured(measured ?? null);
    if (!set.isChanged()) return;
    root.classed("measuring", false).attr("aria-busy", null);
    if (error !== undefined) {
      sentence.attr("class", "verdict failed").text(`Not measured: ${error}`);
      meter.update(null);
      return;
    }
    latest = measured;
    tell("Your set:", measured);
    meter.update({value: measured.fidelity, low: measured.low, high: measured.high});
  }

  function tell(whose, {fidelity, low, high, samples: count}) {
    const size = wording.size(set.size);
    const share = zorro.shareWithRange(fidelity, low, high);
    const worldsSaid = `of ${zorro.number(count)} random worlds`;
    const isProved = !set.isChanged() && row.certified;
    const [kind, verdict] = isProved ? ["enough", "above τ, certified"] : judged(low, high);
    sentence.attr("class", "verdict").selectAll("*").remove();
    sentence.text(`${whose} ${size} ${wording.isPlural(set.size) ? "keep" : "keeps"} `);
    sentence.append("span").text(`${answer.kept(row, detail, wording)} in `);
    sentence.append("strong").text(share);
    sentence.append("span").text(` ${worldsSaid}: `);
    sentence.append("span").attr("class", kind).text(verdict);
    sentence.append("span").text(".");
  }

  function judged(low, high) {
    if (low >= detail.tau) return ["enough", "above τ"];
    if (high < detail.tau) return ["short", "below τ"];
    return ["close", "too close to τ to tell"];
  }

  function button(name, onClick) {
    return line
      .append("button")
      .attr("type", "button")
      .attr("class", "plain")
      .text(name)
      .on("click", onClick);
  }

  function choice() {
    const label = line.append("label").attr("class", "inline");
    label.append("span").text("Random worlds");
    label
      .append("select")
      .on("change", (event) => {
        samples = Number(event.target.value);
        update();
      })
      .selectAll("option")
      .data(worlds)
      .join("option")
      .attr("value", (count) => count)
      .text(zorro.number);
  }
};

// 81.5 % (76–86.3 %); nothing reads as 100 that is less.
zorro.shareWithRange = function (value, low, high) {
  const written = (share) =>
    share < 1 ? String(Math.min(99.9, zorro.rounded(100 * share, 1))) : "100";
  return `${written(value)}\u00a0% (${written(low)}–${written(high)}\u00a0%)`;
};
