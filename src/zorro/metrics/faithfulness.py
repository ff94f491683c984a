"""Whether a better model gets better explanations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import kendalltau

from zorro.errors import InputError


def faithfulness(precisions: Sequence[float], *, accuracies: Sequence[float]) -> float:
    """Rank correlation of explanation precision and test accuracy over a model's training.

    Kendall's τ (Section 6.3.1), in its variant b, which is (concordant − discordant) / all pairs
    where no values are equal and corrects for those that are. NaN where all values of a list are
    equal: there is no order to compare.

    Args:
        precisions: the explanations' mean precision at each saved epoch.
        accuracies: the model's test accuracy at the same epochs.

    Example:
        >>> from zorro.metrics import faithfulness
        >>> round(faithfulness([0.2, 0.5, 0.4], accuracies=[0.3, 0.6, 0.9]), 4)  # (2 − 1) / 3
        0.3333

    """
    if len(precisions) != len(accuracies) or len(precisions) < 2:
        raise InputError(
            f"precisions: expected one value an epoch, at least 2 and as many as accuracies "
            f"({len(accuracies)}), got {len(precisions)}"
        )
    for name, values in (("precisions", precisions), ("accuracies", accuracies)):
        if not all(math.isfinite(value) for value in values):
            raise InputError(f"{name}: expected finite numbers, got {list(values)}")
    return float(kendalltau(list(precisions), list(accuracies)).statistic)
