"""Which layers the traced evaluator knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import RowPlanner
from zorro.evaluation.traced.unserved import Unserved

LayerFunction = Callable[..., Plan]
LAYERS: dict[type[nn.Module], LayerFunction] = {}
# Those whose plans heed which edges there are in each input.
WITH_EDGES: dict[type[nn.Module], LayerFunction] = {}


def serves(
    *layers: type[nn.Module], edges: bool = False
) -> Callable[[LayerFunction], LayerFunction]:
    """Register a function for layer types.

    Args:
        layers: the types.
        edges: whether its plans heed which edges there are, too.
    """

    def register(function: LayerFunction) -> LayerFunction:
        LAYERS.update(dict.fromkeys(layers, function))
        if edges:
            WITH_EDGES.update(dict.fromkeys(layers, function))
        return function

    return register


def serves_edges(*layers: type[nn.Module]) -> Callable[[LayerFunction], LayerFunction]:
    """Register a function for layer types where inputs differ in which edges there are."""

    def register(function: LayerFunction) -> LayerFunction:
        WITH_EDGES.update(dict.fromkeys(layers, function))
        return function

    return register


def plan_of(layer: nn.Module, rows: RowPlanner, *args: Any, **kwargs: Any) -> Plan:
    """Return the plan of a layer called with (x, *args, **kwargs)."""
    known = WITH_EDGES if rows.edges_vary else LAYERS
    function = known.get(type(layer))
    if function is None:
        how = " with edges that come and go" if rows.edges_vary and type(layer) in LAYERS else ""
        raise Unserved(f"{type(layer).__name__} is not among the layers it knows{how}")
    try:
        return function(layer, rows, *args, **kwargs)
    except TypeError as error:
        raise Unserved(
            f"{type(layer).__name__} is called in a way it does not know: {error}"
        ) from error
