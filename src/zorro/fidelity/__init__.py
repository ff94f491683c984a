"""RDT-fidelity: the probability that a prediction stays when all but a selection is noise."""

from zorro.fidelity.batched import BatchedEvaluator
from zorro.fidelity.choice import EVALUATORS, EvaluatorChoice, EvaluatorName
from zorro.fidelity.estimate import FidelityEstimate
from zorro.fidelity.evaluator import Evaluator

__all__ = [
    "EVALUATORS",
    "BatchedEvaluator",
    "Evaluator",
    "EvaluatorChoice",
    "EvaluatorName",
    "FidelityEstimate",
]
