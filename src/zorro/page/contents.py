"""What a run holds, as far as it can be read: damaged rows stand beside the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zorro.errors import RunError, ZorroError
from zorro.explanation import Explanation
from zorro.runs import Failure, Outcome, Run
from zorro.runs.folder import OUTCOMES
from zorro.runs.task import FAILED

_MOST_SAID = 300  # characters of a reason


@dataclass(frozen=True)
class Unreadable:
    """A row of a run that does not hold what it should.

    Args:
        position: in the order in which nodes were asked for.
        node: None if that cannot be read either.
        reason: what is wrong.
    """

    position: int
    node: int | None
    reason: str


@dataclass(frozen=True)
class Contents:
    """The rows of a run, each of one of three kinds."""

    explanations: Sequence[Explanation]
    failures: Sequence[Failure]
    unreadable: Sequence[Unreadable]


def read(run: Run) -> Contents:
    """Return what a run holds; only what concerns all of it is raised."""
    refuse_other_files(run)
    _sizes(run)
    explanations: list[Explanation] = []
    failures: list[Failure] = []
    unreadable: list[Unreadable] = []
    for outcome in run.outcomes():
        try:
            if outcome.status == FAILED:
                failures.append(Failure(_node(outcome, run), str(outcome.error or ""), None))
            else:
                explanations.append(explanation_in(outcome, run))
        except Exception as error:
            node = outcome.query.node
            known = node if isinstance(node, int) and node >= 0 else None
            unreadable.append(Unreadable(outcome.query.position, known, reason(error)))
    return Contents(explanations, failures, unreadable)


def explanation_in(outcome: Outcome, run: Run) -> Explanation:
    """Return the explanation that a row holds; raise `RunError` if it is none of its node."""
    node = _node(outcome, run)
    if not isinstance(outcome.explanation, str):
        raise RunError("it holds no explanation")
    found = Explanation.from_json(outcome.explanation)
    nodes, features = _sizes(run)
    _refuse(found.node != node, f"it explains {found.node!r}")
    _refuse(not _are_ids(found.nodes, nodes), "its nodes are not the graph's")
    _refuse(not _are_ids(found.features, features), "its features are not the graph's")
    _refuse(not _are_ids([found.predicted_class], len(found.probabilities)), "it has no class")
    _refuse(not isinstance(found.status, str), "it has no status")
    numbers = [*found.probabilities, found.seconds, found.parameters.tau, found.evaluations]
    for name, share in (("fidelity", found.fidelity), ("search's fidelity", found.search_fidelity)):
        is_share = share.samples > 0 and _are_ids([share.hits], share.samples + 1)
        _refuse(not is_share, f"its {name} is no share")
        numbers.append(share.confidence)
    numbers += [step.fidelity for step in found.steps]
    if found.certificate is not None:
        numbers += [found.certificate.bound, found.certificate.delta, found.certificate.attempts]
    _refuse(not all(map(math.isfinite, numbers)), "not all of its numbers are finite")
    return found


def refuse_other_files(run: Run) -> None:
    """Raise `RunError` if what should be a run's files is something else: a pipe never ends."""
    for ending in ("", "-journal", "-wal", "-shm"):
        path = run.path / f"{OUTCOMES}{ending}"
        if path.exists() and not path.is_file():
            raise RunError(f"{path} is not a file: restore it, or use another folder")


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


def _node(outcome: Outcome, run: Run) -> int:
    node = outcome.query.node
    _refuse(not _are_ids([node], _sizes(run)[0]), f"{node!r} is no node of the graph")
    return node


def _sizes(run: Run) -> tuple[int, int]:
    """Return how many nodes and features the run's graph has."""
    data = run.manifest["data"]
    nodes, features = data["nodes"], data["features"]
    _refuse(
        type(nodes) is not int or type(features) is not int,
        f"{run.path}: expected numbers of nodes and features, got {nodes!r} and {features!r}",
    )
    return nodes, features


def _are_ids(numbers: Sequence[object], size: int) -> bool:
    return all(type(number) is int and 0 <= number < size for number in numbers)


def _refuse(condition: bool, problem: str) -> None:
    if condition:
        raise RunError(problem)
