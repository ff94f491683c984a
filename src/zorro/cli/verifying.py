"""How far the verification of a stored graph is, where that takes time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from zorro.cli.progress import Report, progress
from zorro.graph.stored.verification import OnProgress

_WORTH_SAYING = 1 << 29  # bytes to read


@contextmanager
def shown() -> Iterator[OnProgress]:
    """Yield what is told how many bytes are done, and of how many, and shows it in percent."""
    report: Report | None = None
    said = 0
    with ExitStack() as stack:

        def tell(done: int, total: int) -> None:
            nonlocal report, said
            if total < _WORTH_SAYING:
                return
            if report is None:
                report = stack.enter_context(progress("verified %", 100, transient=True))
            if (percent := 100 * done // total) > said:
                said = percent
                report(percent, "")

        yield tell
