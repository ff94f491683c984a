"""A graph of several types of which one type's nodes are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from zorro import data as datasets
from zorro.cli.feature_groups import groups_by_type
from zorro.cli.levels import without_those_of_links
from zorro.cli.other_class import against_a_class
from zorro.data.hetero_catalogue import chosen_target
from zorro.data.names import names_of_types
from zorro.data.selection import select
from zorro.elements import KEPT
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.models import EdgeInputs
from zorro.question import Level, Query
from zorro.runs.typed_graph import TypedGraph, hetero_digest


@dataclass(frozen=True)
class TypeData:
    """One graph of several types.

    Args:
        name: of the data set, or its path.
        graph: that it holds.
        target: the type that is asked about.
    """

    name: str
    graph: HeteroData
    target: str
    level: ClassVar[Level] = "node"

    @classmethod
    def load(cls, name: str, target: str | None, record: Mapping[str, Any]) -> TypeData:
        """Return the graph of this name.

        Args:
            name: of the data set, or its path.
            target: the type, as the user says; what the record says when None.
            record: of how the model was trained; empty if there is none.
        """
        graph = datasets.load_hetero(name)
        recorded = record.get("target")
        if recorded is not None and target not in (None, recorded):
            raise InputError(
                f"--target: expected {recorded}, for which the model was trained, got {target}"
            )
        return cls(name, graph, chosen_target(graph, target or recorded, option="--target"))

    @property
    def num_features(self) -> int:
        """How many features all types have together."""
        return self.given().types.num_features

    @property
    def num_nodes(self) -> int | None:
        """None: each type has its own."""
        return None

    @property
    def num_classes(self) -> int | None:
        """How many classes are known, None if there are no labels."""
        y = self._of_target("y")
        return None if y is None else int(y.max()) + 1

    @property
    def out_channels(self) -> int:
        """How many classes there are, or an `InputError` if that is not known."""
        y = self._of_target("y")
        if y is None:
            raise InputError(
                f"--dataset: expected labels y of {self.target!r}, which tell the number of "
                "classes, got none: add them, or use a checkpoint that `zorro train` wrote"
            )
        return int(y.max()) + 1

    @property
    def names(self) -> Names:
        """What nodes, features and classes are called."""
        return names_of_types(self.name, self.given().types)

    @property
    def features(self) -> Tensor | None:
        """None: each type has features of its own."""
        return None

    def to(self, device: str) -> TypeData:
        """Return the graph on a device."""
        return replace(self, graph=self.graph.to(device))

    def inputs(self, model: nn.Module) -> EdgeInputs:
        """Return nothing: the model gets features and edges by type and relation."""
        return EdgeInputs()

    def model_kwargs(self, inputs: EdgeInputs) -> Mapping[str, Any]:
        """Return nothing, see `inputs`."""
        return {}

    def feature_groups(self, text: str | None) -> dict[str, list[list[int]]] | None:
        """Return the groups of columns by type that `--feature-groups` means."""
        return groups_by_type(text, {one.name: one.features for one in self.given().types.nodes})

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options of the command as `Zorro.of_hetero` takes them."""
        taken = without_those_of_links(options, self.level)
        if taken.get("keep") == KEPT:
            taken["keep"] = KEPT  # as nobody says: without features where no type has any
        return taken

    def question(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is asked of every node, as `Zorro.explain` takes it."""
        return against_a_class(without_those_of_links(said, self.level))

    def given(self) -> TypedGraph:
        """Return what a task explains."""
        return TypedGraph(self.graph, self.target)

    def digest(self, model_kwargs: Mapping[str, Any]) -> str:
        """Return a digest of the graph."""
        return hetero_digest(self.graph, model_kwargs)

    def shown(self) -> dict[str, Any]:
        """Return what the pages show of it, as options of `zorro.show.report.write`."""
        return {"hetero": self.graph, "target": self.target, "names": self.names}

    def audited(self) -> dict[str, Any]:
        """Return nothing: what chance would keep is not known of several types."""
        return {}

    def queries(self, spec: str, *, seed: int) -> list[Query]:
        """Return the nodes that a notation names."""
        about = self.given().about
        numbers = select(
            spec,
            what=f"{self.target}s",
            count=int(self.graph[self.target].num_nodes),
            test=self._test,
            lacking="a test_mask",
            seed=seed,
        )
        return [about.query(number) for number in numbers]

    def truth(self, queries: Sequence[Query]) -> dict[int, float] | None:
        """Return the true classes by the queries' keys, None if they are not known."""
        y = self._of_target("y")
        return (
            None if y is None else {query.key: int(y[query.numbers["node"]]) for query in queries}
        )

    def _test(self) -> NDArray[np.int64] | None:
        mask = self._of_target("test_mask")
        return None if mask is None else mask.nonzero().flatten().cpu().numpy()

    def _of_target(self, name: str) -> Tensor | None:
        found: Tensor | None = self.graph[self.target].get(name)
        return found
