"""A graph of several types, as figures take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_geometric.data import HeteroData

from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.names import Labels, LabelsByType, check_labels
from zorro.graph.packed import pack
from zorro.show.type_scene import TypedEdgeIndex


def typed_edges(explanation: Explanation, data: HeteroData, classes: Any) -> TypedEdgeIndex:
    """Return the edges of all types, or raise `InputError` if they are of another graph.

    Args:
        explanation: to be drawn.
        data: PyG's.
        classes: which must be none, since types have the colours.
    """
    if explanation.types is None or explanation.query.level != "node":
        raise InputError(
            "edge_index: expected a tensor (2, E) for this explanation, got HeteroData"
        )
    if classes is not None:
        raise InputError("classes: expected None where types have the colours, got classes")
    edges = TypedEdgeIndex(pack(data, {}, directed=None)[0])
    if edges.types.nodes != explanation.types.nodes:
        raise InputError(
            "edge_index: expected the graph that was explained, got one of other types"
        )
    return edges


def names_by_type(types: Types, given: Any) -> LabelsByType:
    """Return what nodes are called: by type and number, or by names that are given by type."""
    if isinstance(given, LabelsByType):
        return given
    if given is not None and (
        not isinstance(given, Mapping) or not all(name in types.names for name in given)
    ):
        raise InputError(
            f"node_names: expected names by type, of {', '.join(types.names)}, got {given!r:.60}"
        )
    own: dict[str, Labels] = dict(given or {})
    for one in types.nodes:
        check_labels(f"node_names[{one.name!r}]", own.get(one.name, ()), one.count)
    return LabelsByType([(one.name, one.count) for one in types.nodes], own)
