"""What a run was made with, loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zorro.cli import model_and_data, naming, terminal
from zorro.cli.model_and_data import ModelAndData
from zorro.errors import InputError, ZorroError
from zorro.graph.names import Names
from zorro.runs import Run


def loaded(run: Run, given: Mapping[str, Any], *, otherwise: str) -> ModelAndData | None:
    """Return the data set and the model that a run names; None, and a note, if it names none.

    Args:
        run: that was made with them.
        given: what to take instead of what the run says: `dataset`, `model`, …
        otherwise: what is left out if there is nothing to load.
    """
    try:
        named = naming.named_by(run, **given)
        found = None if named is None else model_and_data.load(**named)
    except ZorroError as error:
        raise InputError(
            f"{run.path}: expected what it was made with, got nothing that can be loaded: {error}. "
            "Name it with --dataset, --model and --checkpoint, or go without it with --no-graph"
        ) from error
    if found is None:
        terminal.messages.print(
            f"{run.path} does not name its data set, so {otherwise}: name it with --dataset, "
            "--model and --checkpoint",
            markup=False,
        )
    return found


def as_shown(run: Run, found: ModelAndData) -> dict[str, Any]:
    """Return what a run was made with, as options of `zorro.show.report.write`."""
    shown = {"model": found.model, "model_kwargs": found.model_kwargs, **found.data.shown()}
    return {**shown, "names": names_in(run, found)}


def names_in(run: Run, found: ModelAndData | None) -> Names:
    """Return what things are called: as the run was told, or else as the data set knows."""
    told = run.known.names
    if found is None or told == Names():
        return told if found is None else found.data.names
    given: dict[str, Any] = {
        kind: names
        for kind in ("classes", "nodes", "features")
        if len(names := getattr(told, kind)) > 0
    }
    return replace(found.data.names, **given)
