"""What can be kept of a query's input, and what is."""

from zorro.elements.selection import Selection, everything_of, nothing_of
from zorro.elements.space import (
    COARSE,
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    KEPT,
    KINDS,
    NODES,
    RELATIONS,
    TYPES,
    Element,
    Kind,
    Space,
    TypedBlock,
    drops_edges,
    redraws_features,
)

__all__ = [
    "COARSE",
    "EDGES",
    "EDGE_ATTRIBUTES",
    "FEATURES",
    "KEPT",
    "KINDS",
    "NODES",
    "RELATIONS",
    "TYPES",
    "Element",
    "Kind",
    "Selection",
    "Space",
    "TypedBlock",
    "drops_edges",
    "everything_of",
    "nothing_of",
    "redraws_features",
]
