"""The paper's tables and figures, one file each, published values beside ours."""

from __future__ import annotations

from zorro.experiments.ablations import SAMPLES, THRESHOLDS
from zorro.experiments.accuracy import ACCURACY
from zorro.experiments.amazon import AMAZON
from zorro.experiments.examples import EXAMPLES
from zorro.experiments.experiment import Experiment, Settings
from zorro.experiments.faithfulness import FAITHFULNESS
from zorro.experiments.graph_sizes import SIZES
from zorro.experiments.hard_masks import HARD_MASKS
from zorro.experiments.homophily import HOMOPHILY
from zorro.experiments.multiplicity import MULTIPLICITY
from zorro.experiments.real import REAL
from zorro.experiments.report import Report
from zorro.experiments.retraining import RETRAINING
from zorro.experiments.synthetic import GROUND_TRUTH, RUNTIME

__all__ = ["EXPERIMENTS", "Experiment", "Report", "Settings"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        ACCURACY,
        SIZES,
        REAL,
        RETRAINING,
        GROUND_TRUTH,
        FAITHFULNESS,
        RUNTIME,
        MULTIPLICITY,
        SAMPLES,
        THRESHOLDS,
        HARD_MASKS,
        AMAZON,
        HOMOPHILY,
        EXAMPLES,
    )
}
