// What can be asked further of an explanation: why not another class, how others explain it.
"use strict";
window.zorro = window.zorro || {};

zorro.questions = function (parent, {view, classes, methods, runs, live, wording, onView, saves}) {
  const bar = parent.append("div").attr("class", "questions");
  if (live && classes.length && !view.compare) {
    select(
      "Why not",
      "why_not",
      [none(view.whyNot), ...classes.map((number) => [`${number}`, `${wording.className(number)}?`])],
      view.whyNot === null ? "" : String(view.whyNot),
      (value) => onView({whyNot: value === "" ? null : Number(value)}),
    );
  }
  const others = [
    ...runs.map((run) => [`run:${run.id}`, run.name]),
    ...(live ? methods.map((method) => [`method:${method}`, method]) : []),
  ];
  if (others.length) {
    select("Compare with", "compare", [none(view.compare), ...others], view.compare ?? "", (value) =>
      onView({compare: value || null, ...(value.startsWith("method:") ? {whyNot: null} : {})}),
    );
  }
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
  const said = bar.append("p").attr("class", "small said").attr("role", "status");

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
