"""How data set and model are named: by options, by a checkpoint's record, by a run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from zorro import data as datasets
from zorro import models
from zorro.cli.levels import Told
from zorro.errors import CheckpointError, InputError, RunError
from zorro.models import checkpoint as checkpoints
from zorro.question import LEVELS, Level
from zorro.runs import Run
from zorro.runs.folder import MANIFEST

PAPER = "paper"
_MOST_SHOWN = 100  # characters of a name that a file holds
_NAMED_MODELS = tuple(
    sorted({*models.MODELS, *models.GRAPH_MODELS, *models.LINK_MODELS, *models.HETERO_MODELS})
)
_NOT_OPTIONS = ("level", "seed")  # what `build` takes besides


def lasting(named: Mapping[str, Any], *, dataset: str) -> dict[str, Any]:
    """Return options of `load` that mean the same in another folder; the device is left out.

    Args:
        named: the options as they were given.
        dataset: the data set that they led to.
    """
    kept = {name: value for name, value in named.items() if name != "device"}
    checkpoint = named["checkpoint"]
    known = (datasets.is_graph_dataset, datasets.is_hetero_dataset, datasets.is_name)
    named_set = not dataset.endswith(".npz") and any(is_one(dataset) for is_one in known)
    kept["dataset"] = dataset if named_set else str(Path(dataset).absolute())
    if checkpoint not in (None, PAPER):
        kept["checkpoint"] = str(Path(checkpoint).absolute())
    return kept


def named_by(
    run: Run,
    *,
    dataset: str | None = None,
    model: str | None = None,
    checkpoint: str | None = None,
    data_seed: int | None = None,
    target: str | None = None,
    trusted: Collection[str] = (),
) -> dict[str, Any] | None:
    """Return the options of `load` that a run names, those given instead; None if it names none.

    Args:
        run: that was made with them.
        dataset: to take instead of the run's.
        model: to take instead of the run's.
        checkpoint: to take instead of the run's.
        data_seed: to take instead of the run's.
        target: to take instead of the run's.
        trusted: classes that a run may name, see `load`.
    """
    path = run.path / MANIFEST
    given = {
        "dataset": dataset,
        "model": model,
        "checkpoint": checkpoint,
        "data_seed": data_seed,
        "target": target,
    }
    kept = run.manifest["asked"].get("named") or {}
    if not isinstance(kept, dict):
        raise RunError(f"{path}: asked.named: expected an object, got {type(kept).__name__}")
    named: dict[str, Any] = {}
    for name, value in given.items():
        named[name] = kept.get(name) if value is None else value
        kind = int if name == "data_seed" else str
        if not isinstance(named[name], kind | None):
            raise RunError(
                f"{path}: asked.named.{name}: expected {kind.__name__}, got "
                f"{type(named[name]).__name__}"
            )
    if model is None and named["model"] is not None:
        refuse_code(named["model"], path, trusted)
    if named["dataset"] is None and named["checkpoint"] is None:
        return None
    return {**named, "told": [Told("RUN", "", run.level)]}


def names_no_model(run: Run) -> bool:
    """Whether a run tells neither its model nor a checkpoint, whose record may."""
    kept = run.manifest["asked"].get("named") or {}
    return isinstance(kept, dict) and not (kept.get("model") or kept.get("checkpoint"))


def refuse_code(model: object, file: Path, trusted: Collection[str]) -> None:
    """Raise `InputError` if a file names a model that would have to be imported, hence run."""
    name = str(model)
    if name.lower() not in _NAMED_MODELS and name not in trusted:
        shown = name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…"
        raise InputError(
            f"--model: expected one of {', '.join(_NAMED_MODELS)} in {file}, got {shown!r}, and "
            f"code is not imported because a file says so: add --model {shlex.quote(shown)} if "
            "you trust it"
        )


def search_current_folder(model: str) -> None:
    """Let `model` be imported from the current folder, if it names a module at all."""
    # By its name: a worker process takes "" for the folder in which Python was started.
    here = str(Path.cwd())
    if ":" in model and here not in sys.path:
        sys.path.append(here)


def record_of(checkpoint: str | None) -> dict[str, Any]:
    """Return the record beside the checkpoint, empty if there is none."""
    if checkpoint is None or checkpoint == PAPER:
        return {}
    if not Path(checkpoint).is_file():
        raise CheckpointError(f"--checkpoint: there is no file {checkpoint}: check the path")
    if not Path(checkpoint).with_suffix(".json").is_file():
        return {}
    return checkpoints.read_record(checkpoint)


def level_in(record: Mapping[str, Any]) -> Level:
    """Return the level that a record tells; without it, the model is at node level."""
    told = record.get("level", "node")
    for level in LEVELS:
        if told == level:
            return level
    raise CheckpointError(
        f"level: expected one of {', '.join(LEVELS)} in the record, got {told!r:.40}"
    )


def given(value: str | None, option: str, recorded: Any, checkpoint: str | None) -> str:
    """Return what an option says, or the record instead.

    Args:
        value: of the option.
        option: its name.
        recorded: what the record says.
        checkpoint: beside which the record lies.
    """
    if value is not None:
        return value
    if recorded is not None:
        return str(recorded)
    if checkpoint is None or checkpoint == PAPER:
        raise InputError(
            f"{option}: expected a name, got none: add it, or a --checkpoint that `zorro train` "
            "wrote"
        )
    raise InputError(
        f"{option}: expected a name, got none here and none beside {checkpoint}: add {option}"
    )


def weights_of(checkpoint: str, *, dataset: str, model: str) -> Path:
    """Return the file that holds the weights."""
    if checkpoint == PAPER:
        return checkpoints.paper_checkpoint(dataset, model)
    return Path(checkpoint)


def source_of(checkpoint: str | None) -> str:
    """Say where the weights come from."""
    if checkpoint is None:
        return "its own weights"
    return "the paper's weights" if checkpoint == PAPER else f"weights {checkpoint}"


def built_with(record: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return what a model of this name is built with besides the two numbers, as a record says."""
    if model != record.get("architecture"):
        return {}
    options = record.get("options", {})
    if not isinstance(options, dict) or any(name in options for name in _NOT_OPTIONS):
        raise CheckpointError(
            f"options: expected the model's own in the record, got {str(options)[:_MOST_SHOWN]}"
        )
    return options
