"""What can be kept of a query's input, and what is."""

from zorro.elements.selection import Selection, everything_of, nothing_of
from zorro.elements.space import FEATURES, KINDS, NODES, Element, Kind, Space

__all__ = [
    "FEATURES",
    "KINDS",
    "NODES",
    "Element",
    "Kind",
    "Selection",
    "Space",
    "everything_of",
    "nothing_of",
]
