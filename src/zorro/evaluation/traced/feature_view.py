"""Some columns of the features, as a model of several types is given them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from zorro.model.packing import Columns


@dataclass(frozen=True)
class FeatureView:
    """Columns of the features side by side, or those of several types on top of one another.

    It stands in a trace as a function of the features.

    Args:
        columns: where each part begins among the columns of the features, all in the same columns
            of the view.
        width: of the view.
        are_numbers: whether it is one column of whole numbers, which are looked up in tables.
        is_flat: whether the model gets (n,), not (n, 1).
    """

    columns: tuple[int, ...]
    width: int
    are_numbers: bool = False
    is_flat: bool = False

    @classmethod
    def of(cls, parts: list[Columns]) -> FeatureView:
        """Return the view of some types' features, which are equally wide."""
        numbers = [not part.dtype.is_floating_point and part.count == 1 for part in parts]
        first = parts[0]
        return cls(tuple(part.first for part in parts), first.count, all(numbers), first.is_flat)

    @property
    def __name__(self) -> str:
        return f"columns {self.columns[0]} to {self.columns[0] + self.width}"

    def __call__(self, x: Any) -> Any:
        """Take the step in the model that is being traced."""
        return x.tracer.create_proxy(
            "call_function", self, (x,), {}, proxy_factory_fn=lambda node: _Seen(node, x.tracer)
        )

    def lifted(self, weight: Tensor | None, like: Tensor) -> Tensor:
        """Return what a weight (w, h) of the view is for all columns, (d, h).

        Args:
            weight: None is the identity.
            like: the features (n, d).
        """
        if weight is None:
            weight = torch.eye(self.width, device=like.device, dtype=like.dtype)
        lifted = weight.new_zeros(like.size(1), weight.size(1))
        for first in self.columns:
            lifted[first : first + self.width] = weight
        return lifted


class _Seen(fx.Proxy):
    """What stands for a view in a trace: models may ask what it looks like."""

    @property
    def _view(self) -> FeatureView:
        view = self.node.target
        assert isinstance(view, FeatureView)
        return view

    def dim(self) -> int:
        return 1 if self._view.is_flat else 2

    @property
    def ndim(self) -> int:
        return self.dim()

    def size(self, dim: int | None = None) -> Any:
        if dim in (1, -1) and not self._view.is_flat:
            return self._view.width
        return super().__getattr__("size")(dim)

    def is_floating_point(self) -> bool:
        return not self._view.are_numbers
