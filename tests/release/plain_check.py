"""Claims of several kinds against plain loops, in a minute; run by `try_versions.py`.

It needs the core's packages and this checkout, neither pytest nor an extra. The loops share no code
with the library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from scipy.stats import binom
from torch import Tensor, nn
from torch_geometric import nn as gnn

from zorro import Explanation, Zorro

sys.path.append(str(Path(__file__).parents[1]))
from made_hetero import Convolved, library
from plain_edges import plain_elements, plain_share
from plain_hetero import as_kept
from plain_hetero import plain_share as plain_share_of_types
from plain_loop import plain_fidelity

SAMPLES = 400
UNLIKELY = 1e-4  # a true claim fails with this probability, and seeds are fixed
Case = tuple[str, Explanation, int]  # what is asked, the answer, how often it stayed
LAYERS = {"GCN": gnn.GCN, "GraphSAGE": gnn.GraphSAGE, "GAT": gnn.GAT, "GIN": gnn.GIN}


def graph_on(device: str) -> tuple[Tensor, Tensor]:
    """Return forty nodes with six features, and edges in both directions."""
    draw = torch.Generator().manual_seed(4)
    edges = torch.randint(40, (2, 60), generator=draw)
    edges = torch.unique(torch.cat([edges, edges.flip(0)], 1), dim=1)
    return torch.randn(40, 6, generator=draw).to(device), edges.to(device)


def made(model: Callable[[], nn.Module], device: str) -> nn.Module:
    torch.manual_seed(2)
    return model().to(device).eval()


def class_of(model: nn.Module, edge_index: Tensor, node: int) -> Callable[[Tensor], int]:
    """Return what gives the class of a node, as the model's owner would ask for it."""

    def predict(x: Tensor) -> int:
        with torch.no_grad():
            scores: Tensor = model(x, edge_index)[node]
        return int(scores.argmax())

    return predict


def stayed_of(found: Explanation, predict: Callable[[Tensor], int], x: Tensor) -> int:
    """Count how often an answer stays with all but the kept nodes' kept features redrawn."""
    share: float = plain_fidelity(
        lambda z: predict(z.to(x.device)),
        x.cpu(),
        None,
        nodes=found.nodes,
        features=found.features,
        samples=SAMPLES,
    )
    return round(share * SAMPLES)


def nodes(device: str) -> Iterator[Case]:
    """Nodes, of four layers, traced and as any model is run."""
    x, edge_index = graph_on(device)
    for name, layer in LAYERS.items():
        model = made(partial(layer, 6, 12, num_layers=2, out_channels=3), device)
        for evaluator in ("traced", "any-model"):
            found = Zorro(model, x, edge_index, tau=0.8, evaluator=evaluator).explain(7)
            stayed = stayed_of(found, class_of(model, edge_index, 7), x)
            yield f"node, {name}, {evaluator}", found, stayed


class Pairs(nn.Module):
    """Scores links by the product of what a convolution gives for their ends."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = gnn.GCN(6, 8, num_layers=2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        ends = self.encoder(x, edge_index)[edge_label_index]
        scores: Tensor = (ends[0] * ends[1]).sum(-1)
        return scores


def links(device: str) -> Iterator[Case]:
    """A link that the graph has and that carries messages."""
    x, edge_index = graph_on(device)
    model = made(Pairs, device)
    pair = edge_index[:, :1]
    zorro = Zorro.of_links(model, x, edge_index, tau=0.8, threshold=0.0, carries_messages=True)
    found = zorro.explain(tuple(pair.flatten().tolist()))

    def predict(x: Tensor) -> int:
        with torch.no_grad():
            score: Tensor = model(x, edge_index, pair)[0]
        return int(score > 0)

    yield "link, GCN", found, stayed_of(found, predict, x)


def edges(device: str) -> Iterator[Case]:
    """Edges, of a layer whose norms follow them."""
    x, edge_index = graph_on(device)
    model = made(partial(gnn.GCN, 6, 12, num_layers=2, out_channels=3), device)
    zorro = Zorro(model, x, edge_index, tau=0.8, keep=("edges",))
    found = next(each for each in map(zorro.explain, range(40)) if each.edges)
    node = int(found.node)
    answer = class_of(model, edge_index, node)(x)

    def stays(columns: Tensor, _: object) -> bool:
        return class_of(model, edge_index[:, columns.to(device)], node)(x) == answer

    elements = plain_elements(edge_index.cpu())
    stayed, _ = plain_share(stays, elements, found.edges, samples=SAMPLES)
    yield "edges, GCN", found, stayed


def types(device: str) -> Iterator[Case]:
    """A node of a graph of several types."""
    data = library()
    model = Convolved(data)
    found = Zorro.of_hetero(model.to(device), data.to(device), "author", tau=0.8).explain(3)
    model, data = model.cpu(), data.cpu()
    stayed, _ = plain_share_of_types(model, data, "author", 3, as_kept(found), samples=SAMPLES)
    yield "several types, GraphSAGE", found, stayed


def check(device: str) -> int:
    """Compare every claim with its plain loop, and return how many there were."""
    count = 0
    for kind in (nodes, links, edges, types):
        for name, found, stayed in kind(device):
            proven = found.certificate if found.certified else None
            lower = proven.bound if proven else found.fidelity.lower
            print(f"{name}: {found!r}; plain loop {stayed}/{SAMPLES}", file=sys.stderr)
            assert binom.cdf(stayed, SAMPLES, lower) > UNLIKELY, (name, found, stayed)
            assert binom.sf(stayed - 1, SAMPLES, found.fidelity.upper) > UNLIKELY, (name, found)
            count += 1
    return count


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"{check(device)} claims hold on {device}")
