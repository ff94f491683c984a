"""What the states of a model's entries are sums of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from torch import Tensor, fx

from zorro.elements import Selection
from zorro.evaluation.traced.change import Change

States = Mapping[fx.Node, Tensor]  # of each entry, (q, S, h)
Changes = Callable[[Tensor, Tensor], dict[fx.Node, Change]]  # of candidates (p,) in samples (p,)


class Toggled(NamedTuple):
    """What toggling each of k candidates changes."""

    differs: Tensor  # (k, S) bool: in which samples it changes anything
    changes: Changes


class Terms(Protocol):
    """Summands of the entries' states, each entry's with its constants."""

    def of_noise(self) -> dict[fx.Node, Tensor]:
        """Return them with nothing selected, (q, S, h); they may share memory with others."""
        ...

    def added(self, selection: Selection) -> dict[fx.Node, Tensor]:
        """Return what a selection adds to them, (q, S, h)."""
        ...

    def toggling_features(self, base: States, selection: Selection, columns: Tensor) -> Toggled:
        """Return what toggling each of `columns` (k,) changes in states under a selection."""
        ...

    def toggling_nodes(self, base: States, selection: Selection, rows: Tensor) -> Toggled:
        """Return what toggling each of `rows` (k,) changes in states under a selection."""
        ...

    def feature_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return Σ_s ⟨gradient, change⟩ for adding each feature to a selection, (d,)."""
        ...

    def node_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return the same for adding each node, (n,)."""
        ...


def together(parts: list[Toggled]) -> Toggled:
    """Return what toggling candidates changes in all of the terms."""
    if len(parts) == 1:
        return parts[0]
    differs = parts[0].differs
    for part in parts[1:]:
        differs = differs | part.differs

    def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
        found: dict[fx.Node, list[Change]] = {}
        for part in parts:
            for node, change in part.changes(candidate, sample).items():
                found.setdefault(node, []).append(change)
        return {node: Change.joined(each) for node, each in found.items()}

    return Toggled(differs, changes)
