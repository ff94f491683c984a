"""A call of PyG's `Explainer`: what is asked, what the model says, and the masks of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.explain import HeteroExplanation

from zorro.elements.edges import edge_columns
from zorro.explanation import Explanation
from zorro.explanation.explanation import MaskType
from zorro.model.link_model import as_link_model
from zorro.model.picked_output import picked
from zorro.model.predictor import Predictor
from zorro.pyg.hetero_levels import HeteroCall, HeteroLevel, hetero_level
from zorro.pyg.levels import LEVELS, Call, LevelOfOneType, TaskLevel
from zorro.question.reading import Output, Reading

K = TypeVar("K")


class Asked(Protocol):
    """A call, with one matrix of features or with several."""

    @property
    def level(self) -> TaskLevel:
        """The outputs that can be asked about."""
        ...

    def scores(self, reading: Reading, output: Output | None) -> tuple[Predictor, Tensor]:
        """Return what the model says of all outputs (k, C), as PyG calls it, and by whom it is.

        Args:
            reading: what the columns mean.
            output: what picks the scores out of what the model returns, or a column.
        """
        ...

    def explanation(
        self,
        explanations: Mapping[int, Explanation],
        *,
        node_mask_type: MaskType | None,
        edges: bool,
    ) -> PygExplanation | HeteroExplanation:
        """Return PyG's explanation, with masks that are the unions of all explanations'.

        Args:
            explanations: by the numbers of their outputs.
            node_mask_type: of the masks of nodes; None if there is to be none.
            edges: whether there is to be one of edges.
        """
        ...


@dataclass(frozen=True)
class AskedOfOneType:
    """A call `explainer(x, edge_index, …)`."""

    call: Call
    task_level: str

    @cached_property
    def level(self) -> LevelOfOneType:
        """The outputs that can be asked about."""
        return LEVELS[self.task_level](self.call)

    def scores(self, reading: Reading, output: Output | None) -> tuple[Predictor, Tensor]:
        """Return what the model says of all outputs (k, C)."""
        call, level = self.call, self.level
        model = as_link_model(call.model) if level.each == "link" else call.model
        predictor = Predictor(picked(model, output), reading=reading)
        return predictor, predictor.scores(
            call.x, call.edge_index, level.inputs, rows=level.count, each=level.each
        )

    def explanation(
        self,
        explanations: Mapping[int, Explanation],
        *,
        node_mask_type: MaskType | None,
        edges: bool,
    ) -> PygExplanation:
        """Return an explanation with one mask of nodes and one of edges."""
        call, level = self.call, self.level
        masks = {}
        if node_mask_type is not None:
            each = (
                level.placed(found.node_mask(node_mask_type), number)
                for number, found in explanations.items()
            )
            masks["node_mask"] = reduce(torch.maximum, each).to(call.x)
        if edges:
            kept = {
                edge
                for number, found in explanations.items()
                for edge in level.renamed(found.edges, number)
            }
            columns = edge_columns(
                sorted(kept),
                call.edge_index,
                nodes=call.x.size(0),
                directed=next(iter(explanations.values())).graph.directed,
                attributes=level.edge_attributes,
            )
            masks["edge_mask"] = columns.float()  # (E,)
        # By id and not in a list: PyG takes a list as long as the graph for a node attribute.
        return PygExplanation(**masks, zorro=explanations)


@dataclass(frozen=True)
class AskedOfSeveralTypes:
    """A call `explainer(x_dict, edge_index_dict, …)`."""

    call: HeteroCall
    task_level: str

    @cached_property
    def level(self) -> HeteroLevel:
        """The outputs that can be asked about."""
        return hetero_level(self.call, self.task_level)

    def scores(self, reading: Reading, output: Output | None) -> tuple[Predictor, Tensor]:
        """Return what the model says of all outputs (k, C)."""
        level = self.level
        model = picked(_AsPygCalls(self.call, level.inputs), output)
        predictor = Predictor(_OfType(model, self.call.output_type), reading=reading)
        nothing = torch.empty(level.count, 0)  # the model has its dictionaries
        return predictor, predictor.scores(
            nothing, torch.empty(2, 0, dtype=torch.long), {}, rows=level.count, each=level.each
        )

    def explanation(
        self,
        explanations: Mapping[int, Explanation],
        *,
        node_mask_type: MaskType | None,
        edges: bool,
    ) -> HeteroExplanation:
        """Return an explanation with masks by type and by relation."""
        level = self.level
        explained = HeteroExplanation()
        if node_mask_type is not None:
            of_nodes = (
                level.node_masks(found, number, node_mask_type)
                for number, found in explanations.items()
            )
            explained.set_value_dict("node_mask", _unions(of_nodes, torch.maximum))
        if edges:
            of_edges = (level.edge_masks(found, number) for number, found in explanations.items())
            joined = _unions(of_edges, torch.logical_or)
            explained.set_value_dict(
                "edge_mask", {relation: mask.float() for relation, mask in joined.items()}
            )
        explained.zorro = dict(explanations)
        return explained


class _AsPygCalls(nn.Module):
    """A model that is called with the dictionaries of a call, whatever it is given."""

    def __init__(self, call: HeteroCall, inputs: Mapping[str, Any]) -> None:
        super().__init__()
        self.model = call.model
        self._call, self._inputs = call, inputs

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        """Return what the model returns in PyG's call."""
        return self.model(self._call.x, self._call.edge_index, **self._inputs)


class _OfType(nn.Module):
    """The scores of a type, of a model that returns those of several."""

    def __init__(self, model: nn.Module, name: Any) -> None:
        super().__init__()
        self.model = model
        self._name = name

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        """Return them."""
        output = self.model(x, edge_index)
        told = isinstance(output, Mapping) and self._name in output
        return output[self._name] if told else output


def _unions(
    every: Iterable[Mapping[K, Tensor]], union: Callable[[Tensor, Tensor], Tensor]
) -> dict[K, Tensor]:
    """Return the unions of masks that have the same keys."""
    joined: dict[K, Tensor] = {}
    for masks in every:
        for key, mask in masks.items():
            joined[key] = union(joined[key], mask) if key in joined else mask
    return joined
