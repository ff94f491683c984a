// The explorer: loads what the address names, and shows it.
"use strict";

(async function () {
  const part = (id) => document.getElementById(id);
  const loaded = new Map(); // of each run: {rows, failures, byNode, wording, labels, …}
  const answers = new Map(); // explanations by question: {row, detail}
  let all = null; // what /api/runs says
  let here = null; // the run that the overview shows, and its table
  let table = null;
  let left = 0; // how far the overview was scrolled
  let turn = 0; // grows with each view, so that late answers are not shown
  let stop = () => {}; // ends what the view that is left has under way

  try {
    all = await zorro.api.runs();
  } catch (error) {
    fail(error);
    return;
  }
  for (const run of all.runs) {
    const isUnique = all.runs.every((other) => other === run || other.name !== run.name);
    if (!isUnique) run.title = `${run.name} (${run.path})`;
  }
  for (const run of all.runs) run.name = run.title ?? run.name;
  if (!all.live) {
    part("reading-only").hidden = false;
    part("reading-only").textContent =
      all.reason ??
      "For reading only: the server has no model and graph at hand, so that nothing can be explained or measured anew.";
  }
  window.addEventListener("hashchange", show);
  await show();

  async function show() {
    const view = zorro.address.read();
    const mine = ++turn;
    stop();
    stop = () => {};
    const named = all.runs.find((run) => String(run.id) === view.run) ?? all.runs[0];
    view.run = String(named.id);
    let run;
    try {
      run = await load(named);
      if (mine === turn) header(run, view);
      if (mine === turn) await (view.node === null ? overview(run) : open(run, view, mine));
    } catch (error) {
      if (mine === turn) fail(error);
    }
  }

  async function load(named) {
    const id = String(named.id);
    if (!loaded.has(id)) {
      const {rows, failures = []} = await zorro.api.rows(named.id);
      const labels = {nodes: {}, features: {}, ...named.labels};
      loaded.set(id, {
        ...named,
        id, // as the address has it
        number: named.id,
        live: named.live ?? all.live,
        nodes: named.nodes ?? all.nodes,
        rows,
        failures,
        labels,
        byNode: new Map(rows.map((row) => [row.node, row])),
        wording: zorro.wording(labels),
      });
    }
    return loaded.get(id);
  }

  function learn(run, names) {
    Object.assign(run.labels.nodes, names?.nodes);
    Object.assign(run.labels.features, names?.features);
  }

  function header(run, view) {
    const {summary, wording, labels} = run;
    document.title = `${summary.subject} – zorro`;
    part("subject").textContent = summary.subject;
    part("made").textContent =
      `Made ${summary.made.slice(0, 10)} with zorro ${summary.versions.zorro}`;
    if (here === run) return;
    here = run;
    left = 0;
    const address = (node) => zorro.address.write({run: run.id, node});
    part("overview").hidden = false; // so that its drawings have a width
    table = zorro.overview({...run, address});
    part("overview").hidden = view.node !== null;
    zorro.finder(part("controls"), {
      runs: all.runs.map(({id, name}) => ({id: String(id), name})),
      run: run.id,
      nodes: run.nodes,
      labels,
      wording,
      onRun: (id) => zorro.address.go({run: id, node: zorro.address.read().node}),
      onNode: (node) => zorro.address.go({run: run.id, node}),
    });
  }

  function overview() {
    part("overview").hidden = false;
    part("explanation").hidden = true;
    part("main").classList.remove("waiting");
    window.scrollTo(0, left);
  }

  async function open(run, view, mine) {
    if (!part("overview").hidden) left = window.scrollY;
    const known = answers.get(key(view));
    if (known) return present(run, view, known, mine);
    if (view.method !== null || view.whyNot !== null) return explain(run, view, mine);
    if (!run.byNode.has(view.node)) return offer(run, view);
    keep(run, view, await zorro.api.detail(run.number, view.node));
    if (mine === turn) await present(run, view, answers.get(key(view)), mine);
  }

  function key({run, node, method, whyNot, tau}) {
    return [run, node, method ?? "", whyNot ?? "", tau ?? ""].join(" ");
  }

  function keep(run, view, detail) {
    learn(run, detail.names);
    answers.set(key(view), {detail, row: detail.row});
  }

  // An empty page of one node.
  function blank(run, view) {
    part("overview").hidden = true;
    const article = part("explanation");
    article.hidden = false;
    article.replaceChildren();
    part("main").classList.remove("waiting");
    const name = run.wording.capital(run.wording.nodeName(view.node));
    document.title = `${name} – ${run.summary.subject} – zorro`;
    window.scrollTo(0, 0);
    return d3.select(article);
  }

  function titled(run, view) {
    const root = blank(run, view);
    const bar = root.append("nav").attr("class", "bar").attr("aria-label", "Explanations");
    bar
      .append("a")
      .attr("href", zorro.address.write({run: run.id}))
      .text("← All explanations");
    const name = run.wording.capital(run.wording.nodeName(view.node));
    const title = root.append("div").attr("class", "heading").append("h2").attr("tabindex", -1);
    title.text(name).node().focus({preventScroll: true});
    return root;
  }

  function offer(run, view) {
    const root = titled(run, view);
    const isThere = view.node < run.nodes;
    const panel = root.append("section").attr("class", "panel offer");
    if (!isThere) {
      panel.append("p").text(`There is no such ${run.wording.node} in the graph.`);
      return;
    }
    const failure = run.failures.find(({node}) => node === view.node);
    panel
      .append("p")
      .text(failure ? `This run could not explain it: ${failure.error}` : "It is not in this run.");
    if (!run.live) return;
    panel
      .append("button")
      .attr("type", "button")
      .attr("class", "main")
      .text("Explain it now")
      .on("click", () => zorro.address.go({run: run.id, node: view.node, method: "zorro"}));
  }

  function explain(run, view, mine) {
    const root = titled(run, view);
    if (!run.live) {
      note(root.node(), "It was not explained in this way, and cannot be now.");
      return;
    }
    search(root.node(), run, view, {
      onDone: () => mine === turn && present(run, view, answers.get(key(view)), mine),
      onCancelled: () => backTo(run, {run: view.run, node: view.node}),
      onFailed: (error) => backTo(run, {run: view.run, node: view.node}, error.message),
    });
  }

  // Explains, with its progress in a panel; the answer is kept.
  function search(container, run, view, {onDone, onCancelled, onFailed}) {
    const {wording, summary} = run;
    const method = view.method ?? "zorro";
    const wanted = {run: run.number, node: view.node, method};
    if (view.whyNot !== null) wanted.why_not = view.whyNot;
    const progress = zorro.progress(container, {
      wanted,
      hasSteps: method === "zorro",
      title:
        view.whyNot === null
          ? `Explaining ${wording.nodeName(view.node)} (${method})`
          : `Why not ${wording.className(view.whyNot)}?`,
      tau: summary.tau,
      wording,
      onDone: (answer) => {
        keep(run, view, answer.detail);
        onDone();
      },
      onCancelled,
      onFailed,
    });
    stop = progress.stop;
  }

  // Shows a view in place of one that came to nothing, and says why.
  async function backTo(run, view, said = null) {
    stop = () => {};
    zorro.address.keep(view);
    await show();
    if (!said) return;
    d3.select(part("explanation"))
      .insert("p", "nav + *")
      .attr("class", "note failed")
      .attr("role", "alert")
      .text(said);
  }

  async function present(run, view, {row, detail}, mine) {
    if (view.compare !== null) return compare(run, view, {row, detail}, mine);
    blank(run, view);
    const {wording, summary} = run;
    const bench = zorro.workbench(part("explanation"), {
      shown: {
        row,
        detail,
        summary,
        wording,
        links: links(run, view),
        isExplained: (node) => run.live || run.byNode.has(node),
      },
      question: {run: run.number, node: view.node, whyNot: view.whyNot},
      start: view.nodes && view.features ? {nodes: view.nodes, features: view.features} : null,
      live: run.live,
      limit: all.limits.samples,
      learn: (names) => learn(run, names),
      tools: (parent, saves) => questions(parent, run, view, {row, detail}, saves),
      onSet: (set) => zorro.address.keep({...view, nodes: null, features: null, ...set}),
    });
    stop = bench.stop;
    bench.heading.focus({preventScroll: true});
  }

  function questions(parent, run, view, {row, detail}, saves) {
    const classes = new Set([
      ...Object.keys(run.labels.classes).map(Number),
      ...run.rows.map((one) => one.class),
      ...detail.probabilities.map(([number]) => number),
    ]);
    classes.delete(row.class);
    zorro.questions(parent, {
      view,
      classes: d3.sort(classes),
      methods: all.methods.filter((method) => method !== (view.method ?? "zorro")),
      runs: all.runs.map(({id, name}) => ({id: String(id), name})),
      live: run.live,
      wording: run.wording,
      onView: (change) => zorro.address.go({...view, nodes: null, features: null, ...change}),
      saves,
    });
  }

  function links(run, view) {
    const order = table?.order() ?? [];
    const at = order.indexOf(view.node);
    const address = (node) => zorro.address.write({run: run.id, node});
    const link = (node) => (at < 0 || node === undefined ? null : address(node));
    return {
      back: zorro.address.write({run: run.id}),
      previous: link(order[at - 1]),
      next: link(order[at + 1]),
      node: address,
    };
  }

  async function compare(run, view, own, mine) {
    const root = titled(run, view);
    const said = root.append("p").attr("class", "sentence");
    for (const [text, isStressed] of own.detail.sentence)
      said.append(isStressed ? "strong" : "span").text(text);
    questions(root, run, view, own, []);
    const place = root.append("div").attr("class", "compared").node();
    const [kind, id] = split(view.compare);
    const isRun = kind === "run";
    const otherNamed = isRun ? all.runs.find((one) => String(one.id) === id) : null;
    if (isRun && !otherNamed) return note(place, "There is no such run to compare with.");
    const otherRun = isRun ? await load(otherNamed) : run;
    if (mine !== turn) return;
    const otherView = {...view, run: otherRun.id, compare: null};
    if (!isRun) Object.assign(otherView, {method: id, whyNot: null});
    const ready = () => {
      if (mine !== turn) return;
      const other = answers.get(key(otherView));
      place.replaceChildren();
      zorro.comparison(place, {
        wording: run.wording,
        sides: [
          {name: isRun ? run.name : (view.method ?? "zorro"), ...own},
          {name: isRun ? otherRun.name : id, ...other},
        ],
      });
    };
    if (answers.has(key(otherView))) return ready();
    if (isRun && otherView.whyNot === null && otherView.method === null) {
      if (otherRun.byNode.has(view.node)) {
        keep(otherRun, otherView, await zorro.api.detail(otherRun.number, view.node));
        return ready();
      }
    }
    if (!otherRun.live)
      return note(place, `${otherRun.name} does not explain it, and cannot now: it is read-only.`);
    search(place, otherRun, otherView, {
      onDone: ready,
      onCancelled: () => zorro.address.go({...view, compare: null}),
      onFailed: (error) => {
        place.replaceChildren();
        note(place, error.message);
      },
    });
  }

  function split(text) {
    const at = text.indexOf(":");
    return at < 0 ? ["method", text] : [text.slice(0, at), text.slice(at + 1)];
  }

  function note(place, text) {
    d3.select(place).append("p").attr("class", "note failed").attr("role", "alert").text(text);
  }

  function fail(error) {
    part("main").classList.remove("waiting");
    part("overview").hidden = true;
    part("explanation").hidden = false;
    part("explanation").replaceChildren();
    note(part("explanation"), error.message);
  }
})();
