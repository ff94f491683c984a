"""Masks of what is kept, on the whole graph's ids, and as PyG's `Explanation` carries them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import torch
from torch import Tensor
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.utils import index_to_mask

from zorro.arguments import check_choice
from zorro.elements import EDGES, FEATURES, NODES, Kind
from zorro.elements.edges import edge_columns
from zorro.errors import InputError
from zorro.explanation.explanation import Explanation, MaskType
from zorro.explanation.parts import number_of


def node_mask(explanation: Explanation, node_mask_type: MaskType) -> Tensor:
    """Return ones for the entries of x that are kept, as `Explanation.node_mask` says it."""
    _refuse_types(explanation)
    graph = explanation.graph
    rows = _indicator(explanation, NODES, graph.num_nodes).unsqueeze(1)  # (N, 1)
    columns = _indicator(explanation, FEATURES, graph.num_features).unsqueeze(0)  # (1, d)
    masks = {
        "attributes": lambda: rows * columns,
        "object": lambda: rows,
        "common_attributes": lambda: columns,
    }
    check_choice("node_mask_type", node_mask_type, masks)
    return masks[node_mask_type]()


def edge_mask(
    explanation: Explanation, edge_index: Tensor, attributes: Mapping[str, Tensor] | None
) -> Tensor:
    """Return ones for the columns (E,) that are kept, as `Explanation.edge_mask` says it."""
    _refuse_types(explanation)
    if EDGES not in explanation.selected:
        return torch.ones(edge_index.size(1), device=edge_index.device)
    edges, graph = explanation.edges, explanation.graph
    given, expected = sorted(attributes or {}), sorted(graph.edge_inputs)
    if given != expected and any(len(edge) > 2 for edge in edges):
        raise InputError(
            f"attributes: expected {', '.join(expected) or 'none'}, by which several edges "
            f"between the same nodes are told apart, got {', '.join(given) or 'none'}"
        )
    columns = edge_columns(
        edges,
        edge_index,
        nodes=graph.num_nodes,
        directed=graph.directed,
        attributes=attributes,
    )
    return columns.float()


def as_pyg(
    explanation: Explanation,
    x: Tensor | None,
    edge_index: Tensor | None,
    *,
    node_mask_type: MaskType,
    edge_attributes: Mapping[str, Tensor] | None,
) -> PygExplanation:
    """Return an explanation as PyG's, as `Explanation.to_pyg` says it."""
    check_choice("node_mask_type", node_mask_type, get_args(MaskType))
    _refuse_types(explanation)
    carried = {"x": x, "edge_index": edge_index}
    if EDGES in explanation.selected:
        if edge_index is None:
            raise InputError("edge_index: expected with a set of edges, got None")
        carried["edge_mask"] = edge_mask(explanation, edge_index, edge_attributes)
    if NODES in explanation.selected or FEATURES in explanation.selected:
        carried["node_mask"] = node_mask(explanation, node_mask_type)
    return PygExplanation(**{name: value for name, value in carried.items() if value is not None})


def _refuse_types(explanation: Explanation) -> None:
    """Refuse a mask of all nodes or edges where they are of several types."""
    if explanation.types is not None:
        raise InputError(
            "explanation: expected one of a graph of one type, got several: masks by type are "
            "those of zorro.ZorroExplainer behind PyG's Explainer"
        )


def _indicator(explanation: Explanation, kind: Kind, size: int) -> Tensor:
    """Return ones for what is kept of a kind: for all of it if it is not selectable."""
    if kind not in explanation.selected:
        return torch.ones(size)
    members = explanation.selected[kind]
    kept = torch.tensor([number_of(member) for member in members], dtype=torch.long)
    indicator: Tensor = index_to_mask(kept, size).float()
    return indicator
