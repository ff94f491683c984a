"""Keep a trained model in two files: its weights, and a JSON of how it was made."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy
import safetensors
import safetensors.torch
import torch
import torch_geometric
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from zorro.data.catalogue import canonical_name
from zorro.data.graph_dataset import GraphDataset
from zorro.data.paper import paper_file
from zorro.errors import CheckpointError, DatasetError, InputError
from zorro.files.plain_json import parse
from zorro.files.whole_file import whole_file
from zorro.models.edge_inputs import edge_inputs
from zorro.models.evaluation import accuracy
from zorro.models.graph_evaluation import graph_accuracy, graph_errors, graph_inputs
from zorro.models.graph_options import fitting_options
from zorro.models.graph_training import GraphTrainingSettings
from zorro.models.hetero_training import HeteroTrainingSettings, hetero_accuracy, num_classes
from zorro.models.link_split import LinkSplit
from zorro.models.link_training import LinkTrainingSettings, link_auc, link_inputs
from zorro.models.training import TrainingSettings
from zorro.version import __version__

SUFFIX = ".safetensors"
_PICKLES = (b"PK\x03\x04", b"\x80")  # how what torch.save writes begins, today's and older


def describe(
    model: nn.Module, architecture: str, data: Data, *, dataset: str, settings: TrainingSettings
) -> dict[str, Any]:
    """Return the record of a training run: what was trained on what, how, and how well it does."""
    masks = {name: data.get(f"{name}_mask") for name in ("train", "val", "test")}
    return {
        "architecture": architecture,
        "in_channels": int(data.num_features),
        "out_channels": int(data.y.max()) + 1,
        "dataset": dataset,
        "edge_inputs": list(edge_inputs(model, data).passed),
        "settings": asdict(settings),
        "accuracy": {
            name: accuracy(model, data, mask)
            for name, mask in masks.items()
            if mask is not None and bool(mask.any())
        },
    }


def describe_graphs(
    model: nn.Module,
    architecture: str,
    dataset: GraphDataset,
    *,
    settings: GraphTrainingSettings,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the record of a training run at graph level, see `describe`.

    A record without `level` is of a model at node level.

    Args:
        model: as it was trained.
        architecture: that it was built from.
        dataset: that it was trained on.
        settings: of the training.
        options: that it was built with.
    """
    return {
        "architecture": architecture,
        "level": "graph",
        "options": fitting_options(architecture, dataset, options or {}),
        "in_channels": dataset.num_features,
        "out_channels": dataset.num_outputs,
        "dataset": dataset.name,
        "edge_inputs": list(graph_inputs(model, dataset).passed),
        "settings": asdict(settings),
        **(
            {"accuracy": graph_accuracy(model, dataset)}
            if dataset.has_classes
            else {"errors": graph_errors(model, dataset)}
        ),
    }


def describe_links(
    model: nn.Module,
    architecture: str,
    split: LinkSplit,
    *,
    dataset: str,
    settings: LinkTrainingSettings,
) -> dict[str, Any]:
    """Return the record of a training run at link level, see `describe`."""
    return {
        "architecture": architecture,
        "level": "link",
        "threshold": 0.0,  # it was trained to give logits
        "in_channels": int(split.train.num_features),
        "out_channels": settings.width,
        "dataset": dataset,
        "edge_inputs": list(link_inputs(model, split.train).passed),
        "settings": asdict(settings),
        "auc": {name: link_auc(model, getattr(split, name)) for name in ("val", "test")},
    }


def describe_hetero(
    model: nn.Module,
    architecture: str,
    data: HeteroData,
    target: str,
    *,
    dataset: str,
    settings: HeteroTrainingSettings,
) -> dict[str, Any]:
    """Return the record of a training run on a graph of several types, see `describe`.

    What the model was built for is told by the graph: only `target` is recorded.
    """
    return {
        "architecture": architecture,
        "level": "node",
        "target": target,
        "out_channels": num_classes(data, target),
        "dataset": dataset,
        "edge_inputs": [],
        "settings": asdict(settings),
        "accuracy": hetero_accuracy(model, data, target),
    }


