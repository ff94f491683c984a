"""What can be kept of a query's input, and what is."""

from zorro.elements.selection import Selection, everything_of, nothing_of
from zorro.elements.space import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    KEPT,
    KINDS,
    NODES,
    Element,
    Kind,
    Space,
    redraws_features,
)

__all__ = [
    "EDGES",
    "EDGE_ATTRIBUTES",
    "FEATURES",
    "KEPT",
    "KINDS",
    "NODES",
    "Element",
    "Kind",
    "Selection",
    "Space",
    "everything_of",
    "nothing_of",
    "redraws_features",
]
