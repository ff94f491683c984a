"""A traced model, cut down to the rows that one query's output needs."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import torch
import torch_geometric.nn as gnn
from torch import Tensor, fx, nn
from torch.nn import functional
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import Aggregation

from zorro.cut import ComputationalGraph
from zorro.elements.types import NODE_TYPE
from zorro.evaluation.traced.change import Change, ChangedRows
from zorro.evaluation.traced.feature_view import FeatureView
from zorro.evaluation.traced.layers import Step, plan_of
from zorro.evaluation.traced.layers.pooling import plan_pooling
from zorro.evaluation.traced.layers.row_wise import refuse_if_it_looks_at_all_nodes
from zorro.evaluation.traced.looked_up import LookedUp
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.tables import Known, Tables, Value
from zorro.evaluation.traced.typed import OF_RELATIONS, EdgesOf, Join
from zorro.evaluation.traced.unserved import Unserved
from zorro.graph.edge_index import sorted_unique
from zorro.model.model_state import undisturbed

T = TypeVar("T")
_PlannedCall = tuple[fx.Node, Callable[[RowPlanner], Plan]]
_LINEAR = (nn.Linear, gnn.Linear)
_PRODUCTS = (torch.matmul, torch.mm, operator.matmul, "matmul", "mm", "__matmul__")
_UNCHANGED_MODULES = (nn.Dropout, nn.Identity)
_UNCHANGED_FUNCTIONS = (functional.dropout, torch.dropout)
_UNCHANGED_METHODS = ("float", "to", "contiguous", "type_as")  # if it is not so, it is noticed
_STILL_NUMBERS = ("long", "int", "squeeze", "flatten", "view", "reshape", "to")  # of one column
# Numbers that the features of all nodes an entry reads may have, if it keeps them as they are:
# they are held for hundreds of samples at once.
_WIDEST = 1 << 20
# Computing changed rows alone pays from so many numbers on, and up to this share of all rows.
_WORTH = 1 << 16
_CUDA_WORTH = 1 << 24
_MOST_CHANGED = 0.5
# For so few rows of the next layer what changed rows send is added up one by one.
_FEW_ROWS = 8


@dataclass(frozen=True)
class _Values:
    """Rows of a node-level value for a batch, (r, B, …)."""

    tensor: Tensor


@dataclass
class Activations:
    """What a run computed: values (r, B, …) that follow an entry row by row, and layers' states."""

    values: dict[fx.Node, Tensor] = field(default_factory=dict)
    states: dict[fx.Node, Tensor] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Activations]) -> Activations:
        """Return the activations of several batches as those of one; theirs are used up."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        # What a node passes on as it is stands there once, and no more is held twice than need be.
        same = {node: id(value) for node, value in first.values.items()}
        kept: dict[int, Tensor] = {}
        values: dict[fx.Node, Tensor] = {}
        for node in list(first.values):
            each = [part.values.pop(node) for part in parts]
            if same[node] not in kept:
                kept[same[node]] = torch.cat(each, 1)
            values[node] = kept[same[node]]
        states = {
            node: torch.cat([p.states.pop(node) for p in parts], 1) for node in [*first.states]
        }
        return cls(values, states)


class Program:
    """The part of a traced model that decides one query's output.

    Every value is computed only at the rows that the output depends on through the layers after
    it. Where the model first touches the features it is linear: these places are the program's
    `entries`, whose states the evaluator supplies; `run` does the rest.

    Args:
        model: the traced model.
        traced: its graph.
        graph: the query's computational graph.
        edges_vary: whether inputs differ in which edges there are.
    """

    name = "traced"
    holds_on_other_graphs = True  # what it reads here it reads on any part of the graph

    def __init__(
        self,
        model: nn.Module,
        traced: fx.Graph,
        graph: ComputationalGraph,
        *,
        edges_vary: bool = False,
    ) -> None:
        self._model = model
        self._graph = graph
        self.edges_vary = edges_vary
        self._modules = dict(model.named_modules())
        self._nodes = list(traced.nodes)
        self._static: dict[fx.Node, Any] = {}  # what does not depend on the features
        # The features themselves, and the columns of them that are seen, if not all are.
        self._raw: dict[fx.Node, FeatureView | None] = {}
        self._plans: dict[fx.Node, Plan] = {}
        self._inputs: dict[fx.Node, fx.Node] = {}  # of those with a plan
        self._needed: dict[fx.Node, Tensor] = {}  # (r,) ascending rows
        # Of joined values each that gives rows: its number, the value, and the rows' places (k,).
        self._joins: dict[fx.Node, list[tuple[int, fx.Node, Tensor]]] = {}
        self._columns: dict[
            fx.Node, Tensor
        ] = {}  # (e,) of edges that are not all, or who reads them
        self._kept: dict[str, Any] = {}  # what evaluators of this query share
        self.refuted = ""  # in what it turned out not to be the model
        self.deviation = 0.0  # from the model's scores, relative to 1 + the largest, once known
        with undisturbed(model), torch.no_grad():
            self._find_static()
            self._find_needed()
        self._nodes = [n for n in self._nodes if n in self._needed or n.op == "output"]
        for node, plan in self._plans.items():
            if self._inputs[node] in self._raw:
                self._plans[node] = self._on_features(plan, self._raw[self._inputs[node]])
        self.entries: dict[fx.Node, Plan] = {
            node: plan for node, plan in self._plans.items() if self._inputs[node] in self._raw
        }
        for node, plan in self.entries.items():
            is_wide = plan.needs.numel() * graph.x.size(1) > _WIDEST
            if is_wide and any(weight is None for weight in plan.weights):
                raise Unserved(f"{node} keeps all features of {plan.needs.numel()} nodes")

    def _on_features(self, plan: Plan, view: FeatureView | None) -> Plan:
        """Return the plan where its input is the features, or some columns of them."""
        if view is None:
            return plan if plan.on_features is None else plan.on_features()
        if plan.needs.numel() * view.width > _WIDEST and None in plan.weights:
            raise Unserved(f"{view.__name__} of {plan.needs.numel()} nodes are kept as they are")
        lifted = tuple(view.lifted(weight, self._graph.x) for weight in plan.weights)
        return replace(plan, weights=lifted, on_features=None)

    @property
    def looks_at_all_nodes(self) -> bool:
        """Whether a row depends on all others, so that copies in one batch would mix."""
        return any(plan.looks_at_all_nodes for plan in self._plans.values())

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` made the first time it was asked for by that name."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast(T, self._kept[name])

    def run(
        self,
        states: Mapping[fx.Node, Tensor],
        activations: Activations | None = None,
        presence: Presence | None = None,
        known: Known | None = None,
    ) -> Tensor:
        """Return the output (r, B, K) for the query from the entries' states, each (q, B, h).

        It has a row, or one for each of several links that are compared.

        Args:
            states: of all entries; of those alone that are run, if values of others are known.
            activations: takes down what `run_changes` starts from.
            presence: which edges there are, where that varies.
            known: looks values of the first layers up.
        """
        values: dict[fx.Node, Any] = dict(self._static)
        for node in self._nodes:
            if node in self._static or node in self._raw:
                continue
            if known is not None and node in known.tables:
                if node in known.tables.read:
                    values[node] = _Values(known.value(node))
                continue
            if node.op == "output":
                return _output(values[_only(node)])
            if node in self._plans:
                plan = self._plans[node]
                state = states.get(node) if known is None else known.state(node)
                state = states.get(node) if state is None else state
                if state is None:
                    given = self._inputs[node]
                    state = plan.state(self._picked(values[given].tensor, given, plan.needs))
                if activations is not None and node not in self.entries:
                    activations.states[node] = state.clone()  # what follows may write to it
                values[node] = _Values(plan.finish(state, self._heeded(node, presence)))
            else:
                values[node] = self._row_wise(node, values)
            if activations is not None and self._follows_changes(node, values[node], activations):
                activations.values[node] = values[node].tensor
        raise Unserved("it has no output")

    def tabulated(self, states: Mapping[fx.Node, Tensor], *, memory: int) -> Tables:
        """Return tables of the first layers, for inputs that differ in their edges alone.

        Args:
            states: (q, h), each entry's in all inputs.
            memory: bytes that a table may take.
        """
        elements, dtype = self._graph.edges, self._graph.x.dtype
        numbers = memory // dtype.itemsize
        tables = Tables(elements.of_column, elements.count, dtype=dtype, numbers=numbers)
        with undisturbed(self._model), torch.no_grad():
            for node in self._nodes:
                if node in self._static or node in self._raw or node.op == "output":
                    continue
                if node in self._plans and node not in self._columns:
                    plan, given = self._plans[node], self._inputs[node]
                    of_input: Tensor | Value | None = states.get(node)
                    if of_input is None:
                        of_input = tables.known(given, self._places(given, plan.needs))
                    if of_input is not None:
                        tables.add_layer(node, plan, of_input)
                elif node not in self._plans and not isinstance(node.target, Join):
                    self._tabulate_row_wise(node, tables)
        tables.read = frozenset(
            given
            for node in self._nodes
            if node not in tables and tables.state(node) is None
            for given in node.all_input_nodes
            if given in tables
        )
        return tables

    def _tabulate_row_wise(self, node: fx.Node, tables: Tables) -> None:
        """Add what an operation on each row gives, if all that it reads is in tables."""
        wanted = self._needed[node]
        given = {}
        for one in node.all_input_nodes:
            if one in self._static:
                fixed = self._static[one]
                if isinstance(fixed, Tensor) and self._is_node_level(fixed):
                    return
                continue
            value = tables.known(one, self._places(one, wanted))
            if value is None:
                return
            given[one] = value

        def run(values: Mapping[fx.Node, Tensor]) -> Any:
            args, kwargs = fx.node.map_arg(
                (node.args, node.kwargs),
                lambda one: values[one] if one in values else self._static[one],
            )
            return self._function_of(node)(*args, **kwargs)

        tables.add_row_wise(node, given, run)

    def _places(self, node: fx.Node, rows: Tensor) -> Tensor:
        """Return where rows stand among those of a value."""
        return torch.searchsorted(self._needed[node], rows)

    def run_changes(
        self,
        changes: Mapping[fx.Node, Change],
        activations: Activations,
        presence: Presence | None = None,
        *,
        always_by_row: bool = False,
    ) -> Tensor:
        """Return the output (r, P, K) of inputs that differ little from recorded samples.

        Up to the layer that mixes them with others, only the rows that differ are computed,
        where that is less work than computing all.

        Args:
            changes: of all entries' states.
            activations: of the samples that the changes are relative to.
            presence: which edges there are in each input, where that varies.
            always_by_row: do so even where it is more work.
        """
        sample = next(iter(changes.values())).sample
        values: dict[fx.Node, Any] = dict(self._static)
        for node in self._nodes:
            if node in self._static or node in self._raw:
                continue
            if node.op == "output":
                return _output(self._dense(_only(node), values, activations, sample))
            if node in changes:
                values[node] = _entered(
                    self._plans[node], changes[node], self._heeded(node, presence), always_by_row
                )
            elif node in self._plans:
                state = self._changed_state(node, values, activations, sample)
                values[node] = _Values(
                    self._plans[node].finish(state, self._heeded(node, presence))
                )
            elif node in activations.values:
                values[node] = self._row_wise_on_changes(node, values, activations, sample)
            else:
                dense = {
                    given: self._dense(given, values, activations, sample)
                    for given in node.all_input_nodes
                }
                values[node] = self._row_wise(node, dense)
        raise Unserved("it has no output")

    def _heeded(self, node: fx.Node, presence: Presence | None) -> Presence | None:
        """Return the presence of the edges that a layer is called with, which may be some alone."""
        if presence is None or node not in self._columns:
            return presence
        return presence.part(self._columns[node])

    def _follows_changes(self, node: fx.Node, value: _Values, activations: Activations) -> bool:
        """Whether rows of a value depend on the same rows of one entry alone."""
        if not isinstance(value.tensor, Tensor):
            return False
        if node in self._plans:
            plan = self._plans[node]
            return node in self.entries and (
                plan.combine is None or plan.combine_change is not None
            )
        inputs = [given for given in node.all_input_nodes if given not in self._static]
        fixed = (self._static[given] for given in node.all_input_nodes if given in self._static)
        return (
            len(inputs) == 1
            and inputs[0] in activations.values
            and self._needed[inputs[0]].numel() == self._needed[node].numel()
            and not any(isinstance(value, Tensor) and self._is_node_level(value) for value in fixed)
        )

    def _changed_state(
        self, node: fx.Node, values: Mapping[fx.Node, Any], activations: Activations, sample: Tensor
    ) -> Tensor:
        """Return a layer's state (q, P, h): the samples' plus what the changed rows add."""
        plan = self._plans[node]
        given = self._inputs[node]
        value = values[given]
        if not isinstance(value, ChangedRows):
            return plan.state(self._picked(value.tensor, given, plan.needs))
        change = value.minus(activations.values[given], sample)  # (E, d)
        state = activations.states[node][:, sample]
        rows, inputs = self._needed[given].numel(), sample.numel()
        for mixing, weight in zip(plan.mixings, plan.weights, strict=True):
            part = change if weight is None else change @ weight  # (E, h)
            if plan.needs.numel() == rows and mixing.shape[0] <= _FEW_ROWS:
                state += value.mixed(part, mixing.dense, inputs=inputs)
                continue
            spread = value.spread(part, rows=rows, inputs=inputs)
            state += mixing.times(self._picked(spread, given, plan.needs))
        return state

    def _row_wise_on_changes(
        self, node: fx.Node, values: Mapping[fx.Node, Any], activations: Activations, sample: Tensor
    ) -> _Values | ChangedRows:
        (given,) = (given for given in node.all_input_nodes if given not in self._static)
        value = values[given]
        if not isinstance(value, ChangedRows):
            return self._row_wise(node, values)
        args, kwargs = fx.node.map_arg(
            (node.args, node.kwargs),
            lambda other: value.values if other is given else values[other],
        )
        return ChangedRows(value.row, value.column, self._function_of(node)(*args, **kwargs))

    @staticmethod
    def _dense(
        node: fx.Node, values: Mapping[fx.Node, Any], activations: Activations, sample: Tensor
    ) -> Any:
        value = values[node]
        if isinstance(value, ChangedRows):
            return _Values(value.dense(activations.values[node], sample))
        return value

    def _find_static(self) -> None:
        placeholders = [node for node in self._nodes if node.op == "placeholder"]
        if len(placeholders) < 2:
            raise Unserved("it does not take x and edge_index")
        self._raw[placeholders[0]] = None
        further = self._graph.further_inputs
        self._static[placeholders[1]] = self._graph.edge_index
        for node in placeholders[2:]:
            self._static[node] = further.get(str(node.target))
        if self.edges_vary:
            self._refuse_use_of_edges(placeholders[1:])
        for node in self._nodes:
            if node.op == "get_attr":
                self._static[node] = operator.attrgetter(str(node.target))(self._model)
            elif node.op in ("call_function", "call_method", "call_module"):
                self._mark(node)

    def _refuse_use_of_edges(self, placeholders: Sequence[fx.Node]) -> None:
        """Raise `Unserved` where something else than a layer reads the edges, which vary."""
        of_edges = {
            node
            for number, node in enumerate(placeholders)
            if number == 0 or str(node.target) in self._graph.model_inputs.edge
        }
        for node in self._nodes:
            if of_edges.isdisjoint(node.all_input_nodes):
                continue
            module = self._modules.get(str(node.target)) if node.op == "call_module" else None
            if isinstance(node.target, OF_RELATIONS):
                of_edges.add(node)
            elif not (
                isinstance(module, MessagePassing)
                or (isinstance(node.target, Step) and node.target.heeds_edges)
            ):
                raise Unserved(f"{node.target} reads the edges, which come and go")

    def _mark(self, node: fx.Node) -> None:
        inputs = node.all_input_nodes
        if node.target is torch._assert:
            self._static[node] = None  # fx guards the arguments that were fixed when it traced
        elif all(given in self._static for given in inputs):
            args, kwargs = fx.node.map_arg(
                (node.args, node.kwargs), lambda given: self._static[given]
            )
            self._static[node] = self._function_of(node)(*args, **kwargs)
            if isinstance(node.target, EdgesOf):
                self._columns[node] = node.target.columns(cast(Tensor, args[1]))
        elif isinstance(node.target, FeatureView):
            self._raw[node] = node.target
        elif inputs[0] in self._raw and self._leaves_unchanged(node, self._raw[inputs[0]]):
            self._raw[node] = self._raw[inputs[0]]

    def _leaves_unchanged(self, node: fx.Node, view: FeatureView | None) -> bool:
        if view is not None and view.are_numbers and node.target in _STILL_NUMBERS:
            return True
        if node.op == "call_module":
            return isinstance(self._modules[str(node.target)], _UNCHANGED_MODULES)
        if node.op == "call_method" and node.target in _UNCHANGED_METHODS:
            return True
        return node.target in _UNCHANGED_FUNCTIONS and not node.kwargs.get("training", False)

    def _find_needed(self) -> None:
        target = torch.tensor(self._graph.readout.wanted, device=self._graph.x.device)
        for node in reversed(self._nodes):
            if node.op == "output":
                self._need(_only(node), target)
            elif node in self._needed and node not in self._raw:
                self._need_inputs(node)

    def _need_inputs(self, node: fx.Node) -> None:
        wanted = self._needed[node]
        rows = RowPlanner(
            wanted, self._graph.x.size(0), wanted.device, self._graph.x.dtype, self.edges_vary
        )
        if isinstance(node.target, Join):
            self._need_joined(node, node.target)
            return
        call = self._planned_call(node)
        if call is not None:
            given, plan = call
            self._inputs[node] = given
            self._plans[node] = plan(rows)
            self._need(given, self._plans[node].needs)
            columns = [
                self._columns[each] for each in node.all_input_nodes if each in self._columns
            ]
            if columns:
                self._columns[node] = columns[0]
            return
        if node.op == "call_module":
            refuse_if_it_looks_at_all_nodes(self._modules[str(node.target)])
        for other in node.all_input_nodes:
            if other in self._raw:
                raise Unserved(f"the features go into {node.target} before any linear map")
            if other not in self._static:
                self._need(other, wanted)

    def _need_joined(self, node: fx.Node, join: Join) -> None:
        """Note which rows each of the joined values gives, and need them.

        Values of a type that no row is of are left out: nobody needs them.
        """
        wanted = self._needed[node]
        places = join.rows(wanted, self._graph.further_inputs[NODE_TYPE])
        self._joins[node] = []
        for number, (value, some) in enumerate(zip(node.args, places, strict=True)):
            if some.numel() == 0:
                continue
            given = self._node_level(value, join.__name__)
            if given in self._raw:
                raise Unserved(f"the features go into {join.__name__} before any linear map")
            self._need(given, wanted[some])
            self._joins[node].append((number, given, some))

    def _joined(self, node: fx.Node, join: Join, values: Mapping[fx.Node, Any]) -> _Values:
        wanted = self._needed[node]
        parts = [
            (number, places, self._picked(values[given].tensor, given, wanted[places]))
            for number, given, places in self._joins[node]
        ]
        return _Values(join.joined(parts, wanted.numel()))

    def _planned_call(self, node: fx.Node) -> _PlannedCall | None:
        """Return the input of a call that has a plan, and how to plan it."""
        if isinstance(node.target, Step):
            given, *others = node.args
            args, _ = fx.node.map_arg((others, {}), self._static_or_unserved)
            step = node.target
            return self._node_level(given, step.__name__), lambda rows: step.plan(rows, *args)
        module = self._modules.get(str(node.target)) if node.op == "call_module" else None
        if isinstance(module, MessagePassing):
            return self._planned_layer(node, module)
        if isinstance(module, Aggregation):
            return self._planned_pooling(node, module)
        given = node.args[0] if node.args else None
        picked = self._picked_rows(node)
        if picked is not None:
            return picked
        if not isinstance(given, fx.Node) or given not in self._raw:
            return None
        view = self._raw[given]
        if isinstance(module, nn.Embedding) and view is not None and view.are_numbers:
            table = LookedUp.of(module, view.columns[0])
            return given, lambda rows: rows.looked_up(table)
        projection = self._projection(node, module)
        if projection is None:
            return None
        return given, lambda rows: rows.mixed(
            [(rows.identity(), projection.weight)], bias=projection.bias
        )

    def _picked_rows(self, node: fx.Node) -> _PlannedCall | None:
        """Return how rows are picked by their numbers, as the ends of links are, if they are."""
        if node.target is operator.getitem and len(node.args) == 2:
            given, index = node.args
        elif node.target in (torch.index_select, "index_select") and len(node.args) == 3:
            given, dim, index = node.args
            if dim != 0:
                return None
        else:
            return None
        numbers = self._static.get(index) if isinstance(index, fx.Node) else None
        if not isinstance(given, fx.Node) or given in self._static:
            return None
        if not isinstance(numbers, Tensor) or numbers.dim() != 1 or numbers.is_floating_point():
            return None
        if numbers.dtype == torch.bool:
            return None
        return given, lambda rows: rows.picking(numbers)

    def _planned_layer(self, node: fx.Node, layer: MessagePassing) -> _PlannedCall:
        called = inspect.signature(layer.forward).bind(*node.args, **node.kwargs)
        given, *others = called.args
        if isinstance(given, tuple | list) and all(one is given[0] for one in given):
            given = given[0]  # the same for senders and receivers
        args, kwargs = fx.node.map_arg((others, called.kwargs), self._static_or_unserved)
        return (
            self._node_level(given, type(layer).__name__),
            lambda rows: plan_of(layer, rows, *args, **kwargs),
        )

    def _planned_pooling(self, node: fx.Node, aggregation: Aggregation) -> _PlannedCall:
        called = inspect.signature(aggregation.forward).bind(*node.args, **node.kwargs).arguments
        given, index = called.pop("x"), called.pop("index", None)
        if any(value is not None for name, value in called.items() if name == "ptr"):
            raise Unserved(f"{type(aggregation).__name__} is called with ptr")
        batch = self._static_or_unserved(index) if isinstance(index, fx.Node) else index
        return (
            self._node_level(given, type(aggregation).__name__),
            lambda rows: plan_pooling(aggregation, rows, batch),
        )

    def _projection(self, node: fx.Node, module: nn.Module | None) -> Projection | None:
        """Return the linear map of each row that a call on the features is, if it is one."""
        if isinstance(module, _LINEAR):
            return Projection.of(module)
        others: list[Any] = [
            self._static.get(one) if isinstance(one, fx.Node) else one for one in node.args[1:]
        ]
        if node.kwargs or not others or not isinstance(others[0], Tensor) or others[0].dim() != 2:
            return None
        if node.target is functional.linear:
            return Projection(others[0].t(), others[1] if len(others) > 1 else None)
        return Projection(others[0]) if node.target in _PRODUCTS else None

    def _node_level(self, given: Any, name: str) -> fx.Node:
        if not isinstance(given, fx.Node) or given in self._static:
            raise Unserved(f"{name} is not called with node features first")
        return given

    def _static_or_unserved(self, node: fx.Node) -> Any:
        if node not in self._static:
            raise Unserved(f"{node} depends on the features but is no node-level input")
        return self._static[node]

    def _need(self, node: fx.Node, rows: Tensor) -> None:
        if node in self._static:
            raise Unserved("its output does not depend on the features")
        if node in self._needed:
            rows = sorted_unique(torch.cat([self._needed[node], rows]))
        self._needed[node] = rows

    def _picked(self, values: Tensor, node: fx.Node, rows: Tensor) -> Tensor:
        have = self._needed[node]
        if have.numel() == rows.numel():
            return values
        return values[torch.searchsorted(have, rows)]

    def _row_wise(self, node: fx.Node, values: Mapping[fx.Node, Any]) -> _Values:
        """Run an operation on (r · B, …) as the model runs it on (N, …)."""
        if isinstance(node.target, Join):
            return self._joined(node, node.target, values)
        wanted = self._needed[node]
        batch = next(
            leaf.size(1)
            for given in node.all_input_nodes
            if isinstance(values[given], _Values)
            for leaf in _leaves(values[given].tensor)
        )

        def flat(given: fx.Node) -> Any:
            value = values[given]
            if isinstance(value, _Values):
                return _mapped(
                    value.tensor,
                    lambda leaf: self._picked(leaf, given, wanted).flatten(0, 1),
                )
            if isinstance(value, Tensor) and self._is_node_level(value):
                return value[wanted].repeat_interleave(batch, dim=0)
            return value

        args, kwargs = fx.node.map_arg((node.args, node.kwargs), flat)
        result = self._function_of(node)(*args, **kwargs)
        return _Values(
            _mapped(result, lambda leaf: leaf.view(wanted.numel(), batch, *leaf.shape[1:]))
        )

    def _is_node_level(self, value: Tensor) -> bool:
        return value.dim() > 1 and value.size(0) == self._graph.x.size(0)

    def _function_of(self, node: fx.Node) -> Callable[..., Any]:
        if node.op == "call_module":
            module: nn.Module = self._modules[str(node.target)]
            return module
        if node.op == "call_method":
            return _method(str(node.target))
        assert callable(node.target)
        return node.target


def _method(name: str) -> Callable[..., Any]:
    return lambda subject, *args, **kwargs: getattr(subject, name)(*args, **kwargs)


def _mapped(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Apply a function to a tensor, or to each tensor of a tuple or list."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, tuple | list):
        return tuple(_mapped(part, function) for part in value)
    raise Unserved(f"an operation gives {type(value).__name__}, which is no node-level value")


def _leaves(value: Any) -> list[Tensor]:
    return (
        [value] if isinstance(value, Tensor) else [leaf for part in value for leaf in _leaves(part)]
    )


def _entered(
    plan: Plan, change: Change, presence: Presence | None, always_by_row: bool
) -> _Values | ChangedRows:
    """Return an entry's output, of the changed rows alone where that is less work."""
    worth = always_by_row or change.numbers >= (_CUDA_WORTH if change.base.is_cuda else _WORTH)
    if worth and plan.combine_change is not None:
        return plan.combine_change(change)
    if worth and plan.combine is None:
        changed = change.changed_rows()
        if always_by_row or int(changed.sum()) < _MOST_CHANGED * changed.numel():
            row, column = changed.nonzero(as_tuple=True)
            states = change.states_at(row, column)
            return ChangedRows(row, column, states if plan.after is None else plan.after(states))
    return _Values(plan.finish(change.states(), presence))


def _output(output: _Values) -> Tensor:
    rows: Tensor = output.tensor  # (r, B, K) or (r, B)
    return rows.unsqueeze(2) if rows.dim() == 2 else rows


def _only(node: fx.Node) -> fx.Node:
    result = node.args[0]
    if not isinstance(result, fx.Node):
        raise Unserved("it returns more than the scores")
    return result
