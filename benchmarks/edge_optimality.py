"""How far certified sets of edges are from the smallest ones, where these can be enumerated.

    python benchmarks/edge_optimality.py

Small graphs with at most 14 undirected edges. The model is run on every subgraph, so that the
fidelity of every set is known exactly, without samples: F(S) is a weighted sum over all subgraphs
that hold S. The smallest set with F ≥ τ is compared with the one that is certified. Writes
results/edge_optimality.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data

from zorro import Explanation, Zorro
from zorro.evaluation.evidence import level
from zorro.search.certificate import share_needed

RESULTS = Path(__file__).parent / "results"
MOST_EDGES, FEATURES, HIDDEN = 14, 4, 8
TAU, DELTA, PLANNED = 0.85, 0.05, 8000  # the defaults, and the most samples of a certificate
AT_ONCE = 1024  # subgraphs that run together


@dataclass(frozen=True)
class Instance:
    """A small graph, a model, and what is asked: a node's class, or the graph's."""

    model: nn.Module
    graph: Data
    node: int | None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The undirected edges."""
        return [(u, v) for u, v in self.graph.edge_index.t().tolist() if u < v]

    def explanation(self, presence: float) -> Explanation:
        """Return a certified set of edges."""
        options: dict[str, Any] = {"keep": ("edges",), "edge_presence": presence, "tau": TAU}
        graph = self.graph
        if self.node is None:
            return Zorro.of_graphs(self.model, [graph, graph], **options).explain(0)
        return Zorro(self.model, graph.x, graph.edge_index, **options).explain(self.node)

    def classes(self, subgraphs: Sequence[Data]) -> Tensor:
        """Return what the model predicts on some subgraphs with all nodes, (k,)."""
        batch = Batch.from_data_list(list(subgraphs))
        with torch.no_grad():
            if self.node is None:
                scores = self.model(batch.x, batch.edge_index, batch=batch.batch)
            else:
                scores = self.model(batch.x, batch.edge_index)[self.node :: self.graph.x.size(0)]
        predicted: Tensor = scores.argmax(1)
        return predicted


@dataclass(frozen=True)
class Comparison:
    """Sizes for one instance, None where no set was certified, and the exact fidelity of ours."""

    smallest: int
    ours: int | None
    fidelity: float
    best_of_smallest: float  # the highest fidelity of a set of the smallest size


def stays(instance: Instance) -> Tensor:
    """Return for each subgraph, by the bits of its number, whether the class is the true one."""
    graph, pairs = instance.graph, instance.pairs
    hits = []
    for first in range(0, 1 << len(pairs), AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, 1 << len(pairs)))
        hits.append(instance.classes([_subgraph(graph, pairs, number) for number in numbers]))
    found = torch.cat(hits)
    return found == found[-1]  # the last one has all edges


def exact_fidelities(hits: Tensor, presence: float) -> Tensor:
    """Return the fidelity of each set of edges, by the bits of its number.

    An edge that is not kept is there with its probability, each for itself: one edge after the
    other is averaged out for the sets without it.
    """
    shares = hits.double()
    for edge in range(hits.numel().bit_length() - 1):
        table = shares.view(-1, 2, 1 << edge)  # without the edge, with it
        without, kept = table[:, 0], table[:, 1]
        mixed = presence * kept + (1 - presence) * without
        shares = torch.stack([mixed, kept], dim=1).flatten()
    return shares


def compare(instance: Instance, hits: Tensor, presence: float) -> Comparison | None:
    """Return what is certified and what there is to find; None where nothing is needed."""
    fidelities = exact_fidelities(hits, presence)
    sizes = torch.tensor([number.bit_count() for number in range(fidelities.numel())])
    enough = fidelities >= TAU
    smallest = int(sizes[enough].min())
    if smallest == 0:
        return None
    explanation = instance.explanation(presence)
    place = {pair: number for number, pair in enumerate(instance.pairs)}
    ours = sum(1 << place[(edge[0], edge[1])] for edge in explanation.edges)
    return Comparison(
        smallest,
        len(explanation.edges) if explanation.certified else None,
        float(fidelities[ours]),
        float(fidelities[sizes == smallest].max()),
    )