def save(path: str | Path, model: nn.Module, record: Mapping[str, Any]) -> None:
    """Write the model's weights to `path` and `record` to the `.json` of the same name beside it.

    The versions in use and a digest of the weights are added to the record. Each file appears
    whole or not at all.
    """
    path = Path(path)
    if path.suffix != SUFFIX:
        raise InputError(f"path: expected one that ends in {SUFFIX}, got {path}")
    weights = safetensors.torch.save(
        # Copies, because safetensors refuses two names for one tensor.
        {name: tensor.cpu().clone().contiguous() for name, tensor in model.state_dict().items()}
    )
    try:
        text = json.dumps(
            {**record, "versions": _versions(), "weights_sha256": _digest(weights)}, indent=2
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"record: expected only what JSON can hold, got more: {error}") from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, weights)
        _replace(path.with_suffix(".json"), f"{text}\n".encode())
    except OSError as error:
        raise CheckpointError(f"{path} could not be written: {error}") from error


def load(model: nn.Module, path: str | Path) -> None:
    """Fill `model` with the weights in `path`, or raise `CheckpointError` and leave it as it is."""
    path = Path(path)
    content = _bytes(path)
    try:
        weights = safetensors.torch.load(content)
    except safetensors.SafetensorError as error:
        if content.startswith(_PICKLES):
            raise CheckpointError(_how_to_convert(path)) from None
        raise CheckpointError(f"{path} is not a readable safetensors file ({error})") from error
    _check_fit(model.state_dict(), weights, path)
    model.load_state_dict(weights)


def read_record(path: str | Path) -> dict[str, Any]:
    """Return how the model in `path` was made, as `save` wrote it."""
    beside = Path(path).with_suffix(".json")
    try:
        record = parse(_bytes(beside))
    except ValueError as error:
        raise CheckpointError(f"{beside} is not readable JSON ({error})") from error
    if not isinstance(record, dict):
        raise CheckpointError(f"{beside}: expected a JSON object, got {type(record).__name__}")
    if record.get("weights_sha256") != _digest(_bytes(Path(path))):
        raise CheckpointError(f"{beside} describes other weights than those in {path}: train again")
    return record


def paper_checkpoint(dataset: str, model: str, *, epoch: int | None = None) -> Path:
    """Return the file of one of the paper's own trained models.

    `epoch` names a state during the training on ba-community-paper instead of its end.
    """
    name = canonical_name(dataset)
    stem = "ba_community_4" if name == "ba-community-paper" else name
    ending = "" if epoch is None else f"_epoch{epoch}"
    try:
        return paper_file("checkpoints", f"{stem}_{model.lower()}{ending}{SUFFIX}")
    except DatasetError as error:
        raise CheckpointError(str(error)) from None


def _check_fit(wanted: Mapping[str, Tensor], found: Mapping[str, Tensor], path: Path) -> None:
    problems = [f"has no {name}" for name in wanted if name not in found]
    problems += [f"has {name}, which the model lacks" for name in found if name not in wanted]
    problems += [
        f"has {name} of shape {tuple(found[name].shape)}, the model {tuple(tensor.shape)}"
        for name, tensor in wanted.items()
        if name in found and found[name].shape != tensor.shape
    ]
    problems += [
        f"has {name} as {found[name].dtype}, whose values the model's {tensor.dtype} cannot hold"
        for name, tensor in wanted.items()
        if name in found and not _can_hold(tensor.dtype, found[name])
    ]
    if problems:
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise CheckpointError(
            f"{path} does not fit the model: it {problems[0]}{others}: "
            f"build the architecture, features and classes it was trained with"
        )


def _can_hold(dtype: torch.dtype, found: Tensor) -> bool:
    """Whether values of another type become ones of `dtype` of the same kind, none rounded."""
    if found.dtype == dtype:
        return True
    kinds = [(d.is_floating_point, d.is_complex, d == torch.bool) for d in (dtype, found.dtype)]
    if kinds[0] != kinds[1]:
        return False
    again = found.to(dtype).to(found.dtype)
    return bool(((again == found) | ((again != again) & (found != found))).all())  # NaN is itself


def _how_to_convert(path: Path) -> str:
    return (
        f"{path}: expected a safetensors file, got a pickle, which can run code when it is read. "
        "If it holds a state dict, convert it in Python:\n"
        # With semicolons they are valid too where an error is put on one line.
        "    import safetensors.torch, torch;\n"
        f"    weights = torch.load({str(path)!r}, weights_only=True);\n"
        f"    safetensors.torch.save_file(weights, {str(path.with_suffix(SUFFIX))!r})"
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {path}: check the path") from None
    except OSError as error:
        raise CheckpointError(f"{path} could not be read: {error}") from error


def _replace(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _versions() -> dict[str, str]:
    return {
        "zorro": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "numpy": numpy.__version__,
    }
