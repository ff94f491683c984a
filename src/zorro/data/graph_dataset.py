"""Many graphs with a target each, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.data.graph_validation import check_graphs, check_members
from zorro.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphDataset:
    """Graphs that a model tells apart, with a split.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import GraphDataset
    >>> edge_index = torch.tensor([[0], [1]])
    >>> graphs = [Data(x=torch.eye(2), edge_index=edge_index, y=torch.tensor(c)) for c in (0, 1)]
    >>> none = torch.empty(0, dtype=torch.int64)
    >>> pair = GraphDataset(
    ...     name="pair", graphs=graphs, train=torch.tensor([0, 1]), val=none, test=none
    ... )
    >>> len(pair.graphs), pair.num_features, pair.num_classes, pair.targets.tolist()
    (2, 2, 2, [0, 1])

    Args:
        name: of the data set.
        graphs: each with `x` (n, d), `edge_index` (2, E), perhaps a target `y` and tensors with a
            row per edge, as `check_graphs` wants them.
        train: numbers of the graphs to train on.
        val: numbers of those that choose among a training's epochs; may be empty.
        test: numbers of those that tell how well a model does; may be empty.
        class_names: by class number; empty if they are not known, or the target is a value.
        feature_names: by column of `x`.
        edge_label_names: by column of `edge_attr`.
        smiles: each graph's molecule as a SMILES string.
    """

    name: str
    graphs: Sequence[Data]
    train: Tensor
    val: Tensor
    test: Tensor
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    edge_label_names: tuple[str, ...] = ()
    smiles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_graphs(self.graphs)
        for name, members in self.parts.items():
            check_members(name, members, graphs=len(self.graphs))
        divided = [number for members in self.parts.values() for number in members.tolist()]
        if len(set(divided)) != len(divided):
            raise InputError("train, val, test: expected no graph in two of them, got some")
        self._check_names()

    @property
    def parts(self) -> dict[str, Tensor]:
        """The split: numbers of graphs by `train`, `val` and `test`."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @property
    def num_features(self) -> int:
        """How many features a node has."""
        return int(self.graphs[0].x.size(1))

    @property
    def targets(self) -> Tensor:
        """Each graph's class (int64) or value, (B,)."""
        if self.graphs[0].get("y") is None:
            raise InputError(f"{self.name}: expected graphs with a target y, got none")
        return torch.stack([graph.y.reshape(()) for graph in self.graphs])

    @property
    def has_classes(self) -> bool:
        """Whether targets are class numbers, and not values."""
        y = self.graphs[0].get("y")
        return y is not None and not y.is_floating_point()

    @property
    def num_outputs(self) -> int:
        """How many numbers a model returns for a graph: a score per class, or one value."""
        return 1 if self.targets.is_floating_point() else self.num_classes

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        if not self.has_classes:
            raise InputError(f"{self.name}: expected targets that are classes, got values or none")
        return max(len(self.class_names), int(self.targets.max()) + 1)

    def _check_names(self) -> None:
        edge_attr = self.graphs[0].get("edge_attr")
        for name, texts, size in (
            ("feature_names", self.feature_names, self.num_features),
            (
                "edge_label_names",
                self.edge_label_names,
                edge_attr.size(1) if edge_attr is not None and edge_attr.dim() == 2 else None,
            ),
            ("smiles", self.smiles, len(self.graphs)),
            ("class_names", self.class_names, self.num_classes if self.class_names else None),
        ):
            if texts and len(texts) != size:
                raise InputError(f"{name}: expected {size or 'no'} names, got {len(texts)}")
