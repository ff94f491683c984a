"""A graph of which links between nodes are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from zorro import data as datasets
from zorro import models
from zorro.cli.node_data import NodeData
from zorro.data import StoredGraph
from zorro.data.pairs import parse_pair
from zorro.errors import CheckpointError, InputError
from zorro.graph.names import LINK_CLASSES, Names
from zorro.models import EdgeInputs
from zorro.models.link_training import link_inputs
from zorro.question import Level, Query
from zorro.runs.given import LinksOf


@dataclass(frozen=True)
class LinkData:
    """One graph with links that carry messages and, where a split tells them, pairs to test.

    Args:
        messages: the graph as the model sees it: of a split without the links to test.
        links: (2, E) all of the graph's, those to test too; None if they are on disk.
        test: (2, k) pairs to test, links and others; None if no split tells them.
        threshold: above which the model's output says that there is a link, if that is known.
    """

    messages: NodeData
    links: Tensor | None
    test: Tensor | None = None
    threshold: float | None = None
    level: ClassVar[Level] = "link"

    @classmethod
    def load(cls, name: str, *, seed: int, record: Mapping[str, Any]) -> LinkData:
        """Return the graph of this name; if a record tells of training on links, with its split.

        Args:
            name: of the data set, or its path.
            seed: of what is random about it, the split too.
            record: of how the model was trained; empty if there is none.
        """
        whole = NodeData.load(name, seed=seed)
        graph = whole.graph
        if not record:
            return cls(whole, None if isinstance(graph, StoredGraph) else graph.edge_index)
        if isinstance(graph, StoredGraph):
            raise InputError(
                f"--dataset: expected a graph in memory, whose links are split as in training, got "
                f"{name}"
            )
        split = models.split_links(graph, seed=seed)
        return cls(
            NodeData(name, split.test),
            graph.edge_index,
            split.test.edge_label_index,
            _threshold(record),
        )

    @property
    def name(self) -> str:
        """The name of the data set, or its path."""
        return self.messages.name

    @property
    def num_features(self) -> int:
        """How many features a node has."""
        return self.messages.num_features

    @property
    def num_nodes(self) -> int | None:
        """How many nodes there are."""
        return self.messages.num_nodes

    @property
    def num_classes(self) -> int | None:
        """That there is a link, or none."""
        return 2

    @property
    def out_channels(self) -> int:
        """In how many numbers a node is encoded, where no record tells it."""
        return models.LinkTrainingSettings().width

    @property
    def names(self) -> Names:
        """What nodes, features and a model's two answers are called."""
        return replace(self.messages.names, classes=LINK_CLASSES)

    @property
    def features(self) -> Tensor | None:
        """The features of all nodes (N, d), None if they are not dense and in memory."""
        return self.messages.features

    def to(self, device: str) -> LinkData:
        """Return the graph on a device; pairs are told by their numbers anywhere."""
        return replace(self, messages=self.messages.to(device))

    def inputs(self, model: nn.Module) -> EdgeInputs:
        """Return what the graph has for the edges that carry messages and the model takes."""
        return link_inputs(model, self.messages.graph)

    def model_kwargs(self, inputs: EdgeInputs) -> Mapping[str, Any]:
        """Return what is passed to the model, as `Zorro.of_links` takes it."""
        return self.messages.model_kwargs(inputs)

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options of the command as `Zorro.of_links` takes them."""
        said = {name: options.get(name) for name in ("threshold", "tolerance", "tolerance_share")}
        if any(value is not None for value in said.values()):
            return dict(options)
        return {**options, "threshold": self.threshold}

    def question(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return with what every link is compared, as `Zorro.explain` takes it."""
        asked = dict(said)
        if asked.get("why_not") is not None:
            asked["why_not"] = parse_pair(asked["why_not"], name="--why-not")
        if asked.get("among") is not None:
            asked["among"] = _nodes("--among", asked["among"])
        return asked

    def given(self) -> LinksOf:
        """Return what a task explains."""
        return LinksOf(self.messages.given())

    def digest(self, model_kwargs: Mapping[str, Any]) -> str:
        """Return a digest of the graph with the edges that carry messages."""
        return self.messages.digest(model_kwargs)

    def shown(self) -> dict[str, Any]:
        """Return what the pages show of it, as options of `zorro.show.report.write`."""
        graph = self.messages.graph
        return {
            "x": graph.x,
            "edge_index": graph.edge_index,
            "y": graph.y,
            "names": self.names,
            "links": self.links,
            "node_class_names": self.messages.names.classes,
        }

    def audited(self) -> dict[str, Any]:
        """Return what an audit looks at, as options of `Run.audit`."""
        return {name: self.messages.audited()[name] for name in ("x", "edge_index")}

    def queries(self, spec: str, *, seed: int) -> list[Query]:
        """Return the links that a notation names."""
        nodes = self.messages.graph.num_nodes
        pairs = datasets.parse_links(spec, nodes=nodes, test=self.test, seed=seed)
        return [Query(self.level, u, v) for u, v in pairs]

    def truth(self, queries: Sequence[Query]) -> dict[int, float] | None:
        """Return by the queries' keys whether there is a link, None if that is not known."""
        if self.links is None:
            return None
        pairs = torch.tensor([query.asked for query in queries])  # (k, 2)
        count = self.messages.graph.num_nodes
        there = torch.isin(pairs @ torch.tensor([count, 1]), self.links[0] * count + self.links[1])
        return {query.key: int(is_link) for query, is_link in zip(queries, there, strict=True)}


def _threshold(record: Mapping[str, Any]) -> float | None:
    """Return the threshold that a record tells, if it does."""
    told = record.get("threshold")
    if told is not None and (isinstance(told, bool) or not isinstance(told, int | float)):
        raise CheckpointError(f"threshold: expected a number in the record, got {told!r:.40}")
    return told


def _nodes(option: str, text: str) -> list[int]:
    """Return nodes that are listed by their numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"{option}: expected nodes such as 9,12, got {text!r:.60}")
    return [int(part) for part in parts]
