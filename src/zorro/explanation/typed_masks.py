"""Masks of what is kept, by type and by relation."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from zorro.elements import EDGES, FEATURES, NODES, RELATIONS, TYPES
from zorro.elements.edges import EdgeElements, TypedEdges
from zorro.elements.types import EDGE_TYPE, Relation, Types
from zorro.explanation.explanation import Explanation, MaskType


def node_masks(
    explanation: Explanation, x_dict: Mapping[str, Tensor], node_mask_type: MaskType
) -> dict[str, Tensor]:
    """Return ones for the entries of each type's x that are kept, as `Explanation.node_mask` does.

    What only tells nodes apart is kept with its node, whatever features are.

    Args:
        explanation: of a graph of several types.
        x_dict: their features (n, d), or numbers of nodes (n,).
        node_mask_type: `attributes` gives (n, d) of each type, `object` (n, 1),
            `common_attributes` (1, d).
    """
    types = _types_of(explanation)
    masks = {}
    for one in types.nodes:
        if one.name not in x_dict:
            continue
        x = x_dict[one.name]
        rows = _kept_rows(explanation, one.name, one.count).unsqueeze(1)  # (n, 1)
        width = 1 if x.dim() == 1 else x.size(1)
        columns = torch.ones(1, width)
        if FEATURES in explanation.selected and one.features:
            columns = torch.zeros(1, width)
            columns[0, list(explanation.features[one.name])] = 1.0
        elif node_mask_type == "common_attributes":
            columns = columns * rows.max()
        by_kind = {"attributes": rows * columns, "object": rows, "common_attributes": columns}
        mask = by_kind[node_mask_type].to(x.device)
        masks[one.name] = mask.to(x.dtype) if x.is_floating_point() else mask
    return masks


def kept_columns(
    explanation: Explanation, edge_index: Tensor, of_edges: Mapping[str, Tensor]
) -> Tensor:
    """Return which columns (E,) of a packed graph's edge index are kept.

    Args:
        explanation: of the graph.
        edge_index: (2, E), by numbers among all nodes.
        of_edges: each edge's relation, and what else the model gets for edges, each (E, …).
    """
    types, selected = _types_of(explanation), explanation.selected
    attributes = dict(of_edges)
    elements = EdgeElements.of(
        edge_index,
        {name: value for name, value in attributes.items() if name != EDGE_TYPE},
        nodes=types.num_nodes,
        directed=explanation.graph.directed,
        typed=TypedEdges.of(attributes[EDGE_TYPE], types),
    )
    if RELATIONS in selected:
        relations = (elements.number % elements.relations).tolist()
        kept = [relation in selected[RELATIONS] for relation in relations]
    elif EDGES in selected:
        wanted = set(selected[EDGES])
        kept = [label in wanted for label in elements.labels]
    else:
        kept = [True] * elements.count
    mask = torch.tensor(kept, dtype=torch.bool, device=edge_index.device)
    return mask[elements.of_column]


def by_relation(columns: Tensor, numbers: Tensor, types: Types) -> dict[Relation, Tensor]:
    """Return values (E,) of a packed graph's edges by relation, of which numbers (E,) tell."""
    return {relation: columns[numbers == i] for i, relation in enumerate(types.relations)}


def _types_of(explanation: Explanation) -> Types:
    assert explanation.types is not None
    return explanation.types


def _kept_rows(explanation: Explanation, name: str, count: int) -> Tensor:
    """Return ones for the nodes (n,) of a type that are kept; for all if they are not selectable.

    Of a type whose features are all redrawn none is.
    """
    selected = explanation.selected
    if TYPES in selected:
        return torch.full((count,), float(name in explanation.node_types))
    if NODES not in selected:
        return torch.ones(count)
    rows = torch.zeros(count)
    rows[list(explanation.nodes[name])] = 1.0
    return rows
