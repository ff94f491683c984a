"""Pooling: what the nodes of a graph give together, by PyG's functions or aggregations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from torch import Tensor, fx, nn
from torch_geometric.nn import aggr as pyg
from torch_geometric.nn.pool import glob

from zorro.evaluation.traced.layers.aggregation import REDUCTIONS
from zorro.evaluation.traced.layers.composition import Step
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import RowPlanner
from zorro.evaluation.traced.unserved import Unserved

_BY_NAME = {
    "sum": pyg.SumAggregation,
    "add": pyg.SumAggregation,
    "mean": pyg.MeanAggregation,
    "max": pyg.MaxAggregation,
    "min": pyg.MinAggregation,
}
_LINEAR = (pyg.SumAggregation, pyg.MeanAggregation)
_ONE_AT_A_TIME = Lock()


def plan_pooling(aggregation: Any, rows: RowPlanner, batch: Tensor | None) -> Plan:
    """Plan the pooling of each wanted graph's nodes.

    Args:
        aggregation: PyG's.
        rows: the graphs that are wanted.
        batch: (nodes,) each node's graph; all are of one when None.
    """
    if type(aggregation) not in REDUCTIONS:
        raise Unserved(f"{type(aggregation).__name__} is not among the poolings it knows")
    graph = np.zeros(rows.nodes, dtype=np.int64) if batch is None else batch.cpu().numpy()
    members = [np.flatnonzero(graph == number) for number in rows.wanted.tolist()]
    if type(aggregation) in _LINEAR:
        is_mean = isinstance(aggregation, pyg.MeanAggregation)
        weights = [
            np.full(each.size, 1 / max(1, each.size) if is_mean else 1.0) for each in members
        ]
        starts = np.concatenate([[0], np.cumsum([each.size for each in members])])
        matrix = sp.csr_matrix(
            (np.concatenate(weights), np.concatenate(members), starts),
            shape=(len(members), rows.nodes),
        )
        return rows.mixed([(matrix, None)])
    return rows.pooled(members, lambda values: REDUCTIONS[type(aggregation)](aggregation, values))


def _by_name(rows: RowPlanner, batch: Tensor, reduce: str) -> Plan:
    if reduce not in _BY_NAME:
        raise Unserved(f"it pools by {reduce!r}, which is not among what it knows")
    return plan_pooling(_BY_NAME[reduce](), rows, batch)


POOLING = Step("pooling", _by_name)


@contextmanager
def pooling_in_traces() -> Iterator[None]:
    """Let PyG's `global_add_pool` and its kin, and its aggregations, stand in a trace as one step.

    However a model names the functions, they call one of their module's, which is another for the
    time being; aggregations look at the shape of what they get before torch.fx sees the call. To
    values both do what they always do.
    """
    with _ONE_AT_A_TIME:
        scatter, call = glob.scatter, pyg.Aggregation.__call__

        def step_or_values(src: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(src, fx.Proxy):
                return POOLING(src, index, kwargs.get("reduce", "sum"))
            return scatter(src, index, *args, **kwargs)

        def module_or_values(self: pyg.Aggregation, x: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(x, fx.Proxy):
                return nn.Module.__call__(self, x, *args, **kwargs)
            return call(self, x, *args, **kwargs)

        glob.scatter, pyg.Aggregation.__call__ = step_or_values, module_or_values
        try:
            yield
        finally:
            glob.scatter, pyg.Aggregation.__call__ = scatter, call
