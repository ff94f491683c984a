"""The paper's architectures, training, and checkpoints of trained models."""

from zorro.models import checkpoint
from zorro.models.evaluation import accuracy
from zorro.models.registry import MODELS, build
from zorro.models.training import TrainingSettings, paper_settings, train

__all__ = [
    "MODELS",
    "TrainingSettings",
    "accuracy",
    "build",
    "checkpoint",
    "paper_settings",
    "train",
]
