"""The result: what a prediction rests on, what is said of it, sets measured beside it."""

from zorro.explanation.explanation import Explanation, MaskType, Status
from zorro.explanation.importance import ElementImportance, Importance
from zorro.explanation.parts import GraphSummary, PredictedValue, Step
from zorro.question.decision import Versus
from zorro.question.parameters import Parameters

__all__ = [
    "ElementImportance",
    "Explanation",
    "GraphSummary",
    "Importance",
    "MaskType",
    "Parameters",
    "PredictedValue",
    "Status",
    "Step",
    "Versus",
]
