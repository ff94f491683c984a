"""Copies in one batch that influence each other beside a set alone: each claim against a loop.

The models have a gate on the mean of column 0 over all that they are given, as a model has that
forgets `batch`. For true inputs and for noise alone that mean is far below the gate, so that copies
look independent. With the set kept it is just below: the mean over a batch of copies stays there,
that of a single input often does not.
"""

import pytest
import torch
from torch import nn
from torch_geometric.data import Data, HeteroData

from zorro import Zorro

SIZE, KEPT, HIGH = 60, 25, 4.0
GATE, NEED = 1.5, 0.7


def features(seed=0):
    """Column 0 is high at the first nodes and low elsewhere, so that its mean is 0."""
    x = 0.3 * torch.randn(SIZE, 2, generator=torch.Generator().manual_seed(seed))
    x[:KEPT, 0], x[KEPT:, 0] = HIGH, -HIGH * KEPT / (SIZE - KEPT)
    return x


def ring():
    here = torch.arange(SIZE)
    there = (here + 1) % SIZE
    return torch.stack([torch.cat([here, there]), torch.cat([there, here])])


def gated(x):
    """One score for each copy of the graph: positive where the first nodes are high enough.

    The sign of all scores turns where the mean over all rows is above the gate.
    """
    evidence = x[:, 0].view(-1, SIZE)[:, :KEPT].sum(1) - NEED * KEPT * HIGH  # (copies,)
    return torch.where(x[:, 0].mean() > GATE, -evidence, evidence)


class OfGraphs(nn.Module):
    def forward(self, x, edge_index, batch):
        score = gated(x)
        return torch.stack([-score, score], 1)


class OfGraphValues(nn.Module):
    def forward(self, x, edge_index, batch):
        return gated(x).sign().unsqueeze(1)


class OfNodes(nn.Module):
    """Nothing but the mean of all tells nodes apart, so that all of them are candidates."""

    def forward(self, x, edge_index):
        score = gated(x).repeat_interleave(SIZE)
        return torch.stack([-score, score], 1)


class OfLinks(nn.Module):
    def forward(self, x, edge_index, edge_label_index):
        score = gated(x).repeat_interleave(SIZE)
        return torch.minimum(score[edge_label_index[0]], score[edge_label_index[1]])


class OfTypes(nn.Module):
    def forward(self, x_dict, edge_index_dict):
        score = gated(x_dict["paper"]).repeat_interleave(SIZE)
        return {"paper": torch.stack([-score, score], 1)}


def papers():
    data = HeteroData()
    data["paper"].x, data["author"].x = features(), torch.randn(SIZE, 2)
    data["paper", "cites", "paper"].edge_index = ring()
    here = torch.arange(SIZE)
    data["author", "writes", "paper"].edge_index = torch.stack([here, here])
    return data


class OfEdges(nn.Module):
    """Most edges among the first nodes must be there; the gate is on edges per node of all."""

    def forward(self, x, edge_index, batch):
        copies = int(batch.max()) + 1
        among_first = (edge_index % SIZE < KEPT).all(0)
        there = torch.zeros(copies).index_add(0, batch[edge_index[0]], among_first.float())
        score = there - 2 * NEED * KEPT
        per_node = edge_index.size(1) / x.size(0)
        score = -score if 1.42 < per_node < 1.8 else score
        return torch.stack([-score, score], 1)


GRAPHS = [Data(x=features(seed), edge_index=ring()) for seed in range(4)]
ONE = (features(), ring())
LEVELS = {
    "graphs": lambda **o: (Zorro.of_graphs(OfGraphs(), GRAPHS, **o), 0),
    "values": lambda **o: (Zorro.of_graphs(OfGraphValues(), GRAPHS, tolerance=0.5, **o), 0),
    "nodes": lambda **o: (Zorro(OfNodes(), *ONE, **o), 3),
    "links": lambda **o: (Zorro.of_links(OfLinks(), *ONE, threshold=0.0, **o), (3, 40)),
    "types": lambda **o: (Zorro.of_hetero(OfTypes(), papers(), "paper", **o), 3),
}


def share_that_stays(kept, pool, runs=1000):
    """How often the one score stays positive, input by input, with other nodes redrawn."""
    draw = torch.Generator().manual_seed(3)
    stays = 0
    for _ in range(runs):
        x = features()
        for node in range(SIZE):
            if node not in kept:
                for column in range(2):
                    row = int(torch.randint(len(pool), (1,), generator=draw))
                    x[node, column] = pool[row, column]
        stays += bool(gated(x) > 0)
    return stays / runs


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_measured_of_a_set_is_what_single_inputs_give(level):
    zorro, query = LEVELS[level](keep=("nodes",))
    first = range(KEPT - 2)
    measured = zorro.fidelity(
        query, nodes={"paper": first} if level == "types" else first, samples=400
    )
    pool = torch.cat([graph.x for graph in GRAPHS]) if level in ("graphs", "values") else ONE[0]
    assert measured.lower - 0.06 <= share_that_stays(set(first), pool, 400) <= measured.upper + 0.06


def test_what_is_certified_holds_for_single_inputs(caplog):
    explanation = Zorro.of_graphs(OfGraphs(), GRAPHS, keep=("nodes",)).explain(0)
    assert "copies of the graph in one batch influence each other" in caplog.text
    assert explanation.certified
    assert explanation.certificate is not None
    pool = torch.cat([graph.x for graph in GRAPHS])
    share = share_that_stays(set(explanation.nodes), pool)
    assert share >= explanation.certificate.bound - 0.04


def test_sets_of_edges_are_measured_as_single_graphs_give():
    """Of 2 edges per node 1.4 are there on average with the set kept, in a batch always so many."""
    kept = [(node, node + 1) for node in range(KEPT - 1)]
    zorro = Zorro.of_graphs(OfEdges(), GRAPHS, keep=("edges",), edge_presence=0.5)
    measured = zorro.fidelity(0, edges=kept, samples=400)
    draw, hits = torch.Generator().manual_seed(5), 0
    for _ in range(400):
        there = torch.rand(SIZE, generator=draw) < 0.5
        there[: KEPT - 1] = True
        edge_index = ring()[:, there.repeat(2)]
        scores = OfEdges()(ONE[0], edge_index, torch.zeros(SIZE, dtype=torch.long))
        hits += int(scores.argmax() == 1)
    assert measured.lower - 0.06 <= hits / 400 <= measured.upper + 0.06
    assert 0.2 < hits / 400 < 0.8, "else the gate decides nothing"
