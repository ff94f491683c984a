"""How far the searches are from the smallest sufficient set, where it can be enumerated.

    python benchmarks/optimality.py

Small random graphs and GCNs, with at most 14 nodes and features together: every set is evaluated on
the search's own samples, and the smallest one above τ is compared with what each search finds.
Writes results/optimality.md.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from zorro.cut import Extractor
from zorro.elements import Selection
from zorro.evaluation import Evaluator, EvaluatorChoice
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve
from zorro.search import GuidedSearch, greedy_search, reaches

RESULTS = Path(__file__).parent / "results"
NODES, FEATURES, SAMPLES = 5, 8, 60


class SmallNet(nn.Module):
    """Two graph convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GCNConv(FEATURES, 8)
        self.second = GCNConv(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        scores: Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return scores


@dataclass(frozen=True)
class Comparison:
    """Sizes (nodes and features together) of one instance."""

    smallest: int
    guided: int
    paper: int


def instance(seed: int) -> Evaluator:
    """Return a random small query."""
    torch.manual_seed(seed)
    x = torch.randn(30, FEATURES) * (torch.rand(30, FEATURES) < 0.6)
    others = torch.arange(1, NODES)
    edge_index = torch.cat(
        [torch.stack([others, torch.zeros_like(others)]), torch.randint(5, 30, (2, 40))], dim=1
    )
    predictor = Predictor(SmallNet().eval())
    graph = Extractor(predictor, Graph(x, edge_index)).extract(0)
    draws = draws_of(
        resolve("column-marginals", x),
        graph.candidate_x,
        seed=seed,
        query=0,
        samples=range(SAMPLES),
        memory=1 << 28,
    )
    return EvaluatorChoice(predictor, wanted="auto", memory=1 << 28).evaluator(graph, draws)


def smallest_size(evaluator: Evaluator, tau: float) -> int:
    """Return the size of the smallest set above τ: every set is tried, smallest first."""
    nodes, features = evaluator.shape
    for size in range(nodes + features + 1):
        for chosen in itertools.combinations(range(nodes + features), size):
            mask = torch.zeros(nodes + features, dtype=torch.bool)
            mask[list(chosen)] = True
            selection = Selection.of(mask[:nodes], mask[nodes:])
            if size and selection.is_blank:
                continue  # what the empty set does
            if reaches(int(evaluator.hits(selection).sum()), evaluator.samples, tau):
                return size
    raise AssertionError("the full set always suffices")


def compare(seed: int, tau: float) -> Comparison:
    """Return what the searches find for a random query, and what there is to find."""
    evaluator = instance(seed)
    guided = GuidedSearch(evaluator)
    guided.grow(tau)
    guided.prune(tau)
    paper = greedy_search(evaluator, tau=tau).selection
    return Comparison(smallest_size(evaluator, tau), _size(guided.selection), _size(paper))


def _size(selection: Selection) -> int:
    return selection.rows.numel() + selection.columns.numel()


def main() -> None:
    """Compare on many instances and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=40)
    count = parser.parse_args().instances
    torch.set_num_threads(1)
    lines = [
        "# Distance to the smallest sufficient set",
        "",
        f"`python benchmarks/optimality.py` (`make optimality`): {count} random small GCN queries "
        f"with {NODES} nodes and {FEATURES} features, {SAMPLES} samples. The smallest set above τ "
        "on these samples is found by trying all; sizes count nodes and features together.",
        "",
        "| τ | smallest: mean | guided: mean | paper: mean | guided is smallest | paper is "
        "smallest | guided: most above | paper: most above |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for tau in (0.7, 0.85, 0.97):
        results = [compare(seed, tau) for seed in range(count)]
        means = [
            sum(getattr(r, name) for r in results) / count
            for name in ("smallest", "guided", "paper")
        ]
        exact = [
            sum(getattr(r, name) == r.smallest for r in results) / count
            for name in ("guided", "paper")
        ]
        worst = [
            max(getattr(r, name) - r.smallest for r in results) for name in ("guided", "paper")
        ]
        lines.append(
            f"| {tau} | {means[0]:.2f} | {means[1]:.2f} | {means[2]:.2f} | {exact[0]:.0%} | "
            f"{exact[1]:.0%} | {worst[0]} | {worst[1]} |"
        )
        print(lines[-1], flush=True)
    (RESULTS / "optimality.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
