// What the server is asked, and its errors in plain words.
"use strict";
window.zorro = window.zorro || {};

zorro.api = (function () {
  // Throws an Error whose message can be shown; its status is 0 if there was no answer at all.
  async function ask(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw failure("The server does not answer. Is it still running?", 0);
    }
    const said = await answer.json().catch(() => null);
    if (answer.ok) return said;
    throw failure(words(said) ?? `The server answered with status ${answer.status}.`, answer.status);
  }

  function failure(message, status) {
    return Object.assign(new Error(message), {status});
  }

  function words(said) {
    return typeof said?.error === "string" && said.error ? said.error : null;
  }

  function post(path, body, signal) {
    const headers = {"Content-Type": "application/json"};
    return ask(path, {method: "POST", headers, body: JSON.stringify(body), signal});
  }

  // Of a query; lists are told by saying their name again for each.
  function about(run, what, query, options) {
    const said = Object.entries(options).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, one]),
    );
    return `${of(run)}/${what}/${encodeURIComponent(query)}?${new URLSearchParams(said)}`;
  }

  const of = (run) => `/api/runs/${encodeURIComponent(run)}`;

  // Explains a query; onProgress hears of each step. Returns {done, cancel}: a promise of the
  // answer, null if it was cancelled, and what cancels it.
  function explain(wanted, onProgress) {
    let job = null;
    let source = null;
    let isCancelled = false;
    let end;
    const done = new Promise((resolve, reject) => {
      end = (settle, value) => {
        source?.close();
        (settle === "done" ? resolve : reject)(value);
      };
      post("/api/explain", wanted).then(follow, (error) => end("failed", error));
    });
    return {done, cancel};

    function follow(started) {
      job = started.job;
      if (isCancelled) return remove();
      source = new EventSource(`/api/jobs/${encodeURIComponent(job)}/events`);
      const read = (event) => JSON.parse(event.data || "{}");
      source.addEventListener("progress", (event) => onProgress(read(event)));
      source.addEventListener("done", (event) => end("done", read(event)));
      source.addEventListener("cancelled", () => end("done", null));
      source.addEventListener("failed", (event) =>
        end("failed", failure(words(read(event)) ?? "The search failed.", 500)),
      );
      source.onerror = () => end("failed", failure("The connection to the server was lost.", 0));
    }

    function cancel() {
      isCancelled = true;
      if (job !== null) remove();
      end("done", null);
    }

    function remove() {
      ask(`/api/jobs/${encodeURIComponent(job)}`, {method: "DELETE", keepalive: true}).catch(() => {});
    }
  }

  return {
    runs: () => ask("/api/runs"),
    rows: (run) => ask(`${of(run)}/rows`),
    detail: (run, query) => ask(`${of(run)}/queries/${encodeURIComponent(query)}`),
    drawing: (run, query, most, against) => ask(about(run, "drawings", query, {most, ...against})),
    candidates: (run, query, kind, search, against, signal) =>
      ask(about(run, "candidates", query, {kind, search, limit: 50, ...against}), {signal}),
    values: (wanted) => post("/api/values", wanted),
    keep: (run, query) => post("/api/keep", {run, query}),
    fidelity: (wanted, signal) => post("/api/fidelity", wanted, signal),
    explain,
  };
})();
