"""The methods that Zorro is compared with, one file each behind one protocol."""

from __future__ import annotations

from zorro.methods.empty import Empty
from zorro.methods.evaluation import Evaluation, evaluate
from zorro.methods.gnn_explainer import GNNExplainer
from zorro.methods.gradients import Grad, GradInput
from zorro.methods.graphmask import GraphMask
from zorro.methods.masks import Masks
from zorro.methods.pg_explainer import PGExplainer
from zorro.methods.pgm import PGM
from zorro.methods.pyg_algorithm import PygAlgorithm
from zorro.methods.random_edges import RandomEdges
from zorro.methods.random_set import RandomSet
from zorro.methods.registry import (
    Method,
    build,
    build_with,
    method,
    methods,
    methods_in,
    methods_with,
)
from zorro.methods.soft_zorro import SoftZorro
from zorro.methods.subgraphx import SubgraphX
from zorro.methods.subject import Subject
from zorro.methods.subjects import Subjects
from zorro.methods.zorro_search import ZorroGuided, ZorroPaper

__all__ = [
    "PGM",
    "Empty",
    "Evaluation",
    "GNNExplainer",
    "Grad",
    "GradInput",
    "GraphMask",
    "Masks",
    "Method",
    "PGExplainer",
    "PygAlgorithm",
    "RandomEdges",
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
    "methods_in",
    "methods_with",
]
