"""What a run was made with, and what its parts are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from zorro.audit import classes_of_nodes
from zorro.data import GraphDataset
from zorro.data.graph_validation import listed_graphs
from zorro.data.hetero_catalogue import chosen_target
from zorro.data.names import names_of_graphs, names_of_types
from zorro.elements.groups import as_groups
from zorro.errors import InputError
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.names import LINK_CLASSES, Labels, LabelsByType, Names
from zorro.question import Level
from zorro.runs import Run
from zorro.runs.again import refuse_other_data, refuse_other_model
from zorro.runs.given import GivenData, LinksOf, ManyGraphs, OneGraph
from zorro.runs.manifest import types_of
from zorro.runs.typed_graph import TypedGraph
from zorro.show.page.answers import answers_of
from zorro.show.page.graph_view import GraphView
from zorro.show.page.link_view import LinkView
from zorro.show.page.node_view import NodeView
from zorro.show.page.type_view import TypeView
from zorro.show.page.view import View
from zorro.show.type_scene import TypedEdgeIndex


@dataclass(frozen=True)
class RunInputs:
    """The data that a run was made with, the model, and what things are called.

    Args:
        data: one graph or several; None if they are not at hand.
        model: called as the run called it; None if it is not at hand.
        model_kwargs: its further arguments, as the run was given them.
        y: (N,) or (N, K), the true classes or values of nodes; graphs have theirs themselves. Where
            links are asked about, the classes by which nodes are told apart.
        names: of nodes, features, graphs and classes.
        bonds: what the columns of a one-hot `edge_attr` of graphs mean.
        links: (2, E), all that are known, where links are asked about.
        node_class_names: of the classes of nodes, where links are asked about.
    """

    data: GivenData | None = None
    model: nn.Module | None = None
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)
    y: Tensor | None = None
    names: Names = field(default_factory=Names)
    bonds: Labels = ()
    links: Tensor | None = None
    node_class_names: Labels = ()

    def asked_by(self, run: Run) -> RunInputs:
        """Return it with what the run asks about, or raise `InputError` if it is another run's."""
        if isinstance(self.data, OneGraph) and run.level in _OF_ONE_GRAPH:
            asked = replace(self, data=_OF_ONE_GRAPH[run.level](self.data))
        else:
            asked = self
        asked._refuse_other(run)
        return asked

    def _refuse_other(self, run: Run) -> None:
        if self.data is not None:
            if self.data.about != run.about:
                raise InputError(
                    f"{run.path}: expected data whose {run.about.nouns} are asked about, got data "
                    f"whose {self.data.about.nouns} are"
                )
            refuse_other_data(run, self.data, self.model_kwargs)
        if self.model is not None:
            refuse_other_model(run, self.model)

    def view(self, run: Run) -> View:
        """Return how pages see a run's explanations."""
        if not run.typed:
            return _VIEWS[run.level](self, run)
        if run.level != "node":
            raise InputError(
                f"{run.path}: expected nodes of one of several types, which pages show, got "
                f"{run.level}s"
            )
        return _of_types(self, run)


def run_inputs(
    *,
    model: nn.Module | None = None,
    x: Tensor | Features | None = None,
    edge_index: Tensor | Edges | None = None,
    y: Tensor | None = None,
    graphs: GraphDataset | Sequence[Data] | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    names: Names | None = None,
    links: Tensor | None = None,
    node_class_names: Labels | None = None,
    hetero: HeteroData | None = None,
    target: str | None = None,
) -> RunInputs:
    """Return what a run was made with: one graph's parts, several graphs, or one of several types.

    Of the last `target` is the type that was asked about.
    """
    kwargs = model_kwargs or {}
    if hetero is not None:
        if any(part is not None for part in (x, edge_index, y, graphs, links)):
            raise InputError("hetero: expected it instead of other data, got both")
        return _inputs_of_types(hetero, target, model, kwargs, names)
    if graphs is None:
        if (x is None) != (edge_index is None):
            raise InputError("x and edge_index: expected both or neither, got only one")
        data = None if x is None or edge_index is None else OneGraph(x, edge_index)
        return RunInputs(
            data,
            model,
            kwargs,
            y,
            names or Names(),
            links=links,
            node_class_names=node_class_names or (),
        )
    if any(part is not None for part in (x, edge_index, y, links)):
        raise InputError("graphs: expected them instead of x, edge_index, y and links, got both")
    if isinstance(graphs, GraphDataset):
        known = names_of_graphs(graphs) if names is None else names
        bonds = graphs.edge_label_names
        return RunInputs(ManyGraphs(graphs.graphs), model, kwargs, None, known, bonds)
    return RunInputs(ManyGraphs(listed_graphs(graphs)), model, kwargs, None, names or Names())