def _subgraph(graph: Data, pairs: Sequence[tuple[int, int]], number: int) -> Data:
    kept = [pair for place, pair in enumerate(pairs) if number >> place & 1]
    links = torch.tensor(kept, dtype=torch.long).reshape(-1, 2).t()
    return Data(x=graph.x, edge_index=torch.cat([links, links.flip(0)], dim=1))


def _links(draw: torch.Generator, nodes: int, further: int) -> Tensor:
    """Return a random tree with further links, both directions of each."""
    pairs = {(int(torch.randint(node, (1,), generator=draw)), node) for node in range(1, nodes)}
    for u, v in torch.randint(nodes, (further, 2), generator=draw).tolist():
        if u != v:
            pairs.add((min(u, v), max(u, v)))
    links = torch.tensor(sorted(pairs)[:MOST_EDGES]).t()
    return torch.cat([links, links.flip(0)], dim=1)


class OfGraphs(nn.Module):
    """Two isomorphism layers, pooled by sum or mean."""

    def __init__(self, pool: Callable[..., Tensor]) -> None:
        super().__init__()
        self.first = pyg.GINConv(nn.Linear(FEATURES, HIDDEN))
        self.second = pyg.GINConv(nn.Linear(HIDDEN, HIDDEN))
        self.pool, self.last = pool, nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return class scores of each graph."""
        x = self.second(self.first(x, edge_index).tanh(), edge_index).tanh()
        scores: Tensor = self.last(self.pool(x, batch))
        return scores


class OfNodes(nn.Module):
    """Two layers of a kind."""

    def __init__(self, layer: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.first, self.second = layer(FEATURES, HIDDEN), layer(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores of each node."""
        scores: Tensor = self.second(self.first(x, edge_index).tanh(), edge_index)
        return scores


class Motifs(nn.Module):
    """Three convolutions of nodes that all look the same, trained to tell motifs apart."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            pyg.GINConv(nn.Sequential(nn.Linear(before, 16), nn.ReLU(), nn.Linear(16, 16)))
            for before in (FEATURES, 16, 16)
        )
        self.last = nn.Linear(16, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return class scores of each graph."""
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        scores: Tensor = self.last(pyg.global_mean_pool(x, batch))
        return scores


def _layers(kind: str) -> Callable[[int, int], nn.Module]:
    known: dict[str, Callable[[int, int], nn.Module]] = {
        "GCN": pyg.GCNConv,
        "GAT": pyg.GATConv,
        "SAGE": pyg.SAGEConv,
        "GIN": lambda before, after: pyg.GINConv(nn.Linear(before, after)),
    }
    return known[kind]


def of_nodes(kind: str) -> Callable[[int], Instance]:
    """Return what makes random instances about a node."""

    def instance(seed: int) -> Instance:
        torch.manual_seed(seed)
        draw = torch.Generator().manual_seed(seed)
        graph = Data(x=torch.randn(10, FEATURES), edge_index=_links(draw, 10, 5))
        return Instance(OfNodes(_layers(kind)).eval(), graph, seed % 10)

    return instance


def of_graphs(pool: Callable[..., Tensor]) -> Callable[[int], Instance]:
    """Return what makes random instances about a whole graph."""

    def instance(seed: int) -> Instance:
        torch.manual_seed(seed)
        draw = torch.Generator().manual_seed(seed)
        graph = Data(x=torch.randn(9, FEATURES), edge_index=_links(draw, 9, 5))
        return Instance(OfGraphs(pool).eval(), graph, None)

    return instance


