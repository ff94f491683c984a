"""What a model of graphs is built with that only the graphs can tell."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from zorro.data.graph_dataset import GraphDataset
from zorro.errors import InputError
from zorro.models.registry import GRAPH_MODELS, Factory, factory_of

_EDGE_DIM = "edge_dim"


def fitting_options(
    architecture: str | Factory, dataset: GraphDataset, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `options`, and what the graphs tell of others that the architecture has.

    These are `edge_dim`, how many attributes an edge has, and, of the architectures known here,
    `regression`, where targets are values.

    Raises `InputError` where the architecture cannot do without and the graphs have none.

    Args:
        architecture: what `build` takes at graph level.
        dataset: the graphs, perhaps with `edge_attr` (E, k).
        options: as they were given; an `edge_dim` among them stays.
    """
    needed = _parameters(factory_of(architecture, level="graph")).get(_EDGE_DIM)
    known = isinstance(architecture, str) and architecture.lower() in GRAPH_MODELS
    if known and not dataset.has_classes:
        options = {"regression": True, **options}
    if needed is None or _EDGE_DIM in options:
        return dict(options)
    edge_attr = dataset.graphs[0].get("edge_attr")
    if edge_attr is not None and edge_attr.dim() == 2:
        return {**options, _EDGE_DIM: int(edge_attr.size(1))}
    if needed.default is Parameter.empty:
        got = "none" if edge_attr is None else f"shape {tuple(edge_attr.shape)}"
        raise InputError(
            f"edge_attr: expected a row per edge (E, k) in {dataset.name}, since model "
            f"{architecture!r} needs it, got {got}"
        )
    return dict(options)


def _parameters(factory: Factory) -> Mapping[str, Parameter]:
    try:
        return signature(factory).parameters
    except ValueError:  # what is built into Python may tell nothing
        return {}
