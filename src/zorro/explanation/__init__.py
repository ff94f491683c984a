"""The result: what a prediction rests on, what is said of it, sets measured beside it."""

from zorro.explanation.explanation import (
    Explanation,
    GraphSummary,
    MaskType,
    PredictedValue,
    Status,
    Step,
)
from zorro.explanation.importance import ElementImportance, Importance
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