def _motif(seed: int) -> tuple[Data, int]:
    """Return a tree with a house or a cycle of five at it, and which of the two it is."""
    draw = torch.Generator().manual_seed(seed)
    tree = _links(draw, 7, 0)
    ring = [(7 + place, 7 + (place + 1) % 5) for place in range(5)]
    kind = int(torch.randint(2, (1,), generator=draw))
    motif = torch.tensor([*ring, (0, 7), *([(7, 9)] if kind else [])]).t()
    links = torch.cat([tree[:, : tree.size(1) // 2], motif], dim=1)
    x = torch.ones(12, FEATURES)
    return Data(x=x, edge_index=torch.cat([links, links.flip(0)], dim=1)), kind


def trained_on_motifs() -> Callable[[int], Instance]:
    """Return what makes instances of one model that tells houses from cycles."""
    torch.manual_seed(0)
    model = Motifs()
    examples = [_motif(10_000 + seed) for seed in range(400)]
    batch = Batch.from_data_list([graph for graph, _ in examples])
    kinds = torch.tensor([kind for _, kind in examples])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(300):
        optimiser.zero_grad()
        scores = model(batch.x, batch.edge_index, batch.batch)
        loss = nn.functional.cross_entropy(scores, kinds)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    right = float((scores.argmax(1) == kinds).double().mean())
    print(f"motifs: {right:.0%} right", flush=True)
    model.eval()

    def instance(seed: int) -> Instance:
        return Instance(model, _motif(seed)[0], None)

    return instance


def _row(name: str, presence: float, every: list[Comparison | None]) -> str:
    found = [one for one in every if one is not None]
    certified = [one for one in found if one.ours is not None]
    above = Counter(one.ours - one.smallest for one in certified if one.ours is not None)
    short = sum(one.fidelity < TAU for one in certified)
    cells = [
        name,
        f"{presence:g}",
        f"{len(every) - len(found)}",
        f"{len(found)}",
        f"{len(certified)}",
        f"{mean(one.smallest for one in certified):.2f}" if certified else "–",
        f"{mean(one.ours or 0 for one in certified):.2f}" if certified else "–",
        f"{above[0] / len(found):.0%}" if found else "–",
        f"{max(above, default=0)}",
        f"{short}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Compare on many instances and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=40, help="of each kind")
    count = parser.parse_args().instances
    torch.set_num_threads(1)
    kinds: dict[str, Callable[[int], Instance]] = {
        **{f"{kind}, nodes": of_nodes(kind) for kind in ("GCN", "GAT", "SAGE", "GIN")},
        "GIN, sum over the graph": of_graphs(pyg.global_add_pool),
        "GIN, mean over the graph": of_graphs(pyg.global_mean_pool),
        "house or cycle, trained": trained_on_motifs(),
    }
    rows, every = [], []
    for name, make in kinds.items():
        instances = [make(seed) for seed in range(count)]
        known = [stays(instance) for instance in instances]
        for presence in (0.5, 0.0):
            each = [
                compare(instance, hits, presence)
                for instance, hits in zip(instances, known, strict=True)
            ]
            every += each
            rows.append(_row(name, presence, each))
            print(rows[-1], flush=True)
    found = [one for one in every if one is not None]
    exact = sum(one.ours == one.smallest for one in found)
    short = sum(one.ours is not None and one.fidelity < TAU for one in found)
    needed = share_needed(TAU, level(DELTA, 2), PLANNED)
    provable = [one for one in found if one.best_of_smallest >= needed]
    shown = sum(one.ours == one.smallest for one in provable)
    total = (
        f"Of {len(found)} instances that need an edge {exact} ({exact / len(found):.1%}) get a "
        f"smallest set; of those {len(provable)} where some set of the smallest size has a "
        f"fidelity of {needed:.3f}, which the {PLANNED:,} samples of a test can tell from τ, "
        f"{shown} ({shown / len(provable):.1%}). {short} certified sets have an exact fidelity "
        f"below τ (at most {DELTA:.0%} may)."
    )
    print(total)
    lines = [
        "# Distance to the smallest sufficient set of edges",
        "",
        f"`python benchmarks/edge_optimality.py` (`make edge-optimality`): {count} small graphs of "
        f"each kind with at most {MOST_EDGES} edges, τ = {TAU:g}. The model is run on every "
        "subgraph, so that the fidelity of every set is exact; the smallest set with F ≥ τ is "
        "compared with the one that is certified (default settings).",
        "",
        total,
        "",
        "| model | presence | nothing needed | instances | certified | smallest: mean | ours: mean "
        "| ours is smallest | most above | F below τ |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
    ]
    (RESULTS / "edge_optimality.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
