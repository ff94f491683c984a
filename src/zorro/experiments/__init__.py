"""The paper's tables and figures, one file each, published values beside ours."""

from __future__ import annotations

from zorro.experiments.ablations import SAMPLES, THRESHOLDS
from zorro.experiments.accuracy import ACCURACY
from zorro.experiments.experiment import Experiment, Settings
from zorro.experiments.graph_sizes import SIZES
from zorro.experiments.real import REAL
from zorro.experiments.report import Report
from zorro.experiments.synthetic import GROUND_TRUTH, RUNTIME

__all__ = ["EXPERIMENTS", "Experiment", "Report", "Settings"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        ACCURACY,
        SIZES,
        REAL,
        GROUND_TRUTH,
        RUNTIME,
        SAMPLES,
        THRESHOLDS,
    )
}
