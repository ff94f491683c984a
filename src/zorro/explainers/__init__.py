"""The methods that Zorro is compared with, one file each behind one protocol."""

from __future__ import annotations

from zorro.explainers.empty import Empty
from zorro.explainers.evaluation import Evaluation, evaluate
from zorro.explainers.gnn_explainer import GNNExplainer
from zorro.explainers.gradients import Grad, GradInput
from zorro.explainers.masks import Masks
from zorro.explainers.pyg_algorithm import PygAlgorithm
from zorro.explainers.random_set import RandomSet
from zorro.explainers.registry import Method, build, method, methods
from zorro.explainers.subject import Subject
from zorro.explainers.subjects import Subjects

__all__ = [
    "Empty",
    "Evaluation",
    "GNNExplainer",
    "Grad",
    "GradInput",
    "Masks",
    "Method",
    "PygAlgorithm",
    "RandomSet",
    "Subject",
    "Subjects",
    "build",
    "evaluate",
    "method",
    "methods",
]
