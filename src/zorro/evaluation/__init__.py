"""RDT-fidelity: the probability that a prediction stays when all but a selection is noise."""

from zorro.evaluation.batched import BatchedEvaluator
from zorro.evaluation.choice import EVALUATORS, EvaluatorChoice, EvaluatorName
from zorro.evaluation.estimate import FidelityEstimate
from zorro.evaluation.evaluator import Evaluator

__all__ = [
    "EVALUATORS",
    "BatchedEvaluator",
    "Evaluator",
    "EvaluatorChoice",
    "EvaluatorName",
    "FidelityEstimate",
]
