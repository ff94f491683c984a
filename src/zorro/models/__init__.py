"""The paper's architectures, training, and checkpoints of trained models."""

from zorro.models import checkpoint
from zorro.models.edge_inputs import EdgeInputs, edge_inputs
from zorro.models.evaluation import accuracy
from zorro.models.registry import MODELS, build
from zorro.models.training import TrainingSettings, paper_settings, train

__all__ = [
    "MODELS",
    "EdgeInputs",
    "TrainingSettings",
    "accuracy",
    "build",
    "checkpoint",
    "edge_inputs",
    "paper_settings",
    "train",
]
