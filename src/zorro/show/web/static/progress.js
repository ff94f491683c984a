// A search that is going on: how far it has come, as a growing curve, and a way to stop it.
"use strict";
window.zorro = window.zorro || {};

// wanted: what POST /api/explain takes; hasSteps: whether its method goes step by step. onDone(answer), onCancelled(), onFailed(error).
// Returns {stop}, which leaves the search without a word.
zorro.progress = function (
  container,
  {wanted, hasSteps, title, tau, wording, onDone, onCancelled, onFailed},
) {
  const steps = [];
  let isLeft = false;
  let isDrawn = true;
  let counts = Object.fromEntries(wording.kept.map(({key}) => [key, 0]));
  const root = d3
    .select(container)
    .append("section")
    .attr("class", "panel progress")
    .attr("aria-label", title);
  const head = root.append("div").attr("class", "progress-head");
  head.append("h3").attr("role", "status").text(title);
  const cancel = head
    .append("button")
    .attr("type", "button")
    .attr("class", "plain")
    .text("Cancel")
    .on("click", () => {
      cancel.property("disabled", true);
      job.cancel();
    });
  const said = root.append("p").attr("class", "muted").text("Starting…");
  const curve = hasSteps ? grown(root.append("div").attr("class", "plot").node()) : null;
  const began = performance.now();
  const clock = window.setInterval(() => steps.length || tick(), 500);
  const job = zorro.api.explain(wanted, onStep);
  job.done
    .then(
      (answer) => isLeft || (answer === null ? onCancelled() : onDone(answer)),
      (error) => isLeft || onFailed(error),
    )
    .finally(() => window.clearInterval(clock));
  return {
    stop() {
      isLeft = true;
      window.clearInterval(clock);
      job.cancel();
    },
  };

  function grown(place) {
    const describe = "Fidelity over the steps of the search so far";
    return zorro.curve(place, {steps, fidelity: null, tau, wording, describe});
  }

  function tick() {
    said.text(`Working, ${Math.round((performance.now() - began) / 1000)} s…`);
  }

  function onStep(step) {
    if (step.fidelity === null || step.fidelity === undefined) return;
    steps.push(asStep(step));
    counts = Object.fromEntries(wording.kept.map(({key}) => [key, step[key]]));
    said.text(
      [
        wording.size((key) => step[key]),
        `fidelity ${zorro.share(step.fidelity)}`,
        `${step.seconds.toFixed(1)} s`,
      ].join(" · "),
    );
    if (!isDrawn) return;
    isDrawn = false;
    window.requestAnimationFrame(() => {
      isDrawn = true;
      curve?.update(steps);
    });
  }

  // Which kind came or went is seen from the counts.
  function asStep(step) {
    const kinds = Object.keys(counts);
    if (!steps.length && kinds.every((kind) => !step[kind])) return ["", null, step.fidelity, 1];
    const moved = kinds.find((kind) => step[kind] !== counts[kind]) ?? kinds.at(-1);
    return [moved.replace(/s$/, ""), null, step.fidelity, Number(step[moved] >= counts[moved])];
  }
};
