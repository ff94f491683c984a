"""Graphs kept as a folder of arrays, explained without being loaded."""

from zorro.graph.stored.conversion import store
from zorro.graph.stored.graph import (
    StoredEdges,
    StoredFeatures,
    StoredGraph,
    open_stored,
    verify_stored,
)

__all__ = ["StoredEdges", "StoredFeatures", "StoredGraph", "open_stored", "store", "verify_stored"]
