"""The fidelity by its definition: redraw, put the set back, run, count.

The model runs on the whole graph. Nothing of zorro is used here; nothing is cut out, batched or
cached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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


def count_hits_of_link(
    model: Model,
    call: Callable[..., Tensor],
    x: Tensor,
    edge_index: Tensor,
    link: tuple[int, int],
    *,
    nodes: Collection[int],
    features: Collection[int],
    samples: int,
    seed: int,
    threshold: float,
    kwargs: Mapping[str, Tensor] | None = None,
) -> int:
    """Count how often a pair stays a link, or stays none, with all but nodes × features redrawn.

    The link itself carries no messages, in neither direction, while it is asked about.

    Args:
        model: of links.
        call: calls it: `call(model, x, edge_index, links, **kwargs)` gives a number per link.
        x: (N, d), dense.
        edge_index: (2, E).
        link: the pair.
        nodes: rows that keep their true values in the kept columns.
        features: columns that are kept.
        samples: how many times.
        seed: of the draws.
        threshold: above which it is a link.
        kwargs: a row per edge each.
    """
    draw = np.random.default_rng(seed)
    ends = {link, link[::-1]}
    messages = [
        at for at, pair in enumerate(edge_index.t().tolist()) if (pair[0], pair[1]) not in ends
    ]
    others = edge_index[:, messages]
    given = {name: values[messages] for name, values in (kwargs or {}).items()}
    asked = torch.tensor([[link[0]], [link[1]]])
    with evaluating(model):
        expected = float(call(model, x, others, asked, **given)) > threshold
        hits = 0
        for _ in range(samples):
            redrawn = _redrawn(draw, x, nodes, features)
            hits += (float(call(model, redrawn, others, asked, **given)) > threshold) == expected
    return hits


def count_values_kept(
    model: Model,
    x: Tensor,
    edge_index: Tensor,
    node: int,
    *,
    nodes: Collection[int],
    features: Collection[int],
    share: float,
    side: str,
    samples: int,
    seed: int,
) -> int:
    """Count how often a node's value stays with all but nodes × features redrawn.

    Args:
        model: called as `model(x, edge_index)`, gives a value per node.
        x: (N, d), dense.
        edge_index: (2, E).
        node: the query.
        nodes: rows that keep their true values in the kept columns.
        features: columns that are kept.
        share: of the standard deviation of all nodes' values, by which a value may move.
        side: "both", or "up" if it may rise, "down" if it may fall by any amount.
        samples: how many times.
        seed: of the draws.
    """
    draw = np.random.default_rng(seed)
    with evaluating(model):
        values = model(x, edge_index).flatten()
        limit = share * float(values.double().std())
        kept = 0
        for _ in range(samples):
            redrawn = _redrawn(draw, x, nodes, features)
            moved = float(model(redrawn, edge_index).flatten()[node]) - float(values[node])
            kept += _stays(moved, limit, side)
    return kept


def count_values_kept_of_graph(
    model: Model,
    graphs: Sequence[Data],
    number: int,
    *,
    nodes: Collection[int],
    share: float,
    side: str,
    samples: int,
    seed: int,
) -> int:
    """Count how often a graph's value stays with all but some nodes redrawn, rows as wholes.

    Args:
        model: called as `model(x, edge_index, batch=batch)`, with one graph alone.
        graphs: all of them.
        number: of the graph that is asked about.
        nodes: that keep their true rows.
        share: of the standard deviation of all graphs' values, by which a value may move.
        side: as of `count_values_kept`.
        samples: how many times.
        seed: of the draws.
    """
    draw = np.random.default_rng(seed)
    pool = torch.cat([graph.x for graph in graphs])
    graph = graphs[number]
    count = graph.x.size(0)
    alone = torch.zeros(count, dtype=torch.long)
    with evaluating(model):
        values = [
            float(model(each.x, each.edge_index, batch=torch.zeros(len(each.x), dtype=torch.long)))
            for each in graphs
        ]
        limit = share * float(np.std(values, ddof=1))
        kept = 0
        for _ in range(samples):
            redrawn = pool[torch.from_numpy(draw.integers(len(pool), size=count))]
            for row in nodes:
                redrawn[row] = graph.x[row]
            moved = float(model(redrawn, graph.edge_index, batch=alone)) - values[number]
            kept += _stays(moved, limit, side)
    return kept


def _stays(moved: float, limit: float, side: str) -> bool:
    """Whether a value that moved so far is the same answer."""
    return (side == "down" or moved >= -limit) and (side == "up" or moved <= limit)


def _redrawn(
    draw: np.random.Generator,
    x: Tensor,
    nodes: Collection[int],
    features: Collection[int],
) -> Tensor:
    """Return values like `x`, each from a random row of its column, nodes × features put back."""
    redrawn = x.gather(0, torch.from_numpy(draw.integers(len(x), size=tuple(x.shape))))
    for row in nodes:
        for column in features:
            redrawn[row, column] = x[row, column]
    return redrawn


def predicted_class(output: Tensor, node: int, threshold: float) -> int:
    """Return the class that an output (N, C), (N, 1) or (N,) gives a node; −1 if it is NaN."""
    scores = output[node].flatten()
    if scores.isnan().any():
        return -1
    return int(scores > threshold) if scores.numel() == 1 else int(scores.argmax())


def margins(output: Tensor, threshold: float = 0.0) -> list[float]:
    """Return how far each row of an output (Q, C), (Q, 1) or (Q,) is from another class."""
    exact = output.double()  # differences of half precision are not rounded once more
    if exact.dim() == 1 or exact.size(1) == 1:
        distances: Tensor = (exact.flatten() - threshold).abs()
    else:
        best = exact.topk(2, dim=1).values
        distances = best[:, 0] - best[:, 1]
    return distances.tolist()


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
