"""Models of graphs of several types, called by dictionaries, as models of one packed graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.explain.algorithm.utils import clear_masks, set_hetero_masks, set_masks
from torch_geometric.nn import HGTConv

from zorro.elements.types import Relation
from zorro.errors import InputError, ModelError
from zorro.model.as_module import uncalled
from zorro.model.data_model import takes_data
from zorro.model.packing import Columns, Packing, packed_name
from zorro.model.picked_output import Part, part_of
from zorro.model.signature import names, parameters_of, takes

_HOMOGENEOUS = ("edge_type", "edge_types")  # arguments of models of one matrix for all types


class Unpacking(Protocol):
    """A packed graph, taken apart by type and relation."""

    node_type: Any
    edge_index: Any
    edge_type: Any

    def features(self, number: int, at: Columns) -> Any:
        """Return the features of a type's nodes, as the model takes them."""
        ...

    def together(self, parts: Mapping[int, Columns]) -> Any:
        """Return one matrix with the features of all types, given where each type's stand."""
        ...

    def edges(self, number: int) -> Any:
        """Return the edges of a relation (2, e)."""
        ...

    def of_nodes(self, packed: Any, number: int, at: Columns) -> Any:
        """Return what a further argument has for a type's nodes."""
        ...

    def of_edges(self, packed: Any, number: int, at: Columns) -> Any:
        """Return what a further argument has for a relation's edges."""
        ...

    def of_batch(self, batch: Any, number: int) -> Any:
        """Return in which graph each of a type's nodes is."""
        ...

    def ends(self, edge_label_index: Any) -> Any:
        """Return the ends of links (2, k) by their numbers in their types."""
        ...

    def count(self, number: int) -> int:
        """Return how many nodes of a type there are."""
        ...

    def placed(self, output: Any, number: int) -> Any:
        """Return a type's rows among those of all nodes."""
        ...


class _ByRows:
    """Takes a packed graph apart: each type's nodes are numbered from 0."""

    def __init__(
        self,
        x: Tensor,
        edge_index: Tensor,
        node_type: Tensor,
        edge_type: Tensor,
        types: int,
        relations: int,
    ) -> None:
        self.node_type = node_type
        self.edge_index = edge_index
        self.edge_type = edge_type
        self._x = x
        self._rows = [(node_type == number).nonzero().flatten() for number in range(types)]
        self._columns = [(edge_type == each).nonzero().flatten() for each in range(relations)]
        self._place = torch.empty_like(node_type)
        for some in self._rows:
            self._place[some] = torch.arange(some.numel(), device=node_type.device)

    def features(self, number: int, at: Columns) -> Tensor:
        return block(self._x, self._rows[number], at)

    def together(self, parts: Mapping[int, Columns]) -> Tensor:
        first = next(iter(parts.values()))
        whole = self._x.new_zeros(self._x.size(0), first.count).to(first.dtype)
        for number, at in parts.items():
            values = block(self._x, self._rows[number], at).view(-1, first.count)
            whole = whole.index_add(0, self._rows[number], values)
        return whole

    def edges(self, number: int) -> Tensor:
        return self._place[self.edge_index[:, self._columns[number]]]

    def of_nodes(self, packed: Tensor, number: int, at: Columns) -> Tensor:
        return block(packed, self._rows[number], at)

    def of_edges(self, packed: Tensor, number: int, at: Columns) -> Tensor:
        return block(packed, self._columns[number], at)

    def of_batch(self, batch: Tensor, number: int) -> Tensor:
        return batch[self._rows[number]]

    def ends(self, edge_label_index: Tensor) -> Tensor:
        return self._place[edge_label_index]

    def count(self, number: int) -> int:
        return self._rows[number].numel()

    def placed(self, output: Any, number: int) -> Any:
        if not isinstance(output, Tensor) or self.count(number) == self.node_type.numel():
            return output
        whole = output.new_zeros(self.node_type.numel(), output.size(1))
        return whole.index_add(0, self._rows[number], output)


class HeteroModel(nn.Module):
    """Unpacks a graph into dictionaries by type and relation, and calls the model with them.

    It is called as `model(x_dict, edge_index_dict, **kwargs)`; with one `HeteroData` if it takes
    a single argument; as `model(x, edge_index, edge_type, …)` if it has an argument of that name:
    then all types have features in the same columns.

    Args:
        model: that is explained.
        packing: of the graph.
        answers: the type whose nodes it answers for; None where it answers for links or graphs.
        ends: the types of the ends of links that it answers for.
        part: what picks the scores out of what it returns, if there is more.
    """

    def __init__(
        self,
        model: Any,
        packing: Packing,
        *,
        answers: str | None = None,
        ends: tuple[str, str] | None = None,
        part: Part | None = None,
    ) -> None:
        super().__init__()
        self.model = uncalled(model)
        self.packing = packing
        self.answers = answers
        self.ends = ends
        self._part = part
        self._takes_data = takes_data(self.model)
        taken = names(parameters_of(self.model) or ())
        self._type_argument = next((name for name in _HOMOGENEOUS if name in taken), None)
        self._takes_node_type = "node_type" in taken
        self.message_mask: Tensor | None = None  # (e,) by which messages are scaled, if they are

    def check_takes_graphs(self) -> None:
        """Refuse a model that is not told which node belongs to which graph."""
        name = "batch_dict" if self._type_argument is None else "batch"
        if self._takes_data or takes(self.model, name):
            return
        taken = ", ".join(names(parameters_of(self.model) or ()))
        raise InputError(
            f"model: expected one that takes {name}, each node's graph"
            f"{' by type' if name == 'batch_dict' else ''}, got one that takes {taken}"
        )

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        node_type: Tensor,
        edge_type: Tensor,
        **kwargs: Any,
    ) -> Any:
        """Return a row per node, of which those of other types than the answers' are zero.

        Or a row per link or graph, where the model answers for these.
        """
        types = self.packing.types
        graph = _ByRows(x, edge_index, node_type, edge_type, len(types.nodes), len(types.relations))
        return self.called(graph, kwargs)

    def called(self, graph: Unpacking, kwargs: Mapping[str, Any]) -> Any:
        """Call the model with what a graph is unpacked to.

        Args:
            graph: gives the parts.
            kwargs: further arguments, packed dictionaries among them.
        """
        packing, types = self.packing, self.packing.types
        rest = dict(kwargs)
        further: dict[str, Any] = {}
        for name, dictionary in packing.nodes.items():
            packed = rest.pop(packed_name("node", name))
            further[name] = {
                types.names[number]: graph.of_nodes(packed, number, at)
                for number, at in dictionary.columns.items()
            }
        for name, dictionary in packing.edges.items():
            packed = rest.pop(packed_name("edge", name))
            further[name] = {
                types.relations[number]: graph.of_edges(packed, number, at)
                for number, at in dictionary.columns.items()
            }
        if self.ends is not None and "edge_label_index" in rest:
            rest["edge_label_index"] = graph.ends(rest["edge_label_index"])
        if self._type_argument is not None:
            return self._answers(self._called_as_one(graph, {**rest, **further}), graph)
        if "batch" in rest:
            batch = rest.pop("batch")
            further["batch_dict"] = {
                name: graph.of_batch(batch, number) for number, name in enumerate(types.names)
            }
        x_dict = {
            name: graph.features(number, at)
            for number, (name, at) in enumerate(zip(types.names, packing.features, strict=True))
            if at is not None
        }
        edge_index_dict = {
            relation: graph.edges(number) for number, relation in enumerate(types.relations)
        }
        if self.message_mask is not None:
            self._mask(graph, edge_index_dict)
        try:
            if self._takes_data:
                counts = {name: graph.count(number) for number, name in enumerate(types.names)}
                output = self.model(_as_data(x_dict, edge_index_dict, counts, further, rest))
            else:
                output = self.model(x_dict, edge_index_dict, **rest, **further)
        finally:
            if self.message_mask is not None:
                clear_masks(self.model)
        return self._answers(output, graph)

    def _called_as_one(self, graph: Unpacking, kwargs: Mapping[str, Any]) -> Any:
        """Call a model that takes one matrix, whose columns mean another thing for each type."""
        parts = {number: at for number, at in enumerate(self.packing.features) if at is not None}
        told = {"node_type": graph.node_type} if self._takes_node_type else {}
        told[str(self._type_argument)] = graph.edge_type
        return self.model(graph.together(parts), graph.edge_index, **told, **kwargs)

    def _answers(self, output: Any, graph: Unpacking) -> Any:
        if self._part is not None:
            output = part_of(output, self._part)
        if self.answers is None:
            return output  # checked by whoever called
        if isinstance(output, Mapping):
            if output.get(self.answers) is None:
                given = ", ".join(repr(name) for name in output if output[name] is not None)
                raise ModelError(
                    f"the model returns no scores for {self.answers!r}: it returned a dictionary "
                    f"with {given or 'nothing'}"
                )
            output = output[self.answers]
        if isinstance(output, Tensor):
            output = output.unsqueeze(1) if output.dim() == 1 else output
            if output.size(0) == graph.node_type.numel() and self._type_argument is not None:
                return output
            self._check_rows(output, graph.count(self._answering))
        return graph.placed(output, self._answering)

    @property
    def _answering(self) -> int:
        """The number of the type whose nodes it answers for."""
        assert self.answers is not None
        return self.packing.types.names.index(self.answers)

    def _check_rows(self, output: Tensor, count: int) -> None:
        if output.dim() != 2 or output.size(0) != count:
            raise ModelError(
                f"the model must return one row of scores for each node of {self.answers!r}, "
                f"({count}, classes); it returned {tuple(output.shape)}"
            )

    def _mask(self, graph: Unpacking, edge_index_dict: dict[Relation, Tensor]) -> None:
        """Tell layers by which their messages are scaled: of one relation, or of all in a row."""
        assert self.message_mask is not None
        masks = {
            relation: self.message_mask[graph.edge_type == number]
            for number, relation in enumerate(edge_index_dict)
        }
        set_hetero_masks(self.model, masks, edge_index_dict, apply_sigmoid=False)
        every = torch.cat(list(masks.values()))
        ends = torch.cat(list(edge_index_dict.values()), dim=1)
        for module in self.model.modules():
            if isinstance(module, HGTConv):
                set_masks(module, every, ends, apply_sigmoid=False)


