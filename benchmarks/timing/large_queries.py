"""Queries of Amazon Computers that see hundreds to thousands of nodes, on a GCN of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch_geometric.data import Data

from timing.cells import Cell, Row
from zorro import data, models

DATASET, MODEL = "amazon-computers", "gcn"
# The first test node whose number of candidates lies in each range.
RANGES = ((400, 600), (1500, 2500), (5001, 100_000))


def cell(folder: Path) -> Cell:
    """Name the cell whose model lies in `folder` once `train` has run."""
    return Cell(DATASET, MODEL, str(folder / f"{DATASET}_{MODEL}.safetensors"))


def train(cell: Cell) -> Iterator[Row]:
    """Train the model with the paper's settings, keep it, and yield the queries."""
    assert cell.checkpoint is not None
    graph = data.load(cell.dataset)
    settings = models.paper_settings(cell.dataset)
    model = models.train(cell.model, graph, settings)
    record = models.checkpoint.describe(
        model, cell.model, graph, dataset=cell.dataset, settings=settings
    )
    models.checkpoint.save(cell.checkpoint, model, record)
    yield {"test_accuracy": record["accuracy"]["test"]}
    for node, candidates in _queries(graph):
        yield {"node": node, "candidates": candidates, "features": graph.num_features}


def within_two_hops(graph: Data, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many nodes each of some nodes can see in two hops, itself among them."""
    sender, receiver = graph.edge_index.numpy()
    shape = (graph.num_nodes, graph.num_nodes)
    one_hop = sp.csr_matrix((np.ones(sender.size, dtype=np.int32), (receiver, sender)), shape=shape)
    one_hop = one_hop + sp.eye_array(graph.num_nodes, dtype=np.int32, format="csr")
    return np.diff((one_hop[nodes] @ one_hop).indptr).astype(np.int64)


def _queries(graph: Data) -> list[tuple[int, int]]:
    nodes = graph.test_mask.nonzero().flatten().numpy()
    candidates = within_two_hops(graph, nodes)
    chosen = []
    for least, most in RANGES:
        first = np.flatnonzero((candidates >= least) & (candidates <= most))[0]
        chosen.append((int(nodes[first]), int(candidates[first])))
    return chosen
