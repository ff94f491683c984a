"""The methods that Zorro is compared with, one file each behind one protocol."""

from __future__ import annotations

from zorro.explainers.empty import Empty
from zorro.explainers.evaluation import Evaluation, evaluate
from zorro.explainers.gnn_explainer import GNNExplainer
from zorro.explainers.gradients import Grad, GradInput
from zorro.explainers.masks import Masks
from zorro.explainers.pg_explainer import PGExplainer
from zorro.explainers.pgm import PGM
from zorro.explainers.pyg_algorithm import PygAlgorithm
from zorro.explainers.random_set import RandomSet
from zorro.explainers.registry import (
    Method,
    build,
    build_with,
    method,
    methods,
    methods_with,
)
from zorro.explainers.soft_zorro import SoftZorro
from zorro.explainers.subgraphx import SubgraphX
from zorro.explainers.subject import Subject
from zorro.explainers.subjects import Subjects
from zorro.explainers.zorro_search import ZorroGuided, ZorroPaper

__all__ = [
    "PGM",
    "Empty",
    "Evaluation",
    "GNNExplainer",
    "Grad",
    "GradInput",
    "Masks",
    "Method",
    "PGExplainer",
    "PygAlgorithm",
    "RandomSet",
    "SoftZorro",
    "SubgraphX",
    "Subject",
    "Subjects",
    "ZorroGuided",
    "ZorroPaper",
    "build",
    "build_with",
    "evaluate",
    "method",
    "methods",
    "methods_with",
]
