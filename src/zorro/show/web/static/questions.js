// What can be asked further of an explanation: why not another class, how others explain it; and
// what can be done with it: saved as a file, kept in the run.
"use strict";
window.zorro = window.zorro || {};

// keep(): keeps it in the run, and tells in words that it is; null if it is there already, or cannot be.
// count: how many nodes or graphs there are; classes: those that can be asked against.
zorro.questions = function (
  parent,
  {view, count, classes, methods, runs, live, wording, onView, saves, keep = null},
) {
  const mostCompared = 4;
  const bar = parent.append("div").attr("class", "questions");
  const whyNot = {classes: anotherClass, links: anotherLink};
  if (live && !view.compare) whyNot[wording.level.whyNot]();
  const others = [
    ...runs.map((run) => [`run:${run.id}`, run.name]),
    ...(live ? methods.map((method) => [`method:${method}`, method]) : []),
  ];
  if (others.length) comparisons();
  if (saves.length) {
    const group = bar.append("div").attr("class", "saves").attr("role", "group");
    group.attr("aria-label", "Save");
    group.append("span").attr("class", "muted").attr("aria-hidden", "true").text("Save");
    for (const [name, save] of saves) {
      group
        .append("button")
        .attr("type", "button")
        .attr("class", "plain")
        .attr("aria-label", `Save as ${name}`)
        .text(name)
        .on("click", async () => {
          said.text("");
          try {
            await save();
          } catch {
            said.text(`The ${name} could not be made.`);
          }
        });
    }
  }
  if (keep) {
    const button = bar.append("button").attr("type", "button").attr("class", "plain keep");
    button.text("Keep in the run").on("click", async () => {
      button.property("disabled", true);
      try {
        said.text(await keep());
        button.remove();
      } catch (error) {
        button.property("disabled", false);
        said.text(error.message);
      }
    });
  }
  const said = bar.append("p").attr("class", "small said").attr("role", "status");

  // Others to compare with: those that are chosen, each of which can be left out, and one more.
  function comparisons() {
    const chosen = zorro.compared(view.compare);
    for (const id of chosen) {
      const name = others.find(([other]) => other === id)?.[1] ?? id;
      bar
        .append("button")
        .attr("type", "button")
        .attr("class", "plain chosen")
        .attr("aria-label", `Leave out ${name}`)
        .text(`${name} ×`)
        .on("click", () => choose(chosen.filter((other) => other !== id)));
    }
    const left = others.filter(([id]) => !chosen.includes(id));
    if (!left.length || chosen.length >= mostCompared) return;
    const label = chosen.length ? "and with" : "Compare with";
    select(label, "compare", [["", "choose…"], ...left], "", (value) => choose([...chosen, value]));
  }

  function choose(ids) {
    const isMethod = ids.some((id) => id.startsWith("method:"));
    onView({compare: ids.join(",") || null, ...(isMethod ? {whyNot: null} : {})});
  }

  function anotherClass() {
    if (!classes.length) return;
    select(
      "Why not",
      "why_not",
      [none(view.whyNot), ...classes.map((number) => [`${number}`, `${wording.className(number)}?`])],
      view.whyNot === null ? "" : String(view.whyNot),
      (value) => onView({whyNot: value === "" ? null : Number(value)}),
    );
  }

  // Another link from the same node, by its other end.
  function anotherLink() {
    const {level} = wording;
    const form = bar.append("form").attr("class", "why-not");
    const label = form.append("label").attr("class", "inline");
    label.append("span").text(`Why not ${wording.nodeLabel(level.from(view.query))}\u00a0–`);
    const input = label
      .append("input")
      .attr("name", "why_not")
      .attr("inputmode", "numeric")
      .attr("size", 7)
      .attr("autocomplete", "off")
      .attr("aria-label", `The other end of a link to compare with`)
      .attr("placeholder", wording.node)
      .property("value", view.whyNot === null ? "" : String(view.whyNot).split("-")[1]);
    form.append("button").attr("class", "plain").text("Ask");
    if (view.whyNot !== null) {
      form
        .append("button")
        .attr("type", "button")
        .attr("class", "plain")
        .text("Go back")
        .on("click", () => onView({whyNot: null}));
    }
    form.on("submit", (event) => {
      event.preventDefault();
      const text = input.property("value").trim();
      const other = level.read(level.to(view.query, text));
      if (other === null || !level.exists(other, count))
        said.text(`Expected another ${wording.node}, 0 to ${zorro.number(count - 1)}.`);
      else if (other === view.query) said.text("This is the link itself.");
      else onView({whyNot: other});
    });
  }

  function none(chosen) {
    return ["", chosen === null ? "choose…" : "nothing, go back"];
  }

  function select(name, key, options, value, onChange) {
    const label = bar.append("label").attr("class", "inline");
    label.append("span").text(name);
    label
      .append("select")
      .attr("name", key)
      .on("change", (event) => onChange(event.target.value))
      .selectAll("option")
      .data(options)
      .join("option")
      .attr("value", ([id]) => id)
      .property("selected", ([id]) => id === value)
      .text(([, text]) => text);
  }
};

// With what a view is compared: run:1, method:grad, …
zorro.compared = (text) => (text ? [...new Set(text.split(","))] : []);
