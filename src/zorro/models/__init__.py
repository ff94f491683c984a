"""The paper's architectures, models of graphs, links and several types, training, checkpoints."""

from zorro.models import checkpoint
from zorro.models.edge_inputs import EdgeInputs, edge_inputs
from zorro.models.evaluation import accuracy
from zorro.models.graph_evaluation import graph_accuracy, graph_errors
from zorro.models.graph_training import GraphTrainingSettings, train_graphs
from zorro.models.hetero_training import HeteroTrainingSettings, hetero_accuracy, train_hetero
from zorro.models.link_split import LinkSplit, split_links
from zorro.models.link_training import LinkTrainingSettings, link_auc, train_links
from zorro.models.registry import (
    GRAPH_MODELS,
    HETERO_MODELS,
    LINK_MODELS,
    MODELS,
    build,
    build_hetero,
)
from zorro.models.training import TrainingSettings, paper_settings, train

__all__ = [
    "GRAPH_MODELS",
    "HETERO_MODELS",
    "LINK_MODELS",
    "MODELS",
    "EdgeInputs",
    "GraphTrainingSettings",
    "HeteroTrainingSettings",
    "LinkSplit",
    "LinkTrainingSettings",
    "TrainingSettings",
    "accuracy",
    "build",
    "build_hetero",
    "checkpoint",
    "edge_inputs",
    "graph_accuracy",
    "graph_errors",
    "hetero_accuracy",
    "link_auc",
    "paper_settings",
    "split_links",
    "train",
    "train_graphs",
    "train_hetero",
    "train_links",
]
