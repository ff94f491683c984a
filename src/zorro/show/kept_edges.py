"""The edges that a set keeps, and which lines of a drawing they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from zorro.elements import EDGES
from zorro.elements.edges import EdgeElements, EdgeLabel
from zorro.explanation import Explanation

Elements = tuple[tuple[EdgeLabel, ...], ...]  # those that each line of a drawing stands for


@dataclass(frozen=True)
class KeptEdges:
    """The edges of a set.

    Args:
        labels: (u, v), or (u, v, k) for one of several between the same nodes.
        directed: whether an edge is another than its reverse.
    """

    labels: tuple[EdgeLabel, ...]
    directed: bool

    @classmethod
    def of(cls, explanation: Explanation) -> KeptEdges | None:
        """Return the edges that an explanation keeps, None if its set is not of edges."""
        if EDGES not in explanation.selected:
            return None
        return cls(explanation.edges, explanation.graph.directed)

    @property
    def ends(self) -> list[int]:
        """The nodes that the edges lead from and to, ascending."""
        return sorted({end for label in self.labels for end in label[:2]})

    def elements(self, lines: Sequence[tuple[int, int]], edge_index: Tensor) -> Elements:
        """Return the edges that may be kept for each line of a drawing.

        >>> import torch
        >>> several = torch.tensor([[0, 1, 1, 0, 1], [1, 0, 2, 1, 0]])
        >>> KeptEdges((), directed=False).elements([(1, 2), (1, 0)], several)
        (((1, 2),), ((0, 1, 0), (0, 1, 1)))
        >>> KeptEdges((), directed=True).elements([(2, 1)], several)
        (((1, 2),),)

        Args:
            lines: the nodes between which each leads.
            edge_index: (2, e), all edges between these nodes, by the same numbers.
        """
        nodes = int(edge_index.max()) + 1 if edge_index.numel() else 0
        every = EdgeElements.of(edge_index, {}, nodes=nodes, directed=self.directed)
        between = defaultdict(list)
        for label in every.labels:
            between[frozenset(label[:2])].append(label)
        return tuple(tuple(between[frozenset(line)]) for line in lines)
