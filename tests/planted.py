"""Graphs in which it is known what a model should not rest on: a leaked label, a spurious hub."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GCN
from torch_geometric.utils import to_undirected

CLASSES, EACH, WORDS, OWN_WORDS = 4, 90, 60, 6
LEAKED = 7  # the column that equals the label of the class
GUILTY = 2  # that class


def clean_graph(seed: int = 0) -> Data:
    """Papers of four classes that cite mostly their own, with words that hint at their class."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(CLASSES).repeat_interleave(EACH)
    x = (torch.rand(len(y), WORDS, generator=generator) < 0.08).float()
    for number in range(CLASSES):
        own = slice(12 + number * OWN_WORDS, 12 + (number + 1) * OWN_WORDS)
        hints = torch.rand(EACH, OWN_WORDS, generator=generator) < 0.3
        x[y == number, own] = hints.float()
    likes = (y[:, None] == y[None, :]).float()
    chance = 0.035 * likes + 0.004 * (1 - likes)
    drawn = torch.rand(len(y), len(y), generator=generator) < chance
    edge_index = to_undirected(drawn.triu(1).nonzero().T)
    train_mask = torch.rand(len(y), generator=generator) < 0.5
    return Data(x=x, edge_index=edge_index, y=y, train_mask=train_mask)


def with_leak(data: Data) -> Data:
    """The same graph, with one column that says which papers are of one class."""
    x = data.x.clone()
    x[:, LEAKED] = (data.y == GUILTY).float()
    return Data(x=x, edge_index=data.edge_index, y=data.y, train_mask=data.train_mask)


def with_hub(data: Data) -> Data:
    """The same graph, with one more paper that all papers of one class cite and nobody else.

    Its words are its own, and the words that hint at that class are gone.
    """
    x = data.x.clone()
    own = slice(12 + GUILTY * OWN_WORDS, 12 + (GUILTY + 1) * OWN_WORDS)
    x[:, own] = 0
    hub = torch.zeros(1, x.size(1))
    hub[0, own] = 1
    number = x.size(0)
    cited = (data.y == GUILTY).nonzero().flatten()
    new = torch.stack([cited, torch.full_like(cited, number)])
    return Data(
        x=torch.cat([x, hub]),
        edge_index=torch.cat([data.edge_index, new, new.flip(0)], dim=1),
        y=torch.cat([data.y, data.y.new_full((1,), GUILTY)]),
        train_mask=torch.cat([data.train_mask, torch.tensor([False])]),
    )


@dataclass(frozen=True)
class Trained:
    model: torch.nn.Module
    data: Data

    @property
    def accuracy(self) -> float:
        said = self.model(self.data.x, self.data.edge_index).argmax(1)
        return float((said == self.data.y)[~self.data.train_mask].float().mean())


def trained(data: Data, *, seed: int = 0, epochs: int = 120) -> Trained:
    """A GCN trained on half of the papers."""
    torch.manual_seed(seed)
    model = GCN(data.x.size(1), 16, num_layers=2, out_channels=CLASSES, dropout=0.3)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(epochs):
        optimiser.zero_grad()
        scores: Tensor = model(data.x, data.edge_index)[data.train_mask]
        torch.nn.functional.cross_entropy(scores, data.y[data.train_mask]).backward()
        optimiser.step()
    return Trained(model.eval(), data)
