"""How far the work is: a bar in a terminal, a few plain lines anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.markup import escape

from zorro.cli import terminal

_MOST_LINES = 10

Report = Callable[[int, str], None]


@contextmanager
def progress(what: str, total: int, *, transient: bool = False) -> Iterator[Report]:
    """Yield `report(done, detail)`, to be called whenever `done` of `total` have been done."""
    if not terminal.messages.is_interactive:
        yield _lines(what, total)
        return
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(bar_width=24),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[detail]}"),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=terminal.messages, transient=transient) as shown:
        task = shown.add_task(what, total=total, detail="")

        def report(done: int, detail: str) -> None:
            shown.update(task, completed=done, detail=escape(detail))

        yield report


def _lines(what: str, total: int) -> Report:
    every = -(-total // _MOST_LINES)

    def report(done: int, detail: str) -> None:
        if done % every == 0 or done == total:
            terminal.messages.print(f"{what} {done}/{total}  {detail}", markup=False)

    return report