def block(x: Tensor, rows: Tensor, at: Columns) -> Tensor:
    """Return the features of a type's nodes, as the model takes them."""
    if x.layout == torch.strided:
        values = x[:, at.first : at.first + at.count][rows]
    else:
        some = x.index_select(0, rows).coalesce()
        row, column = some.indices()
        mine = (column >= at.first) & (column < at.first + at.count)
        values = some.values().new_zeros(rows.numel(), at.count)
        values[row[mine], column[mine] - at.first] = some.values()[mine]
    values = values[:, 0] if at.is_flat else values
    return values if values.dtype == at.dtype else _as(values, at.dtype)


def _as(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Return numbers as the model takes them; those for a gradient stay what they are."""
    if values.requires_grad and not dtype.is_floating_point:
        values = values.detach()
    return values.to(dtype)


def _as_data(
    x_dict: Mapping[str, Tensor],
    edge_index_dict: Mapping[Relation, Tensor],
    counts: Mapping[str, int],
    further: Mapping[str, Mapping[Any, Any]],
    kwargs: Mapping[str, Any],
) -> HeteroData:
    """Return PyG's `HeteroData` of what a model is given."""
    data = HeteroData()
    for name, count in counts.items():
        data[name].num_nodes = count
        if name in x_dict:
            data[name].x = x_dict[name]
    for relation, edge_index in edge_index_dict.items():
        data[relation].edge_index = edge_index
    for name, by_key in further.items():
        for key, value in by_key.items():
            data[key][name.removesuffix("_dict")] = value
    for name, value in kwargs.items():
        data[name] = value
    return data
