"""The models of links that are audited, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg

from honesty_audit import graphs
from honesty_audit.graphs import Graph, MakeGraph
from honesty_audit.link_models import ByHand, InnerProduct, SideBySide
from honesty_audit.plain_loop import count_hits_of_link, evaluating, margins
from zorro import Explanation, Zorro

HIDDEN = 16
EPOCHS, RATE = 60, 0.02
SIZE = 200  # nodes of a graph
PAIRS = 200  # that are asked about, half of them links


@dataclass(frozen=True)
class LinkEntry:
    """A kind of model of links.

    `plainly` calls the model for links (2, k) as its owner would; `threshold` is where a link
    begins, once `finish` has turned the trained model and its graph into what Zorro is given;
    `quick` entries are those of the test.
    """

    name: str
    graph: MakeGraph
    build: Callable[[Graph], nn.Module]
    plainly: Callable[..., Tensor] = lambda model, x, edge_index, links, **kwargs: model(
        x, edge_index, links, **kwargs
    )
    threshold: float = 0.0
    finish: Callable[[nn.Module, Graph], tuple[nn.Module, Graph]] = lambda model, graph: (
        model,
        graph,
    )
    epochs: int = EPOCHS
    quick: bool = False


@dataclass(frozen=True)
class LinksCase:
    """A trained model with its graph; a query is the number of a pair."""

    name: str
    model: nn.Module
    graph: Graph
    pairs: Tensor  # (PAIRS, 2)
    plainly: Callable[..., Tensor]
    threshold: float
    predicted: Tensor  # (PAIRS,)
    margins: Mapping[tuple[int, int], float]

    def queries(self, count: int) -> list[Any]:
        """Return pairs to explain: those that the model takes for links first."""
        order = torch.argsort(self.predicted, descending=True, stable=True)
        return [tuple(self.pairs[place].tolist()) for place in order[:count].tolist()]

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return Zorro.of_links(
            self.model,
            self.graph.x,
            self.graph.edge_index,
            threshold=self.threshold,
            model_kwargs=self.graph.kwargs,
            **options,
        )

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the answer, by the plain loop."""
        (end,) = explanation.query.ends
        return count_hits_of_link(
            self.model,
            self.plainly,
            self.graph.x,
            self.graph.edge_index,
            (explanation.query.index, end),
            nodes=explanation.nodes,
            features=explanation.features,
            samples=runs,
            seed=seed,
            threshold=self.threshold,
            kwargs=self.graph.kwargs,
        )


def prepare_links(entry: LinkEntry) -> LinksCase:
    """Build and train a model; the same one each time, and no other randomness is touched."""
    graph = entry.graph(SIZE)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = entry.build(graph)
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
        for _ in range(entry.epochs):
            pairs = torch.cat([_links(graph, PAIRS), _others(graph, PAIRS)], dim=1)
            there = (torch.arange(2 * PAIRS) < PAIRS).float()
            output = entry.plainly(model, graph.x, graph.edge_index, pairs, **graph.kwargs)
            optimiser.zero_grad()
            loss = (
                functional.binary_cross_entropy(output.flatten(), there)
                if entry.threshold == 0.5
                else functional.binary_cross_entropy_with_logits(output.flatten(), there)
            )
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        half = PAIRS // 2
        pairs = torch.cat([_links(graph, half), _others(graph, half)], dim=1)
    model, graph = entry.finish(model.eval(), graph)
    with evaluating(model):
        scores = entry.plainly(model, graph.x, graph.edge_index, pairs, **graph.kwargs)
    predicted = (scores.flatten() > entry.threshold).long()
    near = zip(map(tuple, pairs.t().tolist()), margins(scores, entry.threshold), strict=True)
    return LinksCase(
        entry.name,
        model,
        graph,
        pairs.t(),
        entry.plainly,
        entry.threshold,
        predicted,
        dict(near),
    )


def _links(graph: Graph, count: int) -> Tensor:
    edges = graph.edge_index
    return edges[:, torch.randint(edges.size(1), (count,))]


def _others(graph: Graph, count: int) -> Tensor:
    """Return random pairs (2, count) that are no edges, and no node with itself."""
    there = torch.eye(graph.nodes, dtype=torch.bool)
    there[graph.edge_index[0], graph.edge_index[1]] = True
    absent = (~there).nonzero()
    return absent[torch.randint(len(absent), (count,))].t()


def _inner_product(layer: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    return lambda graph: InnerProduct(
        layer(graph.features, HIDDEN, **options), layer(HIDDEN, HIDDEN, **options)
    )


def _autoencoder(graph: Graph) -> nn.Module:
    encoder = pyg.Sequential(
        "x, edge_index",
        [
            (pyg.GCNConv(graph.features, HIDDEN), "x, edge_index -> x"),
            nn.ReLU(),
            (pyg.GCNConv(HIDDEN, HIDDEN), "x, edge_index -> x"),
        ],
    )
    model: nn.Module = pyg.GAE(encoder)
    return model


def _by_pyg(model: Any, x: Tensor, edge_index: Tensor, links: Tensor) -> Tensor:
    probabilities: Tensor = model.decode(model.encode(x, edge_index), links)
    return probabilities


LINK_ZOO = [
    LinkEntry(
        "links: GCN, inner product", graphs.citation, _inner_product(pyg.GCNConv), quick=True
    ),
    LinkEntry("links: GAE", graphs.dense, _autoencoder, _by_pyg, threshold=0.5, quick=True),
    LinkEntry(
        "links: SAGE, ends side by side",
        graphs.dense,
        lambda graph: SideBySide(
            pyg.SAGEConv(graph.features, HIDDEN), pyg.SAGEConv(HIDDEN, HIDDEN), width=HIDDEN
        ),
    ),
    LinkEntry("links: GAT, inner product", graphs.citation, _inner_product(pyg.GATConv)),
    LinkEntry(
        "links: by scatter alone",
        graphs.directed,
        lambda graph: ByHand(graph.features, HIDDEN),
        quick=True,
    ),
    LinkEntry("links: GCN, edge weights", graphs.weighted, _inner_product(pyg.GCNConv)),
]
