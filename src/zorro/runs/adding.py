"""One more explanation for a run that is finished, asked for after it."""

from __future__ import annotations

from pathlib import Path

from zorro.errors import InputError, RunError
from zorro.explanation import Explanation
from zorro.runs import folder as folders
from zorro.runs.known import Known
from zorro.runs.manifest import asked_for, other_settings, with_added
from zorro.runs.run import Run, open_run
from zorro.runs.store import Store
from zorro.runs.task import Outcome, Query

_COMPARED = ("why_not", "among")


def add(path: Path, explanation: Explanation, *, truth: float | None = None) -> Run:
    """Keep an explanation in a run, behind those that the run was asked for; return the run.

    The manifest says how many were added so. Going on with the run leaves them alone.

    Args:
        path: of the run's folder.
        explanation: of the run's model and data, asked for as the run's are.
        truth: the true class or value, if it is known.
    """
    with folders.locked(path):
        run = open_run(path)
        refuse_other(run, explanation)
        query = _place(run, explanation)
        count = asked_for(run.manifest)
        # First, since a row beyond what the manifest counts would be damaged.
        folders.write_manifest(path, with_added(run.manifest, max(0, query.position + 1 - count)))
        with Store(path / folders.OUTCOMES, write=True) as store:
            store.add(
                Outcome(
                    query,
                    explanation.status,
                    explanation.certified,
                    explanation.to_json(),
                    None,
                    None,
                    explanation.seconds,
                )
            )
        if truth is not None and run.known.truth is not None:
            known = {**run.known.truth, query.key: truth}
            Known(run.known.names, known).write(path)
    return open_run(path)


def refuse_other(run: Run, explanation: Explanation) -> None:
    """Raise `InputError` unless an explanation is such as the run's are.

    Args:
        run: that it may be added to.
        explanation: of the same model and data, which is not looked at.
    """
    parameters = run.manifest["parameters"]
    for name, expected, got in other_settings(run.manifest, explanation.parameters):
        raise InputError(
            f"explanation: expected one that was asked for as those of {run.path} were, with "
            f"{name} {expected}, got {got}"
        )
    if any(parameters.get(name) is not None for name in _COMPARED):
        raise InputError(
            f"explanation: expected one whose answer is compared with another, as in {run.path}, "
            "got one without"
        )
    if explanation.versus is not None or explanation.ahead is not None:
        raise InputError(
            f"explanation: expected one whose answer is compared with no other, as in {run.path}, "
            "got one that is"
        )
    limit = explanation.parameters.max_seconds
    if explanation.status == "budget exhausted" and limit != parameters.get("max_seconds"):
        raise InputError(
            f"explanation: expected one whose search came to its end, got one that was stopped "
            f"after {limit:g} seconds"
        )
    if explanation.query.level != run.level:
        raise InputError(
            f"explanation: expected one of a {run.level}, as in {run.path}, got one of a "
            f"{explanation.query.level}"
        )


def _place(run: Run, explanation: Explanation) -> Query:
    """Return where it goes: in place of a failure, or behind all others."""
    key = explanation.query.key
    with Store(run.path / folders.OUTCOMES) as store:
        places = {key: position for position, key in store.ended()}
        explained = {key for _, key in store.ended(failed_too=False)}
    if key in explained:
        raise InputError(
            f"explanation: expected one of a {run.about.kind} that {run.path} does not explain, "
            f"got {explanation.query}"
        )
    if key in places:
        return Query(places[key], key)
    if len(places) < run.asked:
        raise RunError(
            f"{run.path} is not finished, and may come to {explanation.query} itself: let it end"
        )
    return Query(max(places.values(), default=-1) + 1, key)
