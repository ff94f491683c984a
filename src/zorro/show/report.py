"""A run as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from zorro.data import GraphDataset
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.names import Labels, Names
from zorro.runs import Run, open_run
from zorro.runs.again import options_of
from zorro.show.page import payload
from zorro.show.page.html import REPORT_SCRIPTS, inlined, saved
from zorro.show.page.run_inputs import run_inputs


def write(
    run: Run | str | Path,
    path: str | Path,
    *,
    model: nn.Module | None = None,
    x: Tensor | Features | None = None,
    edge_index: Tensor | Edges | None = None,
    y: Tensor | None = None,
    graphs: GraphDataset | Sequence[Data] | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    class_names: Labels | None = None,
    feature_names: Labels | None = None,
    node_names: Labels | None = None,
    names: Names | None = None,
    links: Tensor | None = None,
    node_class_names: Labels | None = None,
    hetero: HeteroData | None = None,
    target: str | None = None,
    alternatives: payload.Alternatives | None = None,
) -> int:
    """Write a run's report and return its size in bytes.

    Without the graph, or the graphs of a run of graphs, it shows no drawings and no values. They
    and the model must be those that the run was made with.

    Args:
        run: an opened run, or its folder.
        path: of the HTML file, which appears whole or not at all.
        model: whose classes the neighbours are coloured by.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or the edges of a stored graph.
        y: (N,), the true classes, or values; (N, K) of several labels or values. Of a run of links
            the classes of nodes, by which they are coloured.
        graphs: of a run of graphs, instead of x, edge_index and y: a data set that tells what its
            parts are called, or a list.
        model_kwargs: further arguments of the model, as the run was given them.
        class_names: of classes, a list of all, or a mapping of some.
        feature_names: of features, a list of all, or a mapping of some.
        node_names: of nodes, a list of all, or a mapping of some.
        names: what nodes, features and graphs are called in general.
        links: (2, E), of a run of links: all that are known, which tell what answers are right.
        node_class_names: of a run of links, what the classes of nodes are called.
        hetero: of a run of `explain_hetero`, instead of x, edge_index and y: PyG's `HeteroData`.
        target: the type that it asks about; when None the only one that has classes.
        alternatives: further explanations by query, see `alternatives_of`.
    """
    kept = run if isinstance(run, Run) else open_run(run)
    inputs = run_inputs(
        model=model,
        x=x,
        edge_index=edge_index,
        y=y,
        graphs=graphs,
        model_kwargs=model_kwargs,
        names=names,
        links=links,
        node_class_names=node_class_names,
        hetero=hetero,
        target=target,
    )
    inputs = replace(inputs, names=_names(inputs.names, class_names, feature_names, node_names))
    view = inputs.asked_by(kept).view(kept)
    data = payload.of_run(kept, view, alternatives=alternatives)
    title = f"{data['summary']['subject']} – zorro"
    return saved(path, inlined("report.html", title=title, data=data, scripts=REPORT_SCRIPTS))


def alternatives_of(
    run: Run | str | Path,
    count: int,
    *,
    model: nn.Module,
    x: Tensor | Features | None = None,
    edge_index: Tensor | Edges | None = None,
    graphs: GraphDataset | Sequence[Data] | None = None,
    hetero: HeteroData | None = None,
    target: str | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    on_query: Callable[[int], None] = lambda query: None,
) -> dict[int, list[Explanation]]:
    """Find further explanations of each query of a run, disjoint from the one that is kept.

    A query takes up to `count` searches more.

    Args:
        run: an opened run, or its folder.
        count: of explanations for a query, at most.
        model: the run's.
        x: the run's.
        edge_index: the run's.
        graphs: the run's, if it is one of graphs.
        hetero: the run's, if it is one of several types.
        target: the type that it asks about.
        model_kwargs: the run's.
        on_query: told of each query when it is done.
    """
    if count < 1:
        raise InputError(f"count: expected at least 1 further explanation, got {count}")
    kept = run if isinstance(run, Run) else open_run(run)
    inputs = run_inputs(
        model=model,
        x=x,
        edge_index=edge_index,
        graphs=graphs,
        hetero=hetero,
        target=target,
        model_kwargs=model_kwargs,
    ).asked_by(kept)
    if inputs.data is None:
        raise InputError(
            "x and edge_index, or graphs: expected what the run was made with, got none"
        )
    options = options_of(kept.manifest["parameters"])
    zorro = inputs.data.explainer(model, {**options, "model_kwargs": inputs.model_kwargs})
    found: dict[int, list[Explanation]] = {}
    for explanation in kept.explanations():
        query = explanation.query
        every = zorro.explain_multiple(query.asked, max_explanations=count + 1)
        others = [other for other in every if other.selected != explanation.selected]
        found[query.key] = others[:count]
        on_query(query.key)
    return found


def _names(
    general: Names,
    classes: Labels | None,
    features: Labels | None,
    nodes: Labels | None,
) -> Names:
    given: dict[str, Any] = {"classes": classes, "features": features, "nodes": nodes}
    return replace(general, **{name: texts for name, texts in given.items() if texts is not None})
