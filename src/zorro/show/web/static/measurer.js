// Asks for the fidelity of a set soon after it changed; answers to older questions are dropped.
"use strict";
window.zorro = window.zorro || {};

// onAnswer({measured}) or onAnswer({error}). Returns {measure, stop}.
zorro.measurer = function (onAnswer) {
  const patience = 25; // milliseconds in which further changes join the question
  let timer = null;
  let asked = null;
  return {
    measure(wanted) {
      stop();
      timer = window.setTimeout(() => ask(wanted), patience);
    },
    stop,
  };

  function stop() {
    window.clearTimeout(timer);
    asked?.abort();
    asked = null;
  }

  async function ask(wanted) {
    const question = new AbortController();
    asked = question;
    let answer;
    try {
      answer = {measured: await zorro.api.fidelity(wanted, question.signal)};
    } catch (error) {
      answer = {error: error.message};
    }
    if (asked === question) onAnswer(answer);
  }
};
