"""How far a run is: a bar in a terminal, plain lines in a log, or JSON for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich import progress as bars

from zorro.cli import terminal
from zorro.question import About
from zorro.runs.task import Outcome

_MOST_LINES = 10
_LONGEST_SILENCE = 60.0  # seconds

Report = Callable[[Outcome], None]


@dataclass
class Tally:
    """What has been counted so far.

    Args:
        total: queries that were asked for.
        about: what the queries are.
        before: how many of them ended in earlier sessions.
        certified_before: how many of those are certified.
    """

    total: int
    about: About = field(default_factory=lambda: About("node"))
    before: int = 0
    certified_before: int = 0
    ended: int = 0
    certified: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self.ended += 1
        self.certified += outcome.certified
        self.failed += outcome.error is not None

    @property
    def done(self) -> int:
        """Queries that have ended, in this session or before."""
        return self.before + self.ended

    @property
    def rate(self) -> float:
        """Queries per second."""
        return self.ended / max(time.monotonic() - self.started, 1e-9)

    @property
    def seconds_left(self) -> float:
        """How long the rest will take at this rate."""
        return (self.total - self.done) / self.rate if self.ended else float("inf")

    @property
    def certified_share(self) -> float:
        """Of those that have ended."""
        return (self.certified_before + self.certified) / max(1, self.done)

    def __str__(self) -> str:
        rate = f"{self.rate:.1f}/s" if self.rate >= 0.1 else f"{self.rate * 60:.1f}/min"
        left = "?" if self.seconds_left == float("inf") else _duration(self.seconds_left)
        failed = f"  {self.failed} failed" if self.failed else ""
        return f"{rate}  {left} left  {self.certified_share:.0%} certified{failed}"


@contextmanager
def run_progress(tally: Tally, *, as_json: bool) -> Iterator[Report]:
    """Yield what is to be called with each outcome once it is kept."""
    if as_json:
        yield lambda outcome: _print_json(tally, outcome)
    elif not terminal.messages.is_interactive:
        yield _lines(tally)
    else:
        with _bar(tally) as report:
            yield report


@contextmanager
def _bar(tally: Tally) -> Iterator[Report]:
    columns = (
        bars.TextColumn("explained"),
        bars.BarColumn(bar_width=24),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[detail]}"),
    )
    with bars.Progress(*columns, console=terminal.messages, transient=True) as shown:
        task = shown.add_task("", total=tally.total, completed=tally.before, detail="starting")

        def report(outcome: Outcome) -> None:
            tally.add(outcome)
            shown.update(task, completed=tally.done, detail=str(tally))

        yield report


def _lines(tally: Tally) -> Report:
    every = -(-tally.total // _MOST_LINES)
    last = time.monotonic()

    def report(outcome: Outcome) -> None:
        nonlocal last
        tally.add(outcome)
        now = time.monotonic()
        at_a_step = tally.done % every == 0 or tally.done == tally.total
        if at_a_step or now - last > _LONGEST_SILENCE:
            last = now
            terminal.messages.print(f"explained {tally.done}/{tally.total}  {tally}", markup=False)

    return report


def _print_json(tally: Tally, outcome: Outcome) -> None:
    tally.add(outcome)
    left = tally.seconds_left
    line = {
        **tally.about.of_key(outcome.query.key).numbers,
        "status": outcome.status,
        "error": outcome.error,
        "done": tally.done,
        "total": tally.total,
        "failed": tally.failed,
        "certified_share": round(tally.certified_share, 4),
        "per_second": round(tally.rate, 3),
        "seconds_left": None if left == float("inf") else round(left, 1),
    }
    print(json.dumps(line), file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    """Return a duration as people say it.

    >>> _duration(59.7), _duration(3700)
    ('1:00', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
