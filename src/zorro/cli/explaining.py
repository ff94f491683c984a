"""Explain queries, keep what was found, and show it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from zorro.cli import table, terminal, verifying
from zorro.cli.run_progress import Tally, run_progress
from zorro.errors import TROUBLESHOOTING, InputError, ModelError, RunError
from zorro.explanation import Explanation
from zorro.question import About
from zorro.runs import Engine, Failure, Known, Outcome, Query, Run, Task, open_run
from zorro.runs.folder import is_run
from zorro.runs.manifest import describe
from zorro.runs.many import record
from zorro.runs.task import LoadedTask

STDOUT = "-"
_MOST_LISTED = 50  # explanations of a run that are shown a row each
_MOST_FAILURES = 5
_FILES = (".jsonl", ".json", ".csv", ".parquet", ".txt")


def check_out(out: str | None, *, retry_failed: bool) -> None:
    """Raise `InputError` if `out` cannot be a run's folder."""
    if out not in (None, STDOUT) and Path(str(out)).suffix in _FILES:
        raise InputError(
            f"--out: expected a folder, got {out}: explanations are kept in a run's folder, from "
            "which `zorro runs export` makes such a file"
        )
    if retry_failed and (out is None or out == STDOUT):
        raise InputError(
            f"--retry-failed: expected --out with the run's folder, got {out or 'none'}: add it"
        )


def explain(
    task: LoadedTask,
    keys: Sequence[int],
    *,
    engine: Engine,
    sent: Task | None,
    out: str | None,
    asked: Mapping[str, Any],
    known: Known,
    retry_failed: bool,
    json_progress: bool,
) -> None:
    """Explain nodes, links or graphs and show what was found.

    Args:
        task: what is asked of every one of them.
        keys: which, by their queries' keys.
        engine: what computes.
        sent: the same task as workers get it; `task` itself when None.
        out: a run's folder, `-` for stdout, or None.
        asked: how the user put it.
        known: what things are called, and what is true.
        retry_failed: explain again what failed.
        json_progress: whether progress is for programs.
    """
    run = None
    tally = Tally(len(keys), task.data.about)
    if out is None or out == STDOUT:
        task.zorro()  # says what is wrong with the options before anything starts
        queries = (Query(position, key) for position, key in enumerate(keys))
        outcomes = engine.map(sent or task, queries)
    else:
        path = Path(out)
        with verifying.shown() as verified:
            manifest = describe(task, keys, asked=asked, on_progress=verified)
        if is_run(path):
            _count_before(tally, open_run(path), retry_failed=retry_failed)
        outcomes = record(
            path,
            sent or task,
            keys,
            manifest=manifest,
            engine=engine,
            retry_failed=retry_failed,
            known=known,
        )
        run = path
    kept = _Kept(task.data.about, to_stdout=out == STDOUT, remembers=run is None)
    interrupted = False
    try:
        with (
            _stopping_on_termination(),
            closing(outcomes),
            run_progress(tally, as_json=json_progress) as report,
        ):
            for outcome in outcomes:
                kept.add(outcome)
                report(outcome)
    except KeyboardInterrupt:
        interrupted = True
        _say_how_to_go_on(tally, run)
    # Not after an error: a run that was refused holds something else.
    console = terminal.messages if out == STDOUT else terminal.results
    shown = kept.explanations if run is None else _few(run)
    table.show(shown, known, description=str(asked["subject"]), console=console)
    if interrupted:
        raise typer.Exit(130)
    if run is not None:
        _say_what_is_kept(open_run(run), tally, listed=bool(shown))
    failures = kept.failures if run is None else open_run(run).failures()
    if failures:
        raise RunError(_failed(failures, tally, run))


class _Kept:
    """What is shown at the end, or written at once."""

    def __init__(self, about: About, *, to_stdout: bool, remembers: bool) -> None:
        self._about = about
        self._to_stdout = to_stdout
        self._remembers = remembers
        self._outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        if self._to_stdout and outcome.explanation is not None:
            sys.stdout.write(f"{outcome.explanation}\n")
            sys.stdout.flush()
        if self._remembers:
            self._outcomes.append(outcome)

    @property
    def explanations(self) -> list[Explanation]:
        in_order = sorted(self._outcomes, key=lambda outcome: outcome.query.position)
        texts = (outcome.explanation for outcome in in_order)
        return [Explanation.from_json(text) for text in texts if text is not None]

    @property
    def failures(self) -> list[Failure]:
        return [
            Failure(self._about.of_key(outcome.query.key), outcome.error, outcome.trace)
            for outcome in self._outcomes
            if outcome.error is not None
        ]


def _count_before(tally: Tally, run: Run, *, retry_failed: bool) -> None:
    counts = run.counts()
    tally.before = counts.explained + (0 if retry_failed else counts.failed)
    tally.certified_before = counts.certified
    if tally.before:
        terminal.messages.print(
            f"{run.path}: {tally.before} of {run.asked} {run.about.nouns} are there already",
            markup=False,
        )


def _few(path: Path) -> list[Explanation]:
    """Return a run's explanations if they are few enough to be shown."""
    if not is_run(path) or len(run := open_run(path)) > _MOST_LISTED:
        return []
    return list(run.explanations())


def _say_how_to_go_on(tally: Tally, run: Path | None) -> None:
    said = f"{tally.done} of {tally.total} {tally.about.nouns}"
    if run is None:
        said += " explained"
    else:
        said += f" are explained and kept in {run}; the same command goes on with the rest"
    terminal.messages.print(f"zorro: stopped: {said}", markup=False)


def _say_what_is_kept(run: Run, tally: Tally, *, listed: bool) -> None:
    counts = run.counts()
    lines = []
    if not listed and counts.explained:
        lines.append(
            f"{counts.certified} of {counts.explained} are certified "
            f"({counts.certified / counts.explained:.1%}); the median size is "
            f"{table.sizes_in_words(run.median_sizes())}."
        )
    lines.append(
        f"{counts.explained} of {run.asked} {run.about.nouns} explained, {tally.ended} of them "
        f"now, kept in {run.path}: see `zorro runs show {run.path}`."
    )
    for line in lines:
        terminal.messages.print(line, markup=False)


def _failed(failures: Sequence[Failure], tally: Tally, run: Path | None) -> str:
    said = "; ".join(f"{f.query}: {f.error}" for f in failures[:_MOST_FAILURES])
    more = len(failures) - _MOST_FAILURES
    said += f"; and {more} more" if more > 0 else ""
    if any(failure.error.startswith(ModelError.__name__) for failure in failures):
        said += f" (see {TROUBLESHOOTING}#{ModelError.section})"
    again = "" if run is None else ". Give the command with --retry-failed to try them again"
    share = f"{len(failures)} of {tally.total} {tally.about.nouns}"
    return f"{share} could not be explained: {said}{again}"


@contextmanager
def _stopping_on_termination() -> Iterator[None]:
    """Take a request to end for what Ctrl-C is."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
