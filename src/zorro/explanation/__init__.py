"""The result: what a prediction rests on, what is said of it, sets measured beside it."""

from zorro.explanation.explanation import Explanation, GraphSummary, MaskType, Status, Step
from zorro.question.decision import Versus
from zorro.question.parameters import Parameters

__all__ = ["Explanation", "GraphSummary", "MaskType", "Parameters", "Status", "Step", "Versus"]
