// A box to search for a node or a feature that is not in the set, and to take it in.
"use strict";
window.zorro = window.zorro || {};

// search(text, signal) gives a promise of [{id, name, note}]; onAdd(entry) is called for the choice.
zorro.adder = function (parent, {name, hint, search, onAdd}) {
  const patience = 80;
  const box = parent.append("div").attr("class", "adder");
  const input = box
    .append("input")
    .attr("type", "search")
    .attr("autocomplete", "off")
    .attr("aria-label", name)
    .attr("placeholder", hint)
    .on("input", ask)
    .on("focus", ask)
    .on("keydown", (event) => {
      if (event.key === "ArrowDown") move(event, -1, 1);
      else if (event.key === "Enter") list.select("button").each(press);
      else if (event.key === "Escape") close();
    });
  const list = box.append("ul").attr("class", "found").property("hidden", true);
  const said = box.append("p").attr("class", "unseen").attr("role", "status");
  let timer = null;
  let asked = null;
  box.on("focusout", (event) => {
    if (!box.node().contains(event.relatedTarget)) close();
  });

  function ask() {
    window.clearTimeout(timer);
    timer = window.setTimeout(find, patience);
  }

  async function find() {
    asked?.abort();
    const question = new AbortController();
    asked = question;
    try {
      const found = await search(input.property("value").trim(), question.signal);
      if (asked === question) show(found);
    } catch (error) {
      if (asked === question) tell(error.message);
    }
  }

  function show(found) {
    if (!box.node().contains(document.activeElement)) return;
    if (!found.length) return tell("Nothing is found that is not in the set already.");
    said.text(`${found.length} found`);
    list.property("hidden", false).selectAll("*").remove();
    const buttons = list
      .selectAll("li")
      .data(found)
      .join("li")
      .append("button")
      .attr("type", "button")
      .on("click", (_, entry) => {
        close();
        input.property("value", "");
        onAdd(entry);
      })
      .on("keydown", (event) => {
        const place = buttons.nodes().indexOf(event.currentTarget);
        if (event.key === "ArrowDown") move(event, place, 1);
        else if (event.key === "ArrowUp") move(event, place, -1);
        else if (event.key === "Escape") {
          close();
          input.node().focus();
        }
      });
    buttons.append("span").text((entry) => entry.name);
    buttons
      .filter((entry) => entry.note)
      .append("span")
      .attr("class", "muted")
      .text((entry) => entry.note);
  }

  function tell(text) {
    said.text(text);
    list.property("hidden", false).selectAll("*").remove();
    list.append("li").attr("class", "muted").text(text);
  }

  function move(event, from, by) {
    const buttons = list.selectAll("button").nodes();
    const next = from + by < 0 ? input.node() : buttons[Math.min(from + by, buttons.length - 1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  function press(_, at, group) {
    if (at === 0) group[at].click();
  }

  function close() {
    window.clearTimeout(timer);
    asked = null;
    list.property("hidden", true);
  }
};
