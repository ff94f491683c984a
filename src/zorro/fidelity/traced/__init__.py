"""Evaluation of traced models: exploits that a model's first step on the features is linear."""

from zorro.fidelity.traced.evaluator import TracedEvaluator
from zorro.fidelity.traced.layers import LAYERS, Unserved, serves
from zorro.fidelity.traced.program import Program, trace

__all__ = ["LAYERS", "Program", "TracedEvaluator", "Unserved", "serves", "trace"]
