"""Evaluation of traced models: exploits that a model's first step on the features is linear."""

from zorro.fidelity.traced.evaluator import TracedEvaluator
from zorro.fidelity.traced.layers import COMPOSITIONS, LAYERS, Unserved, composes, serves
from zorro.fidelity.traced.program import Program
from zorro.fidelity.traced.tracer import trace

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
