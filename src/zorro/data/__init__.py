"""Named data sets, the BA-Community generator, graphs from files, and node samples."""

from zorro.data import ba_community
from zorro.data.catalogue import DATASETS, is_name, load
from zorro.data.nodes import paper_nodes, parse_nodes
from zorro.data.stored import StoredGraph, open_stored, store, verify_stored
from zorro.data.validation import check_graph

__all__ = [
    "DATASETS",
    "StoredGraph",
    "ba_community",
    "check_graph",
    "is_name",
    "load",
    "open_stored",
    "paper_nodes",
    "parse_nodes",
    "store",
    "verify_stored",
]
