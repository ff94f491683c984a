"""The paper's tables and figures, one file each, published values beside ours."""

from __future__ import annotations

from zorro.paper.ablations import SAMPLES, THRESHOLDS
from zorro.paper.accuracy import ACCURACY
from zorro.paper.amazon import AMAZON
from zorro.paper.bagel import BAGEL
from zorro.paper.benzene import BENZENE
from zorro.paper.crippen import CRIPPEN
from zorro.paper.examples import EXAMPLES
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.faithfulness import FAITHFULNESS
from zorro.paper.graph_sizes import SIZES
from zorro.paper.hard_masks import HARD_MASKS
from zorro.paper.homophily import HOMOPHILY
from zorro.paper.multiplicity import MULTIPLICITY
from zorro.paper.real import REAL
from zorro.paper.report import Report
from zorro.paper.retraining import RETRAINING
from zorro.paper.structure import STRUCTURE
from zorro.paper.synthetic import GROUND_TRUTH, RUNTIME

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
        BAGEL,
        BENZENE,
        CRIPPEN,
        STRUCTURE,
    )
}
