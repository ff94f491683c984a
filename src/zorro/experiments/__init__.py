"""The paper's tables and figures, one file each, published values beside ours."""

from __future__ import annotations

from zorro.experiments.accuracy import ACCURACY
from zorro.experiments.experiment import Experiment, Settings
from zorro.experiments.graph_sizes import SIZES
from zorro.experiments.real import REAL
from zorro.experiments.report import Report

__all__ = ["EXPERIMENTS", "Experiment", "Report", "Settings"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (ACCURACY, SIZES, REAL)
}
