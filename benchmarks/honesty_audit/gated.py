"""Models whose inputs influence each other in one batch, and only beside the set that is kept."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from honesty_audit.graphs import Graph

SIZE, HIGH_NODES, HIGH = 60, 25, 4.0
GATE, NEED = 1.5, 0.7


def _features(seed: int) -> Tensor:
    """Column 0 is high at the first nodes and low at all others, so that its mean is 0."""
    x = 0.3 * torch.randn(SIZE, 2, generator=torch.Generator().manual_seed(seed))
    x[:HIGH_NODES, 0] = HIGH
    x[HIGH_NODES:, 0] = -HIGH * HIGH_NODES / (SIZE - HIGH_NODES)
    return x


def _ring() -> Tensor:
    here = torch.arange(SIZE)
    there = (here + 1) % SIZE
    return torch.stack([torch.cat([here, there]), torch.cat([there, here])])


def rings() -> list[Data]:
    """Graphs of the first class, and as many of the second, whose nodes are turned around."""
    made = []
    for seed in range(12):
        x = _features(seed)
        made.append(Data(x=x.flip(0) if seed % 2 else x, edge_index=_ring(), y=torch.tensor([0])))
    return made


def ring(nodes: int) -> Graph:
    """One of them."""
    return Graph(_features(0), _ring(), torch.zeros(SIZE, dtype=torch.long))


class GatedByAll(nn.Module):
    """High values at the first nodes decide, unless the mean over all rows is above a gate.

    For true inputs and for noise alone that mean is far below, so that copies in one batch look
    independent. With the set kept it is just below: that over a batch stays there, that of a single
    input often does not.

    Args:
        of_nodes: whether each node gets its graph's answer.
    """

    def __init__(self, *, of_nodes: bool) -> None:
        super().__init__()
        self.of_nodes = of_nodes
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return two scores for each graph, or for each node."""
        evidence = x[:, 0].view(-1, SIZE)[:, :HIGH_NODES].sum(1) - NEED * HIGH_NODES * HIGH
        score = self.scale * torch.where(x[:, 0].mean() > GATE, -evidence, evidence)
        if self.of_nodes:
            score = score.repeat_interleave(SIZE)
        return torch.stack([-score, score], dim=1)
