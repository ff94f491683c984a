"""The paper's architectures, models of whole graphs, training, and checkpoints."""

from zorro.models import checkpoint
from zorro.models.edge_inputs import EdgeInputs, edge_inputs
from zorro.models.evaluation import accuracy
from zorro.models.graph_evaluation import graph_accuracy
from zorro.models.graph_training import GraphTrainingSettings, train_graphs
from zorro.models.registry import GRAPH_MODELS, MODELS, build
from zorro.models.training import TrainingSettings, paper_settings, train

__all__ = [
    "GRAPH_MODELS",
    "MODELS",
    "EdgeInputs",
    "GraphTrainingSettings",
    "TrainingSettings",
    "accuracy",
    "build",
    "checkpoint",
    "edge_inputs",
    "graph_accuracy",
    "paper_settings",
    "train",
    "train_graphs",
]