def _inputs_of_types(
    hetero: HeteroData,
    target: str | None,
    model: nn.Module | None,
    kwargs: Mapping[str, Any],
    names: Names | None,
) -> RunInputs:
    asked = chosen_target(hetero, target)
    data = TypedGraph(hetero, asked)
    known = names_of_types("", data.types) if names is None else names
    return RunInputs(data, model, kwargs, hetero[asked].get("y"), known)


def _of_types(inputs: RunInputs, run: Run) -> TypeView:
    data, answers = inputs.data, answers_of(run.manifest["parameters"])
    if isinstance(data, TypedGraph):
        return TypeView(
            data.types,
            run.about.kind,
            TypedEdgeIndex(data.graph),
            inputs.y,
            inputs.names,
            _groups(run),
            answers,
        )
    types = types_of(run.manifest)
    names = inputs.names
    if not isinstance(names.nodes, LabelsByType):
        names = names_of_types("", types)
    return TypeView(types, run.about.kind, None, inputs.y, names, _groups(run), answers)


def _of_nodes(inputs: RunInputs, run: Run) -> NodeView:
    data, names = inputs.data, inputs.names
    answers = answers_of(run.manifest["parameters"])
    if not isinstance(data, OneGraph):
        return NodeView(names=names, groups=_groups(run), answers=answers)
    predicted = None
    if inputs.model is not None:
        predicted = classes_of_nodes(
            inputs.model,
            data.x,
            data.edge_index,
            model_kwargs=inputs.model_kwargs,
            reading=answers.reading,
        )
    return NodeView(data.x, data.edge_index, inputs.y, predicted, names, _groups(run), answers)


def _of_links(inputs: RunInputs, run: Run) -> LinkView:
    parameters, data = run.manifest["parameters"], inputs.data
    # One number for a link tells whether there is one; of several columns that is not known.
    tells = parameters.get("threshold") is not None
    names = inputs.names
    if tells and not names.classes:
        names = replace(names, classes=LINK_CLASSES)
    graph = NodeView(names=names, groups=_groups(run))
    if isinstance(data, LinksOf):
        graph = replace(graph, x=data.graph.x, edge_index=data.graph.edge_index)
    return LinkView(
        graph,
        links=inputs.links if tells else None,
        node_classes=inputs.y if _are_classes(inputs.y) else None,
        node_class_names=inputs.node_class_names,
        carries_messages=bool(parameters.get("carries_messages")),
        answers=answers_of(parameters),
    )


def _are_classes(y: Tensor | None) -> bool:
    return y is not None and y.dim() == 1 and not y.is_floating_point()


def _of_graphs(inputs: RunInputs, run: Run) -> GraphView:
    data = inputs.data
    graphs = data.graphs if isinstance(data, ManyGraphs) else ()
    answers = answers_of(run.manifest["parameters"])
    return GraphView(graphs, inputs.bonds, inputs.names, _groups(run), answers)


_VIEWS: Mapping[Level, Callable[[RunInputs, Run], View]] = {
    "node": _of_nodes,
    "link": _of_links,
    "graph": _of_graphs,
}


# What can be asked about where one graph is given.
_OF_ONE_GRAPH: Mapping[Level, Callable[[OneGraph], GivenData]] = {
    "node": lambda graph: graph,
    "link": LinksOf,
}


def _groups(run: Run) -> tuple[tuple[int, ...], ...]:
    return as_groups(run.manifest["parameters"].get("feature_groups", ()))
