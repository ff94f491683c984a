"""What the user's options name: a data set, and a model trained on it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro import data as datasets
from zorro import models
from zorro.cli import terminal
from zorro.data import StoredGraph
from zorro.errors import CheckpointError, InputError
from zorro.models import EdgeInputs
from zorro.models import checkpoint as checkpoints
from zorro.runs import Run
from zorro.runs.task import Answer, GivenTask

PAPER = "paper"


@dataclass(frozen=True)
class Subject:
    """A trained model and the graph it is asked about.

    Args:
        model: in eval mode.
        data: its graph.
        dataset: what names the graph.
        description: of all of it, for people.
        model_kwargs: what the graph has for its edges and the model takes.
    """

    model: nn.Module
    data: Data | StoredGraph
    dataset: str
    description: str
    model_kwargs: Mapping[str, Tensor] = field(default_factory=dict)

    def task(
        self, options: Mapping[str, Any], question: Mapping[str, Any] | None = None
    ) -> GivenTask:
        """Return what is asked of nodes.

        Args:
            options: of `Zorro`.
            question: options of `Zorro.explain`.
        """
        return GivenTask(
            self.model,
            self.data.x,
            self.data.edge_index,
            {**options, "model_kwargs": self.model_kwargs},
            question or {},
        )


@dataclass(frozen=True)
class NamedTask:
    """What is asked of every query, by names: a worker on another machine loads it itself.

    Args:
        named: options of `load`.
        options: further options of `Zorro`.
        question: further options of `Zorro.explain`.
    """

    named: Mapping[str, Any]
    options: Mapping[str, Any]
    question: Mapping[str, Any]

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains a node."""
        subject = load(**self.named, announced=False)
        return subject.task(self.options, self.question).open(workers=workers)


def load(
    *,
    dataset: str | None,
    model: str | None,
    checkpoint: str | None,
    data_seed: int | None,
    device: str = "cpu",
    announced: bool = True,
) -> Subject:
    """Return what the options name; a checkpoint's record fills in those that are None.

    Of what the graph has for its edges, the model gets what it takes.

    Args:
        dataset: a name, an `.npz` or a stored graph's folder.
        model: a name, or MODULE:CLASS.
        checkpoint: a file, or `paper`.
        data_seed: of what is random about the data set.
        device: of graph and model.
        announced: say on stderr what the model gets besides features and edges.
    """
    check_device(device)
    record = _record(checkpoint)
    dataset = _given(dataset, "--dataset", record.get("dataset"), checkpoint)
    model = _given(model, "--model", record.get("architecture"), checkpoint)
    seed = record.get("data_seed", 0) if data_seed is None else data_seed
    data = datasets.load(dataset, seed=seed)
    search_current_folder(model)
    network = models.build(model, data.num_features, _classes(data, record))
    if checkpoint is not None:
        path = _weights(checkpoint, dataset=dataset, model=model)
        checkpoints.load(network, path)
    elif ":" not in model:
        raise InputError(
            f"--checkpoint: {model} needs trained weights: make some with `zorro train`, or use "
            f"--checkpoint paper"
        )
    network, data = network.to(device).eval(), data.to(device)
    inputs = models.edge_inputs(network, data)
    if announced:
        announce(inputs, trained_with=record.get("edge_inputs"))
    description = f"{model} on {dataset}, {_source(checkpoint)}"
    if inputs.passed:
        description += f", with {', '.join(inputs.passed)}"
    return Subject(network, data, dataset, description, inputs.passed)


def announce(inputs: EdgeInputs, *, trained_with: Sequence[str] | None = None) -> None:
    """Say on stderr what becomes of the graph's edge-level tensors, if it has any.

    Args:
        inputs: of the model.
        trained_with: names of those with which it was trained, None if that is not known.
    """
    if text := str(inputs):
        terminal.messages.print(text, markup=False)
    if trained_with is not None and set(trained_with) != set(inputs.passed):
        before = ", ".join(trained_with) or "none of edge_weight, edge_attr, edge_type"
        now = ", ".join(inputs.passed) or "none"
        terminal.messages.print(
            f"zorro: note: the model was trained with {before}, and gets {now} now", markup=False
        )


def lasting(named: Mapping[str, Any], *, dataset: str) -> dict[str, Any]:
    """Return options of `load` that mean the same in another folder; the device is left out.

    Args:
        named: the options as they were given.
        dataset: the data set that they led to.
    """
    kept = {name: value for name, value in named.items() if name != "device"}
    checkpoint = named["checkpoint"]
    kept["dataset"] = dataset if datasets.is_name(dataset) else str(Path(dataset).absolute())
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
) -> dict[str, Any] | None:
    """Return the options of `load` that a run names, those given instead; None if it names none.

    Args:
        run: that was made with them.
        dataset: and the others: what to take instead.
        model: see `load`.
        checkpoint: see `load`.
        data_seed: see `load`.
    """
    given = {"dataset": dataset, "model": model, "checkpoint": checkpoint, "data_seed": data_seed}
    named = {**dict.fromkeys(given), **run.manifest["asked"].get("named", {})}
    named |= {name: value for name, value in given.items() if value is not None}
    return None if named["dataset"] is None and named["checkpoint"] is None else named


def check_device(device: str) -> None:
    """Raise `InputError` unless tensors can be put on a device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"--device: {device!r} cannot be used here ({reason})") from None


def search_current_folder(model: str) -> None:
    """Let `model` be imported from the current folder, if it names a module at all."""
    # By its name: a worker process takes "" for the folder in which Python was started.
    here = str(Path.cwd())
    if ":" in model and here not in sys.path:
        sys.path.append(here)


def _record(checkpoint: str | None) -> dict[str, Any]:
    """Return the record beside the checkpoint, empty if there is none."""
    if checkpoint is None or checkpoint == PAPER:
        return {}
    if not Path(checkpoint).is_file():
        raise CheckpointError(f"--checkpoint: there is no file {checkpoint}: check the path")
    if not Path(checkpoint).with_suffix(".json").exists():
        return {}
    return checkpoints.read_record(checkpoint)


def _given(value: str | None, option: str, recorded: Any, checkpoint: str | None) -> str:
    if value is not None:
        return value
    if recorded is not None:
        return str(recorded)
    if checkpoint is None or checkpoint == PAPER:
        raise InputError(f"{option}: missing: add it, or a --checkpoint that `zorro train` wrote")
    raise InputError(f"{option}: missing, and no record beside {checkpoint} tells it: add {option}")


def _classes(data: Data | StoredGraph, record: dict[str, Any]) -> int:
    if "out_channels" in record:
        return int(record["out_channels"])
    if data.y is None:
        raise InputError(
            "--dataset: without labels y the number of classes is unknown: add y, or use a "
            "checkpoint that `zorro train` wrote"
        )
    return int(data.y.max()) + 1


def _weights(checkpoint: str, *, dataset: str, model: str) -> Path:
    if checkpoint == PAPER:
        return checkpoints.paper_checkpoint(dataset, model)
    return Path(checkpoint)


def _source(checkpoint: str | None) -> str:
    if checkpoint is None:
        return "its own weights"
    return "the paper's weights" if checkpoint == PAPER else f"weights {checkpoint}"
