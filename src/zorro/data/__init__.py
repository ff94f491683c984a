"""Named data sets, the BA-Community generator, graphs from files, and node samples."""

from zorro.data import ba_community
from zorro.data.catalogue import DATASETS, is_name, load
from zorro.data.graph_catalogue import GRAPH_DATASETS, is_graph_dataset, load_graphs
from zorro.data.graph_dataset import GraphDataset
from zorro.data.graph_numbers import parse_graphs
from zorro.data.graph_validation import check_graphs
from zorro.data.hetero_catalogue import HETERO_DATASETS, is_hetero_dataset, load_hetero
from zorro.data.karate import karate_club
from zorro.data.nodes import paper_nodes, parse_nodes
from zorro.data.pairs import parse_links
from zorro.graph.stored import StoredGraph, open_stored, store, verify_stored
from zorro.graph.validation import check_graph

__all__ = [
    "DATASETS",
    "GRAPH_DATASETS",
    "HETERO_DATASETS",
    "GraphDataset",
    "StoredGraph",
    "ba_community",
    "check_graph",
    "check_graphs",
    "is_graph_dataset",
    "is_hetero_dataset",
    "is_name",
    "karate_club",
    "load",
    "load_graphs",
    "load_hetero",
    "open_stored",
    "paper_nodes",
    "parse_graphs",
    "parse_links",
    "parse_nodes",
    "store",
    "verify_stored",
]
