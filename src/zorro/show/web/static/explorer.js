// The explorer: loads what the address names, and shows it.
"use strict";

(async function () {
  const part = (id) => document.getElementById(id);
  const article = part("explanation");
  let all = null; // what /api/runs says
  let library = null;
  let here = null; // the run that the overview shows, and its table
  let table = null;
  let left = 0; // how far the overview was scrolled
  let turn = 0; // grows with each view, so that late answers are not shown
  let stop = () => {}; // ends what the view that is left has under way
  const wanted = new Map(); // the rows that are wanted of each run

  try {
    all = await zorro.api.runs();
  } catch (error) {
    if (error.status === 401) login(error.message);
    else fail(error);
    return;
  }
  library = zorro.library(all);
  zorro.unreadable(part("broken"), {
    title: (count) => (count === 1 ? "A run cannot be read" : `${count} runs cannot be read`),
    items: library.broken,
  });
  window.addEventListener("hashchange", show);
  window.addEventListener("pagehide", () => stop());
  await show();

  // The page of who has an address without a token, as those that are shared are.
  function login(reason) {
    part("main").classList.remove("waiting");
    part("overview").hidden = true;
    article.hidden = false;
    const form = d3.select(article).append("form").attr("class", "panel login");
    form.append("h2").text("This page asks for a token");
    form.append("p").text(`${reason} Or paste that address here, or the token in it.`);
    const label = form.append("label");
    label.append("span").text("Address or token");
    const input = label.append("input").attr("name", "token").attr("type", "password");
    input.attr("autocomplete", "off").attr("required", "");
    form.append("button").attr("class", "main").text("Open");
    form.on("submit", (event) => {
      event.preventDefault();
      const said = input.property("value").trim();
      const token = /[?&]token=([^&#]+)/.exec(said)?.[1] ?? said;
      // What was shared stays behind the #.
      window.location.assign(`/?token=${encodeURIComponent(token)}${window.location.hash}`);
    });
    input.node().focus();
  }

  async function show() {
    const view = zorro.address.read();
    const mine = ++turn;
    stop();
    stop = () => {};
    const broken = library.broken.find(({id}) => id === view.run);
    if (broken || view.query !== null) part("broken").open = false; // it is said already
    const run = broken ? undefined : (library.find(view.run) ?? library.runs[0]);
    if (run === undefined) return missing(broken ?? library.broken[0]);
    const isOther = view.level !== null && view.level !== run.wording.levelName;
    Object.assign(view, {run: run.id, level: run.wording.levelName});
    try {
      await library.load(run);
      if (mine !== turn) return;
      header(run, view);
      if (isOther) note(titled(run, {...view, query: null}).node(), otherLevel(run));
      else if (view.query === null) overview();
      else await open(run, view, mine);
    } catch (error) {
      if (mine !== turn) return;
      if (here !== run) choice(run.id);
      fail(error);
    }
  }

  function otherLevel({wording, queries}) {
    const range = wording.level.range(wording, queries);
    return `This run is of ${wording.queries} ${range}: the address names something else.`;
  }

  // Other runs can be chosen whatever becomes of this one.
  function choice(id) {
    here = null;
    const every = d3.sort([...library.runs, ...library.broken], (one) => Number(one.id));
    zorro.runChoice(part("controls"), {
      runs: every,
      run: id,
      onRun: (other) => {
        const {level, query} = zorro.address.read();
        const isOther = (library.find(other)?.wording.levelName ?? level) !== level;
        zorro.address.go({run: other, level, query: isOther ? null : query});
      },
    });
  }

  // A run of which nothing can be shown.
  function missing({id, name, reason}) {
    choice(id);
    document.title = `${name} – zorro`;
    part("reading-only").hidden = true;
    part("subject").textContent = name;
    part("made").textContent = "";
    fail(new Error(`This run cannot be read: ${reason}`));
  }

  function header(run, view) {
    const {summary, wording, labels} = run;
    document.title = `${summary.subject} – zorro`;
    if (here === run) return;
    choice(run.id);
    zorro.finder(part("controls"), {
      count: run.queries,
      names: wording.hasQueryNames ? labels.nodes : {},
      wording,
      onQuery: (query) => zorro.address.go(at(run, query)),
    });
    left = 0;
    part("reading-only").hidden = run.live;
    part("reading-only").textContent = readingOnly(run);
    part("subject").textContent = summary.subject;
    part("made").textContent =
      `Made ${summary.made.slice(0, 10)} with zorro ${summary.versions.zorro}`;
    const address = (query) => zorro.address.write(at(run, query));
    part("overview").hidden = false; // so that its drawings have a width
    table = zorro.overview({
      ...run,
      address,
      start: wanted.get(run.id) ?? zorro.filtersIn(window.location.hash),
      onFilter: (filters) => {
        wanted.set(run.id, filters);
        const own = zorro.address.write({run: run.id});
        window.history.replaceState(null, "", zorro.withFilters(own, filters));
      },
    });
    part("overview").hidden = view.query !== null;
    here = run;
  }

  function readingOnly({missing, wording}) {
    const what = `the model and the ${wording.level.data.toLowerCase()} are not at hand`;
    return [
      `For reading only: ${what}${missing ? ` (${missing})` : ""},`,
      "so that nothing can be explained or measured anew.",
    ].join(" ");
  }

  function overview() {
    part("overview").hidden = false;
    article.hidden = true;
    part("main").classList.remove("waiting");
    window.scrollTo(0, left);
  }

  async function open(run, view, mine) {
    if (!part("overview").hidden) left = window.scrollY;
    let known;
    try {
      known = await library.fetched(run, view);
    } catch (error) {
      if (mine === turn) note(titled(run, view).node(), error.message);
      return;
    }
    if (mine !== turn) return;
    if (known) await present(run, view, known, mine);
    else if (view.method === null && view.whyNot === null) offer(run, view);
    else explain(run, view, mine);
  }

  // The view of a query as the run has it.
  function at(run, query) {
    return {run: run.id, level: run.wording.levelName, query};
  }

  // An empty page of one query.
  function blank(run, view) {
    part("overview").hidden = true;
    article.hidden = false;
    article.replaceChildren();
    part("main").classList.remove("waiting");
    document.title = `${nameOf(run, view)} – ${run.summary.subject} – zorro`;
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
    const title = root.append("div").attr("class", "heading").append("h2").attr("tabindex", -1);
    title.text(nameOf(run, view)).node().focus({preventScroll: true});
    return root;
  }

  function nameOf({wording}, {query}) {
    return wording.capital(query === null ? wording.queries : wording.queryName(query));
  }

  function offer(run, view) {
    const panel = titled(run, view).append("section").attr("class", "panel offer");
    if (!run.wording.level.exists(view.query, run.queries)) {
      panel.append("p").text(run.wording.level.none(run.wording));
      return;
    }
    panel.append("p").text(absence(run, view.query));
    if (!run.live) return;
    if (run.wording.levelName === "node") surroundings(panel, run, view);
    panel
      .append("button")
      .attr("type", "button")
      .attr("class", "main")
      .text("Explain it now")
      .on("click", () => zorro.address.go({...at(run, view.query), method: "zorro"}));
  }

  // What the model says of a node that is not explained, and where it lies.
  async function surroundings(panel, run, view) {
    const mine = turn;
    const place = panel.append("div").attr("class", "before");
    try {
      const {scene, names} = await zorro.api.drawing(run.number, view.query, 40, {});
      if (mine !== turn || !scene) return;
      library.learn(run, names);
      const {wording} = run;
      const kind = scene.nodes[0][5];
      if (kind !== null) {
        const said = place.append("p").text("The model says ");
        said.append("strong").text(wording.kindName(kind));
      }
      const describe = wording.level.around(wording, view.query, scene);
      zorro.scene(place.append("div").attr("class", "board").node(), scene, {wording, describe, keptEdges: []});
      zorro.sceneLegend(place.node(), scene, {wording});
    } catch (error) {
      if (mine === turn) note(place.node(), error.message);
    }
  }

  // Why a run holds no explanation of a query.
  function absence({failures, unreadable}, wanted) {
    const damaged = unreadable.find(({query}) => query === wanted);
    if (damaged) return `What this run holds of it cannot be read: ${damaged.reason}`;
    const failure = failures.find(({query}) => query === wanted);
    return failure ? `This run could not explain it: ${failure.error}` : "It is not in this run.";
  }

  function explain(run, view, mine) {
    const root = titled(run, view);
    if (!run.live) {
      note(root.node(), "It was not explained in this way, and cannot be now.");
      return;
    }
    const before = at(run, view.query);
    search(root.node(), run, view, {
      onDone: (answer) => mine === turn && present(run, view, answer, mine),
      onCancelled: () => backTo(before),
      onFailed: (error) => backTo(before, error.message),
    });
  }

  // Explains, with its progress in a panel; the answer is kept.
  function search(container, run, view, {onDone, onCancelled, onFailed}) {
    const {wording, summary} = run;
    const method = view.method ?? "zorro";
    const wanted = {run: run.number, query: view.query, method};
    if (view.whyNot !== null) wanted.why_not = view.whyNot;
    const progress = zorro.progress(container, {
      wanted,
      hasSteps: method === "zorro",
      title:
        view.whyNot === null
          ? `Explaining ${wording.queryName(view.query)} (${method})`
          : `Why not ${wording.level.otherName(wording, view.whyNot)}?`,
      tau: summary.tau,
      wording,
      onDone: ({detail}) => {
        library.keep(run, view, detail);
        if (library.add(run, view, detail)) here = null; // the table has a row more
        onDone(library.known(view));
      },
      onCancelled,
      onFailed,
    });
    stop = progress.stop;
  }

  // Shows a view in place of one that came to nothing, and says why.
  async function backTo(view, said = null) {
    stop = () => {};
    zorro.address.keep(view);
    await show();
    if (said === null) return;
    d3.select(article)
      .insert("p", "nav + *")
      .attr("class", "note failed")
      .attr("role", "alert")
      .text(said);
  }

  async function present(run, view, answer, mine) {
    if (view.compare !== null) return compare(run, view, answer, mine);
    blank(run, view);
    const kinds = run.summary.kept;
    const bench = zorro.workbench(article, {
      shown: {
        ...answer,
        summary: run.summary,
        wording: run.wording.within(answer.detail),
        links: links(run, view),
        isExplained: (query) => run.live || run.byQuery.has(query),
      },
      question: {run: run.number, query: view.query},
      start: kinds.every((kind) => view[kind]) ? view : null,
      live: run.live,
      limit: all.limits.samples,
      learn: (names) => library.learn(run, names),
      tools: (parent, saves) => questions(parent, run, view, answer, saves),
      onSet: (set) => zorro.address.keep({...view, ...zorro.address.unedited, ...set}),
    });
    stop = bench.stop;
    bench.heading.focus({preventScroll: true});
  }

  function questions(parent, run, view, {row, detail}, saves) {
    zorro.questions(parent, {
      view,
      count: run.queries,
      classes: zorro.answers[row.answer].others(run, row, detail),
      methods: run.methods.filter((method) => method !== (view.method ?? "zorro")),
      runs: library.comparable(run),
      live: run.live,
      wording: run.wording,
      onView: (change) => zorro.address.go({...view, ...zorro.address.unedited, ...change}),
      saves,
      keep: library.isNew(run, view) ? () => keep(run, view) : null,
    });
  }

  // Keeps in the run what was found, and says so.
  async function keep(run, view) {
    const {explained} = await zorro.api.keep(run.number, view.query);
    library.isKept(run, view, explained);
    here = null; // the figures above the table count one more
    const those = explained === 1 ? run.wording.query : run.wording.queries;
    return `Kept in the run, which explains ${zorro.number(explained)} ${those} now.`;
  }

  function links(run, view) {
    const order = table?.order() ?? [];
    const place = order.indexOf(view.query);
    const address = (query) => zorro.address.write(at(run, query));
    const link = (query) => (place < 0 || query === undefined ? null : address(query));
    return {
      back: zorro.address.write({run: run.id}),
      previous: link(order[place - 1]),
      next: link(order[place + 1]),
      query: address,
    };
  }

  async function compare(run, view, own, mine) {
    const root = titled(run, view);
    const said = root.append("p").attr("class", "sentence");
    for (const [text, isStressed] of own.detail.sentence)
      said.append(isStressed ? "strong" : "span").text(text);
    questions(root, run, view, own, []);
    const place = root.append("div").attr("class", "compared").node();
    const sides = [{name: nameIn(run, view), words: run.wording, ...own}];
    for (const wanted of zorro.compared(view.compare)) {
      const side = await compared(place, run, view, wanted, mine);
      if (side === null) return; // it is said why, or another view is shown
      sides.push(side);
    }
    place.replaceChildren();
    zorro.comparison(place, {wording: run.wording.within(own.detail), sides});

    // What one side is called: by its run, where runs are compared.
    function nameIn(which, {method, compare: others}) {
      return others.includes("run:") ? which.name : (method ?? "zorro");
    }
  }

  // One of those that a view is compared with, explained now if need be; null if that fails.
  async function compared(place, run, view, wanted, mine) {
    const [, kind, id] = /^(run|method):(.*)$/.exec(wanted) ?? [];
    const isRun = kind === "run";
    const other = isRun ? library.comparable(run).find((one) => one.id === id) : run;
    if (!kind || !other) return missed("There is nothing of this name to compare with.");
    await library.load(other);
    const asked = {...view, run: other.id, compare: null};
    if (!isRun) Object.assign(asked, {method: id, whyNot: null});
    const known = await library.fetched(other, asked);
    if (mine !== turn) return null;
    if (known) return ready(known);
    if (!other.live)
      return missed(`${other.name} does not explain it, and cannot now: it is for reading.`);
    return new Promise((resolve) => {
      search(place, other, asked, {
        onDone: (found) => {
          place.replaceChildren();
          resolve(mine === turn ? ready(found) : null);
        },
        onCancelled: () => {
          resolve(null);
          backTo({...view, compare: without(wanted)});
        },
        onFailed: (error) => {
          place.replaceChildren();
          resolve(missed(`${isRun ? other.name : id}: ${error.message}`));
        },
      });
    });

    function ready(found) {
      library.learn(run, found.detail.names);
      return {name: isRun ? other.name : id, words: other.wording, ...found};
    }

    function missed(text) {
      note(place, text);
      return null;
    }

    function without(one) {
      return zorro.compared(view.compare).filter((each) => each !== one).join(",") || null;
    }
  }

  function note(place, text) {
    d3.select(place).append("p").attr("class", "note failed").attr("role", "alert").text(text);
  }

  function fail(error) {
    part("main").classList.remove("waiting");
    part("overview").hidden = true;
    article.hidden = false;
    article.replaceChildren();
    note(article, error.message);
  }
})();
