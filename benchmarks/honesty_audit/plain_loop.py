"""The fidelity by its definition: redraw, put the set back, run, count.

The model runs on the whole graph. Nothing of zorro is used here; nothing is cut out, batched or
cached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

Model = Callable[..., Any]


def count_hits(
    model: Model,
    x: Tensor,
    edge_index: Tensor,
    node: int,
    *,
    nodes: Collection[int],
    features: Collection[int],
    samples: int,
    seed: int,
    threshold: float = 0.0,
    kwargs: Mapping[str, Any] | None = None,
) -> int:
    """Count how often the class of `node` stays with all but nodes × features redrawn.

    Args:
        model: called as `model(x, edge_index, **kwargs)`, in eval mode if it has one.
        x: (N, d), dense.
        edge_index: (2, E).
        node: the query.
        nodes: rows that keep their true values in the kept columns.
        features: columns that are kept.
        samples: how many times.
        seed: of the draws.
        threshold: where a one-column output turns from class 0 to class 1.
        kwargs: further arguments of the model.
    """
    draw = np.random.default_rng(seed)
    count, width = x.shape
    rows, columns = sorted(nodes), sorted(features)
    with evaluating(model):
        expected = predicted_class(model(x, edge_index, **kwargs or {}), node, threshold)
        hits = 0
        for _ in range(samples):
            source = torch.from_numpy(draw.integers(count, size=(count, width)))
            redrawn = x.gather(0, source)  # each entry from a random row of its own column
            for row in rows:
                redrawn[row, columns] = x[row, columns]
            output = model(redrawn, edge_index, **kwargs or {})
            hits += predicted_class(output, node, threshold) == expected
    return hits


def count_hits_of_graph(
    model: Model,
    pool: Tensor,
    graph: Data,
    *,
    nodes: Collection[int],
    features: Collection[int],
    groups: Collection[Collection[int]] = (),
    samples: int,
    seed: int,
    threshold: float = 0.0,
    kwargs: Mapping[str, Any] | None = None,
) -> int:
    """Count how often a graph's class stays with all but nodes × features redrawn.

    Args:
        model: called as `model(x, edge_index, batch=batch, **kwargs)`, with this graph alone.
        pool: (M, d), the nodes of all graphs, whose values are drawn.
        graph: with `x` (n, d) and `edge_index`.
        nodes: rows that keep their true values in the kept columns.
        features: columns that are kept.
        groups: columns that are drawn together, from one row of the pool.
        samples: how many times.
        seed: of the draws.
        threshold: where a one-column output turns from class 0 to class 1.
        kwargs: further arguments of the model.
    """
    draw = np.random.default_rng(seed)
    count, width = graph.x.shape
    batch = torch.zeros(count, dtype=torch.long)
    with evaluating(model):
        output = model(graph.x, graph.edge_index, batch=batch, **kwargs or {})
        expected = predicted_class(output, 0, threshold)
        hits = 0
        for _ in range(samples):
            source = draw.integers(pool.size(0), size=(count, width))
            for group in groups:
                together = sorted(group)
                source[:, together] = source[:, together[:1]]
            redrawn = pool.gather(0, torch.from_numpy(source))
            for row in nodes:
                for column in features:
                    redrawn[row, column] = graph.x[row, column]
            output = model(redrawn, graph.edge_index, batch=batch, **kwargs or {})
            hits += predicted_class(output, 0, threshold) == expected
    return hits


def predicted_class(output: Tensor, node: int, threshold: float) -> int:
    """Return the class that an output (N, C), (N, 1) or (N,) gives a node."""
    scores = output[node].flatten()
    return int(scores > threshold) if scores.numel() == 1 else int(scores.argmax())


@contextmanager
def evaluating(model: Model) -> Iterator[None]:
    """Run a module in eval mode and without gradients, and give it its mode back."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    modes = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        with torch.no_grad():
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode
