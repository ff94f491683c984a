"""What a run was asked: by it a run is recognised when it is resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch
import torch_geometric
from torch import Tensor, nn

from zorro.elements import KINDS
from zorro.errors import RunError
from zorro.explanation import Parameters
from zorro.graph.edge_index import Edges, edges_of
from zorro.graph.features import Features, size_of
from zorro.graph.stored import StoredEdges, StoredFeatures, StoredGraph
from zorro.graph.stored.verification import OnProgress
from zorro.model.function_model import as_module
from zorro.runs.task import GivenTask, GraphsTask
from zorro.version import __version__

FORMAT = 1
# What must be the same for a run to be resumed. Who made it, when and where may differ.
_COMPARED = ("format", "data", "model", "parameters", "queries", "versions")
# What every manifest has, parents before what they hold.
_PARTS: dict[str, type] = {
    "format": int,
    "asked": dict,
    "data": dict,
    "data.sha256": str,
    "model": dict,
    "model.class": str,
    "model.sha256": str,
    "parameters": dict,
    "queries": dict,
    "queries.count": int,
    "queries.sha256": str,
    "versions": dict,
    "made": dict,
    "made.at": str,
}
_OPTIONS = ("hops", "halo", "check", "evaluator", "threshold")
_MOST_SHOWN = 60  # characters of a value

_STORED = (StoredEdges, StoredFeatures, StoredGraph)

Manifest = dict[str, Any]


def describe(
    task: GivenTask | GraphsTask,
    nodes: Sequence[int],
    *,
    asked: Mapping[str, Any] | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> Manifest:
    """Return what a run is asked, with digests of data and model.

    Args:
        task: what is asked of every node.
        nodes: which, in order.
        asked: how the user put it, for people to read.
        on_progress: told how many bytes of a stored graph are verified, and of how many.
    """
    zorro = task.zorro()
    options = {name: task.options[name] for name in _OPTIONS if name in task.options}
    return assembled(
        nodes,
        asked=asked or {},
        data=_of_graphs(task) if isinstance(task, GraphsTask) else _of_graph(task, on_progress),
        model={
            "class": f"{type(task.model).__module__}.{type(task.model).__qualname__}",
            "sha256": model_digest(task.model),
        },
        parameters={
            **_as_told(zorro.parameters),
            **options,
            **{name: value for name, value in task.question.items() if value is not None},
        },
    )


def _of_graph(task: GivenTask, on_progress: OnProgress) -> dict[str, Any]:
    nodes, features = size_of(task.x)
    kwargs = task.options.get("model_kwargs") or {}
    return {
        "nodes": nodes,
        "features": features,
        "edges": edges_of(task.edge_index, nodes).num_edges,
        "sha256": data_digest(task.x, task.edge_index, kwargs, on_progress=on_progress),
    }


def _of_graphs(task: GraphsTask) -> dict[str, Any]:
    kwargs = task.options.get("model_kwargs") or {}
    values: list[object] = [(name, kwargs[name]) for name in sorted(kwargs)]
    for graph in task.graphs:
        values += [graph.x, graph.edge_index]
        values += [graph.get(each) for _, each in sorted(kwargs.items()) if isinstance(each, str)]
    return {
        "graphs": len(task.graphs),
        "nodes": sum(graph.x.size(0) for graph in task.graphs),
        "features": task.graphs[0].x.size(1),
        "edges": sum(graph.edge_index.size(1) for graph in task.graphs),
        "sha256": digest(*values),
    }


def _as_told(parameters: Parameters) -> dict[str, Any]:
    """Return parameters as JSON gives them back; what was not asked for before is left out."""
    told: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(parameters)))
    usual = {"keep": list(KINDS), "feature_groups": []}
    return {name: value for name, value in told.items() if usual.get(name) != value}


def assembled(
    nodes: Sequence[int],
    *,
    asked: Mapping[str, Any],
    data: Mapping[str, Any],
    model: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Manifest:
    """Return a manifest of its parts; queries, versions and the time are added."""
    queries = np.asarray(nodes, dtype=np.int64)
    return {
        "format": FORMAT,
        "asked": dict(asked),
        "data": dict(data),
        "model": dict(model),
        "parameters": dict(parameters),
        "queries": {
            "count": len(nodes),
            "sha256": hashlib.sha256(queries.tobytes()).hexdigest(),
        },
        "versions": {
            "zorro": __version__,
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
            "numpy": np.__version__,
        },
        "made": {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
    }


def checked(values: object) -> Manifest:
    """Return what a file holds if it is a manifest: its parts, and what is read of any run.

    Raises `ValueError` that names the first part that is missing or of another type.
    """
    if not isinstance(values, dict):
        raise ValueError(f"expected an object, got {type(values).__name__}")
    for name, kind in _PARTS.items():
        *parents, last = name.split(".")
        place = values
        for parent in parents:
            place = place[parent]
        if last not in place:
            raise ValueError(f"{name} is missing")
        if not isinstance(place[last], kind) or isinstance(place[last], bool):
            raise ValueError(f"{name}: expected {kind.__name__}, got {type(place[last]).__name__}")
    for name in ("nodes", "features"):
        if type(values["data"].get(name, 0)) is not int:
            raise ValueError(f"data.{name}: expected int, got {values['data'][name]!r:.40}")
    if values["queries"]["count"] < 0:
        raise ValueError(f"queries.count: expected at least 0, got {values['queries']['count']}")
    return values


def refuse_other(kept: Manifest, wanted: Manifest, folder: object) -> None:
    """Raise `RunError` unless a run that is kept was asked what is wanted now."""
    lines = list(_differences(kept, wanted))
    if lines:
        raise RunError(
            f"{folder} holds another run; it differs in "
            + "; ".join(lines)
            + ". Use another folder, or ask what that run was asked"
        )


def digest(*values: object, on_progress: OnProgress = lambda done, total: None) -> str:
    """Return a SHA-256 of tensors and plain values: of their types, shapes and contents.

    A graph on the disk has had its digest taken when it was stored; that it is still the same
    graph is verified, or `DatasetError` raised.
    """
    for source in {value.source for value in values if isinstance(value, _STORED)}:
        source.verify(on_progress)
    total = hashlib.sha256()
    for value in values:
        _add(total, value)
    return total.hexdigest()


def _add(total: hashlib._Hash, value: object) -> None:
    if isinstance(value, _STORED):
        total.update(value.digest.encode())
    elif isinstance(value, Tensor) and value.layout == torch.sparse_csr:
        for part in (value.crow_indices(), value.col_indices(), value.values()):
            _add(total, part)
    elif isinstance(value, Tensor) and value.layout != torch.strided:
        value = value.coalesce()
        _add(total, value.indices())
        _add(total, value.values())
    elif isinstance(value, Tensor):
        total.update(f"{value.dtype} {tuple(value.shape)}".encode())
        raw = value.detach().cpu().contiguous().reshape(-1)
        total.update(raw.view(torch.uint8).numpy().data)
    else:
        total.update(repr(value).encode())


def data_digest(
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    model_kwargs: Mapping[str, Any],
    *,
    on_progress: OnProgress = lambda done, total: None,
) -> str:
    """Return a digest of a graph and of the model's further arguments, with their names."""
    further = (part for name in sorted(model_kwargs) for part in (name, model_kwargs[name]))
    return digest(x, edge_index, *further, on_progress=on_progress)


def model_digest(model: nn.Module) -> str:
    """Return a digest of weights, buffers and the printed structure."""
    model = as_module(model)
    state = model.state_dict()
    return digest(repr(model), *(part for name in sorted(state) for part in (name, state[name])))


def _differences(kept: Manifest, wanted: Manifest, path: str = "") -> Iterator[str]:
    for name in _COMPARED if not path else sorted({*kept, *wanted}):
        one, other = kept.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, f"{path}{name}.")
        elif one != other:
            yield f"{path}{name}: {_shown(one)} there, {_shown(other)} now"


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:12]}…"
