"""How a query's output is read off a model that runs on several copies of a graph at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from zorro.question.query import Query


class Readout(Protocol):
    """What the model is told besides the graph, and which rows of its output are the answers."""

    @property
    def each(self) -> str:
        """What a row of the output is of."""
        ...

    @property
    def wanted(self) -> tuple[int, ...]:
        """Which rows of the output for one copy are the answer."""
        ...

    def inputs(self, copies: int, nodes: int, device: torch.device) -> dict[str, Any]:
        """Return further arguments for disjoint copies of a graph with so many nodes."""
        ...

    def count(self, copies: int, nodes: int) -> int:
        """Return how many rows the output has."""
        ...

    def rows(self, scores: Tensor, copies: int) -> Tensor:
        """Return the answer (copies, C) of each copy, of all scores (count, C)."""
        ...


@dataclass(frozen=True, eq=False)
class _OneRow:
    """One row of the output for each copy, of a model that needs no further arguments as a rule."""

    row: int

    @property
    def wanted(self) -> tuple[int, ...]:
        """The row."""
        return (self.row,)

    def inputs(self, copies: int, nodes: int, device: torch.device) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def rows(self, scores: Tensor, copies: int) -> Tensor:
        """Return the row in each copy."""
        return scores.view(copies, -1, scores.size(1))[:, self.row]


@dataclass(frozen=True)
class NodeRow(_OneRow):
    """A row per node, of which one is the answer."""

    each = "node"

    def count(self, copies: int, nodes: int) -> int:
        """Return a row for each node of each copy."""
        return copies * nodes


@dataclass(frozen=True)
class GraphRow:
    """A row per graph, each copy being one; PyG's `batch` tells which graph a node belongs to."""

    each = "graph"
    wanted = (0,)

    def inputs(self, copies: int, nodes: int, device: torch.device) -> dict[str, Any]:
        """Return the batch vector."""
        return {"batch": torch.arange(copies, device=device).repeat_interleave(nodes)}

    def count(self, copies: int, nodes: int) -> int:
        """Return a row for each copy."""
        return copies

    def rows(self, scores: Tensor, copies: int) -> Tensor:
        """Return all rows."""
        return scores


@dataclass(frozen=True, eq=False)
class RowOfBatch(_OneRow):
    """A row per graph of a batch that each copy is, of which one is the answer.

    Args:
        row: of the answer.
        batch: (n,) each node's graph.
    """

    batch: Tensor
    each = "graph"

    def inputs(self, copies: int, nodes: int, device: torch.device) -> dict[str, Any]:
        """Return the batch vector, in which each copy has graphs of its own."""
        first = torch.arange(copies, device=device).unsqueeze(1) * self._graphs  # (copies, 1)
        return {"batch": (first + self.batch).flatten()}

    def count(self, copies: int, nodes: int) -> int:
        """Return a row for each graph of each copy."""
        return copies * self._graphs

    @property
    def _graphs(self) -> int:
        return int(self.batch.max()) + 1


@dataclass(frozen=True)
class RowOfOutput(_OneRow):
    """A row of what a model returns, which is told nothing of graphs or links.

    Such a model may not keep copies apart; they run one by one then.

    Args:
        row: of the answer.
        outputs: how many rows there are for one copy.
    """

    outputs: int
    each = "output"

    def count(self, copies: int, nodes: int) -> int:
        """Return all rows of each copy."""
        return copies * self.outputs


@dataclass(frozen=True)
class LinkRows:
    """A row per link that is asked about; PyG's `edge_label_index` tells which these are.

    Args:
        source: row of the node that they lead from.
        targets: rows of those that they lead to. Several are compared: their scores stand side
            by side then.
    """

    source: int
    targets: tuple[int, ...]
    each = "link"

    @property
    def wanted(self) -> tuple[int, ...]:
        """A row for each link."""
        return tuple(range(len(self.targets)))

    def inputs(self, copies: int, nodes: int, device: torch.device) -> dict[str, Any]:
        """Return the links, copy by copy."""
        first = torch.arange(copies, device=device).unsqueeze(1) * nodes  # (copies, 1)
        targets = first + torch.tensor(self.targets, device=device)  # (copies, k)
        sources = (first + self.source).expand_as(targets)
        return {"edge_label_index": torch.stack([sources.flatten(), targets.flatten()])}

    def count(self, copies: int, nodes: int) -> int:
        """Return a row for each link of each copy."""
        return copies * len(self.targets)

    def rows(self, scores: Tensor, copies: int) -> Tensor:
        """Return the link's row in each copy, or (copies, k) scores of several links."""
        if len(self.targets) == 1:
            return scores
        return scores[:, -1].view(copies, len(self.targets))


def readout_of(query: Query, places: Sequence[int]) -> Readout:
    """Return how a query is read off a graph in which its seeds stand at some places."""
    if query.level == "graph":
        return GraphRow()
    first, *ends = places
    return LinkRows(first, tuple(ends)) if ends else NodeRow(first)
