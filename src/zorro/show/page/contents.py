"""What a run holds, as far as it can be read: damaged rows stand beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zorro.errors import ZorroError
from zorro.explanation import Explanation
from zorro.runs import DamagedRow, Failure, Run

_MOST_SAID = 300  # characters of a reason


@dataclass(frozen=True)
class Contents:
    """The rows of a run, each of one of three kinds."""

    explanations: Sequence[Explanation]
    failures: Sequence[Failure]
    damaged: Sequence[DamagedRow]


def read(run: Run) -> Contents:
    """Return what a run holds; only what concerns all of it is raised."""
    explanations: list[Explanation] = []
    failures: list[Failure] = []
    damaged: list[DamagedRow] = []
    for row in run.rows():
        if isinstance(row, Explanation):
            explanations.append(row)
        elif isinstance(row, Failure):
            failures.append(row)
        else:
            damaged.append(row)
    return Contents(explanations, failures, damaged)


def reason(error: Exception) -> str:
    """Return what to say of an error, on one line."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyError):
        said = f"{text} is missing"
    elif isinstance(error, RecursionError):
        said = "it is nested too deeply"
    else:
        said = text if isinstance(error, ZorroError) else f"{type(error).__name__}: {text}"
    return said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"
