"""A run as one HTML file that opens anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from zorro.errors import InputError, RunError
from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.files.whole_file import whole_file
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.names import Labels, Names
from zorro.runs import Run, open_run
from zorro.runs.again import options_of
from zorro.runs.digests import data_digest, model_digest
from zorro.show.page import payload
from zorro.show.page.html import REPORT_SCRIPTS, inlined
from zorro.show.page.surroundings import Surroundings, predicted_classes


def write(
    run: Run | str | Path,
    path: str | Path,
    *,
    model: nn.Module | None = None,
    x: Tensor | Features | None = None,
    edge_index: Tensor | Edges | None = None,
    y: Tensor | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    class_names: Labels | None = None,
    feature_names: Labels | None = None,
    node_names: Labels | None = None,
    names: Names | None = None,
    alternatives: payload.Alternatives | None = None,
) -> int:
    """Write a run's report and return its size in bytes.

    Without the graph it shows no neighbourhoods and no values. The graph and the model must be
    those that the run was made with.

    Args:
        run: or its folder.
        path: of the HTML file, which appears whole or not at all.
        model: whose classes the neighbours are coloured by.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        y: (N,), the true classes.
        model_kwargs: further arguments of the model, as the run was given them.
        class_names: a list of all, or a mapping of some; so for
        feature_names: and
        node_names: too.
        names: what nodes and features are called in general.
        alternatives: further explanations by node, see `alternatives_of`.
    """
    kept = run if isinstance(run, Run) else open_run(run)
    if x is not None and edge_index is not None:
        refuse_other_data(kept, x, edge_index, model_kwargs or {})
    if model is not None:
        refuse_other_model(kept, model)
    surroundings = Surroundings(
        x=x,
        edge_index=edge_index,
        y=y,
        predicted=_answers(kept, model, x, edge_index, model_kwargs),
        names=_names(names or Names(), class_names, feature_names, node_names),
    )
    data = payload.of_run(kept, surroundings, alternatives=alternatives)
    title = f"{data['summary']['subject']} – zorro"
    page = inlined("report.html", title=title, data=data, scripts=REPORT_SCRIPTS).encode()
    target = Path(path)
    try:
        with whole_file(target) as file:
            return file.write(page)
    except OSError as error:
        raise RunError(f"{target} could not be written: {error.strerror or error}") from error


def alternatives_of(
    run: Run | str | Path,
    count: int,
    *,
    model: nn.Module,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    model_kwargs: Mapping[str, Any] | None = None,
    on_node: Callable[[int], None] = lambda node: None,
) -> dict[int, list[Explanation]]:
    """Find further explanations of each node of a run, disjoint from the one that is kept.

    A node takes up to `count` searches more.

    Args:
        run: or its folder.
        count: of explanations for a node, at most.
        model: the run's.
        x: the run's.
        edge_index: the run's.
        model_kwargs: the run's.
        on_node: told of each node when it is done.
    """
    if count < 1:
        raise InputError(f"count: expected at least 1 further explanation, got {count}")
    kept = run if isinstance(run, Run) else open_run(run)
    parameters = kept.manifest["parameters"]
    zorro = Zorro(
        model,
        x,
        edge_index,
        noise=parameters["noise"],
        model_kwargs=model_kwargs,
        **options_of(parameters),
    )
    found: dict[int, list[Explanation]] = {}
    for explanation in kept.explanations():
        every = zorro.explain_multiple(explanation.node, max_explanations=count + 1)
        found[explanation.node] = [
            other
            for other in every
            if (other.nodes, other.features) != (explanation.nodes, explanation.features)
        ][:count]
        on_node(explanation.node)
    return found


def refuse_other_data(
    run: Run, x: Tensor | Features, edge_index: Tensor | Edges, model_kwargs: Mapping[str, Any]
) -> None:
    """Raise `InputError` unless a run was made with this graph."""
    found = data_digest(x, edge_index, model_kwargs)
    if found != run.manifest["data"]["sha256"]:
        raise InputError(
            f"x and edge_index: {run.path} was made with other data (digest "
            f"{run.manifest['data']['sha256'][:12]} there, {found[:12]} here): give the graph, and "
            "the model_kwargs if there were any, as they were then"
        )


def refuse_other_model(run: Run, model: nn.Module) -> None:
    """Raise `InputError` unless a run was made with this model."""
    found = model_digest(model)
    if found != run.manifest["model"]["sha256"]:
        raise InputError(
            f"model: {run.path} was made with another model (digest "
            f"{run.manifest['model']['sha256'][:12]} there, {found[:12]} here): give the model "
            "with the weights that it had then"
        )


def _answers(
    run: Run,
    model: nn.Module | None,
    x: Tensor | Features | None,
    edge_index: Tensor | Edges | None,
    model_kwargs: Mapping[str, Any] | None,
) -> Tensor | None:
    if model is None or x is None or edge_index is None:
        return None
    threshold = run.manifest["parameters"].get("threshold")
    return predicted_classes(model, x, edge_index, model_kwargs=model_kwargs, threshold=threshold)


def _names(
    general: Names,
    classes: Labels | None,
    features: Labels | None,
    nodes: Labels | None,
) -> Names:
    return Names(
        node=general.node,
        feature=general.feature,
        classes=general.classes if classes is None else classes,
        features=general.features if features is None else features,
        nodes=general.nodes if nodes is None else nodes,
    )
