"""The two directions of an undirected edge as one: what measures of sets of edges count."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_hard_mask, checked_mask


@dataclass(frozen=True, eq=False)
class UndirectedEdges:
    """The undirected edges of an edge index.

    Columns (u, v) and (v, u) are one edge, and so are several of either; an edge that is there in
    one direction only is one as well.

    Args:
        ends: (m, 2), the nodes of each edge, the smaller first, in ascending order.
        of_column: (e,), which of them each column of the edge index is.

    Example:
        >>> import torch
        >>> from zorro.metrics import UndirectedEdges
        >>> edges = UndirectedEdges.of(torch.tensor([[0, 1, 2], [1, 0, 1]]))
        >>> edges.ends.tolist()
        [[0, 1], [1, 2]]
        >>> edges.total(torch.tensor([0.5, 0.25, 1.0]))
        tensor([0.7500, 1.0000])
        >>> edges.columns(torch.tensor([True, False]))
        tensor([ True,  True, False])

    """

    ends: Tensor
    of_column: Tensor

    @classmethod
    def of(cls, edge_index: Tensor) -> UndirectedEdges:
        """Return the edges of an edge index (2, e)."""
        if edge_index.dim() != 2 or edge_index.size(0) != 2:
            raise InputError(f"edge_index: expected shape (2, e), got {tuple(edge_index.shape)}")
        ordered = edge_index.sort(dim=0).values.t()  # (e, 2)
        ends, of_column = torch.unique(ordered, dim=0, return_inverse=True)
        return cls(ends, of_column)

    @property
    def count(self) -> int:
        """How many edges there are."""
        return self.ends.size(0)

    def total(self, values: Tensor) -> Tensor:
        """Return values (e,) of the columns added up for each edge, (m,)."""
        values = checked_mask(values, name="values", length=self.of_column.numel())
        if not values.is_floating_point():
            values = values.to(torch.get_default_dtype())
        return values.new_zeros(self.count).index_add(0, self.of_column, values)

    def any(self, mask: Tensor) -> Tensor:
        """Return which edges (m,) have a column in a hard mask (e,)."""
        return self.total(checked_hard_mask(mask, name="mask", length=self.of_column.numel())) > 0

    def columns(self, kept: Tensor) -> Tensor:
        """Return the columns (e,) of some edges (m,)."""
        kept = checked_hard_mask(kept, name="kept", length=self.count)
        return kept[self.of_column]
