"""What is made ready for queries in one graph: nodes, or links between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from zorro.cut import Extractor, Links
from zorro.cut.extractor import check_cut
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, size_of
from zorro.graph.graph import Graph
from zorro.graph.validation import check_graph
from zorro.model.inference_mode import ordinary
from zorro.model.link_model import as_link_model
from zorro.model.predictor import Model, Predictor
from zorro.noise import Noise
from zorro.noise.of_edges import AnyEdgeNoise, edge_noise_of
from zorro.preparing.cutting import Cutting
from zorro.preparing.direction import settled_direction
from zorro.preparing.ready import Ready, made_ready
from zorro.preparing.settings import Settings, settings_of
from zorro.question.asking import ABOUT_LINKS


def of_nodes(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    *,
    cutting: Cutting,
    model_kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of a graph's nodes share.

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`.
        x: (N, d), or those of a stored graph.
        edge_index: (2, E), or the edges of a stored graph.
        cutting: how parts of the graph are cut out.
        model_kwargs: further arguments of the model.
        options: all others of `zorro.Zorro`, by their names.
    """
    settings, graph, edges = _checked(x, edge_index, cutting, model_kwargs, options)

    def source(predictor: Predictor, noise: Noise) -> Extractor:
        return cutting.extractor(predictor, graph, noise, settings.asked, edges)

    return made_ready(model, graph.features, source, settings, edges)


def of_links(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    *,
    cutting: Cutting,
    model_kwargs: Mapping[str, Any] | None,
    carries_messages: bool,
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of links between a graph's nodes share.

    Args:
        model: called as `model(x, edge_index, edge_label_index=links, **model_kwargs)`, or with
            `encode` and `decode`.
        x: (N, d), or those of a stored graph.
        edge_index: (2, E), or the edges of a stored graph.
        cutting: how parts of the graph are cut out.
        model_kwargs: further arguments of the model.
        carries_messages: whether a link that is asked about stays an edge.
        options: all others of `zorro.Zorro`, by their names.
    """
    settings, graph, edges = _checked(x, edge_index, cutting, model_kwargs, options)

    def source(predictor: Predictor, noise: Noise) -> Links:
        extractor = cutting.extractor(
            predictor, graph, noise, settings.asked, edges, asking=ABOUT_LINKS
        )
        return Links(extractor, graph, carries_messages=carries_messages)

    return made_ready(as_link_model(model), graph.features, source, settings, edges)


def _checked(
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    cutting: Cutting,
    model_kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> tuple[Settings, Graph, AnyEdgeNoise | None]:
    """Return the settings, the graph, and what happens to edges that are not kept."""
    check_graph(x, edge_index, sparse=True, integers=True)
    check_cut(cutting.hops, cutting.halo, cutting.check)
    settings = settings_of(options)
    directed = settled_direction(settings, lambda: [(edge_index, size_of(x)[0])])
    graph = Graph(ordinary(x), ordinary(edge_index), model_kwargs or {}, directed)
    return settings, graph, edge_noise_of(settings.asked, lambda: graph.model_inputs.edge)
