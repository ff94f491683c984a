// What the server holds and has answered so far: runs with their tables, explanations by question.
"use strict";
window.zorro = window.zorro || {};

// listed: what GET /api/runs gives. A view is what zorro.address reads.
zorro.library = function (listed) {
  const runs = listed.runs.filter(({broken}) => broken === null).map((run) => ({
    ...run,
    id: String(run.id), // as the address has it
    number: run.id,
    name: isUnique(run) ? run.name : `${run.name} (${run.path})`,
    labels: {nodes: {}, features: {}, ...run.labels},
  }));
  for (const run of runs) run.wording = zorro.wording(run.labels, run.summary.kept);
  const loaded = new Map();
  const answers = new Map();
  const broken = listed.runs.filter((run) => run.broken !== null);
  return {
    runs,
    broken: broken.map(({id, path, broken: reason}) => ({id: String(id), name: path, reason})),
    find: (id) => runs.find((run) => run.id === id),
    load,
    known: (view) => answers.get(key(view)),
    keep,
    add,
    fetched,
    isNew,
    isKept,
    learn,
    comparable: (run) =>
      runs.filter(
        (other) =>
          other !== run && other.labels.level === run.labels.level && sameGraph(run, other),
      ),
  };

  // Fills in the table of a run.
  async function load(run) {
    if (!loaded.has(run.id)) {
      const asked = zorro.api.rows(run.number).then(({rows, found, failures, unreadable}) => {
        run.rows = [...rows, ...found];
        run.found = new Set(found.map((row) => row.query));
        run.failures = failures;
        run.unreadable = unreadable;
        run.byQuery = new Map(run.rows.map((row) => [row.query, row]));
      });
      loaded.set(run.id, asked);
      asked.catch(() => loaded.delete(run.id));
    }
    await loaded.get(run.id);
    return run;
  }

  // Keeps an explanation as the answer to a view's question.
  function keep(run, view, detail) {
    learn(run, detail.names);
    answers.set(key(view), {detail, row: detail.row});
  }

  // Adds what was explained as the run explains to its table; whether that changed it.
  function add(run, view, detail) {
    const isAsTheRuns = (view.method ?? "zorro") === "zorro" && view.whyNot === null;
    if (!isAsTheRuns || run.byQuery.has(view.query)) return false;
    keep(run, {...view, method: null}, detail);
    run.rows.push(detail.row);
    run.byQuery.set(view.query, detail.row);
    if (detail.isNew) run.found.add(view.query);
    return true;
  }

  // Whether a view shows what was found and can be kept in the run.
  function isNew(run, view) {
    const isAsTheRuns = (view.method ?? "zorro") === "zorro" && view.whyNot === null;
    return isAsTheRuns && run.found.has(view.query);
  }

  // Notes that a run holds what was found, and how many explanations it holds.
  function isKept(run, view, explained) {
    run.found.delete(view.query);
    Object.assign(run.summary, {explained, asked: Math.max(run.summary.asked, explained)});
  }

  // Gives what is known of a view or held by its run; undefined if it must be explained first.
  async function fetched(run, view) {
    const isKept = view.method === null && view.whyNot === null && run.byQuery.has(view.query);
    if (!answers.has(key(view)) && isKept)
      keep(run, view, await zorro.api.detail(run.number, view.query));
    return answers.get(key(view));
  }

  function learn(run, names) {
    Object.assign(run.labels.nodes, names?.nodes);
    Object.assign(run.labels.features, names?.features);
  }

  function key({run, query, method, whyNot}) {
    return [run, query, method ?? "", whyNot ?? ""].join(" ");
  }

  function isUnique(run) {
    return listed.runs.every((other) => other === run || other.name !== run.name);
  }

  function sameGraph({summary: {data: one}}, {summary: {data: other}}) {
    return ["graphs", "nodes", "features", "edges"].every((part) => one[part] === other[part]);
  }
};
