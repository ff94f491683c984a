"""Generate BA-Community, the paper's synthetic graph, whose explanations are known: the houses.

Two communities hold a Barabási–Albert graph with houses attached at regular spacing; random edges
disturb each community and join the two ("Experiments on synthetic dataset" in the appendix).
Where the paper's text leaves something open, or differs from the graph that was used for its
results, that graph is followed:

- random edges inside a community are 1 % of its edges (the text says 0.01 %);
- a house is a square 0-1-2-3 with the roof 4 on 0 and 1; its node 0 meets the community;
- .5 is the variance of the two informative features, and one largest magnitude per community
  scales all its features.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from zorro.arguments import check_seed
from zorro.data.edge_truth import NO_MOTIF, edges_in_motifs
from zorro.data.simple_graph import (
    Edges,
    add_random_edges,
    barabasi_albert,
    both_directions,
)

BASE_NODES = 300
BASE_LINKS = 5
HOUSES = 80
HOUSE_EDGES = ((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4))
HOUSE_LABELS = (1, 1, 2, 2, 3)
HOUSE_NODES = len(HOUSE_LABELS)
COMMUNITY_NODES = BASE_NODES + HOUSES * HOUSE_NODES
COMMUNITY_CLASSES = 4
EXTRA_EDGES = 0.01
JOINING_EDGES = 350
FEATURES = 10
INFORMATIVE_FEATURES = 2
INFORMATIVE_VARIANCE = 0.5
TRAINING_SHARE = 0.8


def generate(*, seed: int = 0) -> Data:
    """Return a BA-Community graph of 1,400 nodes, ten features and eight classes.

    Nodes 0–299 and 700–999 are the Barabási–Albert graphs, 300–699 and 1000–1399 the houses, five
    consecutive numbers a house. Four fifths of the nodes are in `train_mask`, the others in
    `test_mask`. `motif` (1400,) is the number of a node's house, −1 without; `edge_truth` (E,)
    tells which edges are inside of one.

    >>> generate(seed=0).num_nodes
    1400
    """
    rng = np.random.default_rng(check_seed(seed))
    first, second = _community_edges(rng), _community_edges(rng)
    edges = first | {(u + COMMUNITY_NODES, v + COMMUNITY_NODES) for u, v in second}
    nodes = 2 * COMMUNITY_NODES
    add_random_edges(
        edges, range(COMMUNITY_NODES), range(COMMUNITY_NODES, nodes), JOINING_EDGES, rng
    )
    x = np.concatenate([_features(-1.0, rng), _features(1.0, rng)])  # (1400, 10)
    labels = np.array([0] * BASE_NODES + list(HOUSE_LABELS) * HOUSES)  # (700,)
    train_mask = np.zeros(nodes, dtype=bool)
    train_mask[rng.permutation(nodes)[: int(TRAINING_SHARE * nodes)]] = True
    edge_index = both_directions(edges)
    motif = torch.tensor([_house_number(node) for node in range(nodes)])  # (1400,)
    return Data(
        x=torch.from_numpy(x.astype(np.float32)),
        edge_index=edge_index,
        y=torch.from_numpy(np.concatenate([labels, labels + COMMUNITY_CLASSES])),
        train_mask=torch.from_numpy(train_mask),
        test_mask=torch.from_numpy(~train_mask),
        motif=motif,
        edge_truth=edges_in_motifs(edge_index, motif),
    )


def motif_nodes() -> list[int]:
    """Return the 800 nodes of the houses, in ascending order."""
    first = range(BASE_NODES, COMMUNITY_NODES)
    return [*first, *(node + COMMUNITY_NODES for node in first)]


def house_of(node: int) -> range:
    """Return the five nodes of a house node's house, its known explanation.

    >>> list(house_of(1007))
    [1005, 1006, 1007, 1008, 1009]
    """
    first = node - (node % COMMUNITY_NODES - BASE_NODES) % HOUSE_NODES
    return range(first, first + HOUSE_NODES)


def _house_number(node: int) -> int:
    """Return the number of a node's house, −1 where it is in none."""
    community, place = divmod(node, COMMUNITY_NODES)
    if place < BASE_NODES:
        return NO_MOTIF
    return community * HOUSES + (place - BASE_NODES) // HOUSE_NODES


def _community_edges(rng: np.random.Generator) -> Edges:
    edges = barabasi_albert(BASE_NODES, BASE_LINKS, rng)
    spacing = BASE_NODES // HOUSES
    for house in range(HOUSES):
        start = BASE_NODES + house * HOUSE_NODES
        edges |= {(start + u, start + v) for u, v in HOUSE_EDGES}
        edges.add((house * spacing, start))
    everyone = range(COMMUNITY_NODES)
    add_random_edges(edges, everyone, everyone, int(EXTRA_EDGES * len(edges)), rng)
    return edges


def _features(mean: float, rng: np.random.Generator) -> NDArray[np.float64]:
    x = rng.standard_normal((COMMUNITY_NODES, FEATURES))  # (700, 10)
    x[:, :INFORMATIVE_FEATURES] *= np.sqrt(INFORMATIVE_VARIANCE)
    x[:, :INFORMATIVE_FEATURES] += mean
    largest = np.abs(x).max()
    return np.asarray((x + largest) / (2 * largest))
