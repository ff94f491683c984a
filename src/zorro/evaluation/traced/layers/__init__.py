"""The layers that the traced evaluator knows, one small function each.

To add a layer, write a function that takes the layer, the rows that are wanted and the arguments
the model calls the layer with after `x` (edge_index and what follows), and returns a `Plan`; and
name the layer's class in `@serves`. `RowPlanner.mixed` plans layers of the form Σ_k A_k X W_k + b
(any fixed aggregation), `RowPlanner.attended` those whose messages are no linear function of the
input. A layer that reads several node-level values, or takes several such steps, is spelled out in
them under `@composes`. Raise `Unserved` for an option that the function does not cover. A wrong
plan cannot give a wrong answer: each query is compared with the model itself before it is used.
"""

from zorro.evaluation.traced.layers import (
    attention,
    composed,
    convolution,
    global_attention,
    heterogeneous,
    messages,
    neighbours,
    of_two,
    pna,
    pooling,
    relational,
    varying,
)
from zorro.evaluation.traced.layers.composition import COMPOSITIONS, OF_TWO, Pair, Step, composes
from zorro.evaluation.traced.layers.registry import LAYERS, plan_of, serves

__all__ = [
    "COMPOSITIONS",
    "LAYERS",
    "OF_TWO",
    "Pair",
    "Step",
    "attention",
    "composed",
    "composes",
    "convolution",
    "global_attention",
    "heterogeneous",
    "messages",
    "neighbours",
    "of_two",
    "plan_of",
    "pna",
    "pooling",
    "relational",
    "serves",
    "varying",
]
