"""Named data sets, the BA-Community generator, graphs from files, and node samples."""

from zorro.data import ba_community
from zorro.data.catalogue import DATASETS, load
from zorro.data.nodes import paper_nodes, parse_nodes
from zorro.data.validation import check_graph

__all__ = ["DATASETS", "ba_community", "check_graph", "load", "paper_nodes", "parse_nodes"]
