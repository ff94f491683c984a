"""Evaluation of traced models: exploits that a model's first step on the features is linear."""

from zorro.evaluation.traced.evaluator import TracedEvaluator
from zorro.evaluation.traced.layers import COMPOSITIONS, LAYERS, composes, serves
from zorro.evaluation.traced.program import Program
from zorro.evaluation.traced.tracer import trace
from zorro.evaluation.traced.unserved import Unserved

__all__ = [
    "COMPOSITIONS",
    "LAYERS",
    "Program",
    "TracedEvaluator",
    "Unserved",
    "composes",
    "serves",
    "trace",
]
