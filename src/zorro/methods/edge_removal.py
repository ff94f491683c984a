"""What a model says of a query when some edges are not there."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zorro.methods.subject import Subject
from zorro.metrics import UndirectedEdges


def scores_with_edges(subject: Subject, edges: UndirectedEdges) -> Callable[[Tensor], Tensor]:
    """Return what maps which edges are there, (m,) bool, to the query's class scores (C,).

    The others are removed from the edge index, in both directions, with their weights and
    attributes. Measures of sets of edges take it.

    Args:
        subject: the prediction.
        edges: of its computational graph, context included.
    """
    graph = subject.graph
    every = torch.arange(graph.x.size(0), device=graph.x.device)
    readout = graph.readout
    inputs = readout.inputs(1, graph.x.size(0), graph.x.device)

    def scores(there: Tensor) -> Tensor:
        columns = edges.columns(there).nonzero().flatten()
        kept = graph.model_inputs.subgraph(every, columns)
        output = subject.predictor.scores(
            graph.x,
            graph.edge_index[:, columns],
            {**kept.as_kwargs(), **inputs},
            rows=readout.count(1, graph.x.size(0)),
        )
        return readout.rows(output, 1)[0]

    return scores
