"""Two runs compared, and what differs between them besides the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from zorro.audit import CrossMeter, RunComparison, compare_runs
from zorro.errors import InputError, RunError
from zorro.runs.run import Run

_FIGURES = (
    "changed-predictions",
    "changed-grounds",
    "class-grounds",
    "moved-classes",
    "set-distance",
)
# Parameters that sets depend on.
_ASKED = ("tau", "delta", "search", "noise", "samples", "keep", "feature_groups", "why_not")


def compared(
    first: Run,
    second: Run,
    *,
    on_first: CrossMeter | None = None,
    on_second: CrossMeter | None = None,
    columns: Mapping[int, int] | None = None,
    confidence: float = 0.95,
    on_query: Callable[[int, int], None] = lambda done, total: None,
) -> RunComparison:
    """Compare two runs on the queries that both have; see `zorro.audit.compare_runs`.

    Args:
        first: the run before.
        second: the run after.
        on_first: measures sets on the first run's model, as `zorro.audit.crossing.MeasuredOn`.
        on_second: the same on the second's.
        columns: which of the first's features is which of the second's, as `compare_runs`.
        confidence: of the intervals.
        on_query: told how many queries are compared, and of how many.
    """
    if first.level != second.level:
        raise InputError(
            f"runs: expected two of the same level, got {first.path} of {first.level}s and "
            f"{second.path} of {second.level}s"
        )
    sides = []
    for run in (first, second):
        sides.append(list(run.explanations()))
        if not sides[-1]:
            raise RunError(f"{run.path}: expected explanations to compare, got none")
    return compare_runs(
        *sides,
        on_first=on_first,
        on_second=on_second,
        columns=columns,
        confidence=confidence,
        notes=list(differences(first, second)),
        on_query=on_query,
    )


def figures_of_comparisons() -> list[str]:
    """Return the names of what a pipeline can be told to fail on."""
    return list(_FIGURES)


def differences(first: Run, second: Run) -> Iterator[str]:
    """Yield what differs between two runs besides what was found."""
    one, other = first.manifest, second.manifest
    if one["model"]["sha256"] == other["model"]["sha256"]:
        yield "both runs are of the same model"
    sizes = [(m["data"].get("nodes"), m["data"].get("features")) for m in (one, other)]
    if one["data"]["sha256"] != other["data"]["sha256"]:
        yield (
            f"the data differ: {sizes[0][0]} nodes × {sizes[0][1]} features and {sizes[1][0]} × "
            f"{sizes[1][1]}; nodes are compared by their numbers, and features by their names if "
            "both runs know them, else by their numbers"
        )
    for name in _ASKED:
        mine, theirs = (manifest["parameters"].get(name) for manifest in (one, other))
        if mine != theirs:
            yield f"{name} differs: {mine!r:.40} and {theirs!r:.40}"
