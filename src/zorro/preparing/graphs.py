"""What is made ready for queries about whole graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch_geometric.data import Data, HeteroData

from zorro.cut import WholeGraphs
from zorro.cut.whole_graphs import edge_attributes_of
from zorro.data.graph_validation import hetero_graphs, listed_graphs
from zorro.elements import EDGES, redraws_features
from zorro.elements.groups import propose_groups
from zorro.graph.features import features_of
from zorro.model.data_model import kwargs_of_graphs
from zorro.model.graph_model import as_graph_model
from zorro.model.predictor import Model, Predictor
from zorro.noise import Noise
from zorro.noise.of_edges import edge_noise_of
from zorro.preparing.direction import settled_direction
from zorro.preparing.ready import Ready, made_ready
from zorro.preparing.settings import Settings, settings_of
from zorro.preparing.several_types import of_hetero_graphs
from zorro.question.readout import Readout


def of_graphs(
    model: Model,
    graphs: Sequence[Data] | Sequence[HeteroData],
    *,
    model_kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of a model's answers for whole graphs share.

    Args:
        model: called as `model(x, edge_index, batch=batch, **model_kwargs)`.
        graphs: PyG's `Data`, or its `HeteroData`.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs. When
            None, a model of one argument gets all that the graphs have.
        options: those of `zorro.Zorro`, by their names.
    """
    if (typed := hetero_graphs(graphs)) is not None:
        return of_hetero_graphs(model, typed, model_kwargs=model_kwargs, options=options)
    settings = settings_of(options)
    listed = listed_graphs(graphs, draws_from_them=settings.asked.keep != (EDGES,))
    module = as_graph_model(model)
    further = kwargs_of_graphs(module, listed, model_kwargs)
    return of_checked_graphs(module, listed, listed, model_kwargs=further, settings=settings)


def of_checked_graphs(
    model: Model,
    graphs: Sequence[Data],
    data_set: Sequence[Data],
    *,
    model_kwargs: Mapping[str, Any],
    settings: Settings,
    readouts: Sequence[Readout] | None = None,
) -> Ready:
    """Return the same for graphs that have been checked.

    Args:
        model: called as `model(x, edge_index, batch=batch, **model_kwargs)`.
        graphs: that are asked about, by their numbers.
        data_set: from whose nodes and edges noise is drawn.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs.
        settings: of every query.
        readouts: how each graph's answer is read off the model's; it is the whole output when None.
    """
    pool = features_of(torch.cat([graph.x for graph in data_set]))
    if settings.proposes_groups and redraws_features(settings.asked.keep):
        propose_groups(pool.in_memory, settings.noise)
    directed = settled_direction(
        settings, lambda: [(graph.edge_index, graph.x.size(0)) for graph in data_set]
    )
    edges = edge_noise_of(settings.asked, lambda: edge_attributes_of(data_set, model_kwargs))

    def source(predictor: Predictor, noise: Noise) -> WholeGraphs:
        return WholeGraphs(
            predictor, graphs, model_kwargs=model_kwargs, readouts=readouts, directed=directed
        )

    return made_ready(model, pool, source, settings, edges)
