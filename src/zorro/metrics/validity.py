"""Whether the prediction stays when everything outside the explanation is set to a baseline."""

from __future__ import annotations

from torch import Tensor

from zorro.metrics.masked_input import Baseline, ClassScores, keep_selected, predicted_class


def validity(
    scores: ClassScores,
    x: Tensor,
    *,
    nodes: Tensor,
    features: Tensor,
    baseline: Baseline = "zeros",
) -> float:
    """Return 1 if the explanation alone gets the prediction of the whole input, otherwise 0.

    [Φ(S) = Φ(X)], with Φ(S) taken at X ⊙ M + B ⊙ (1 − M) and M = nodes ⊗ features (Section 3.2,
    Definition 1).

    Args:
        scores: maps a feature matrix (n, d) to the query's class scores (C,).
        x: (n, d).
        nodes: (n,), hard or soft with values between 0 and 1.
        features: (d,), hard or soft with values between 0 and 1; all ones for a method that selects
            only nodes.
        baseline: B, "zeros" or one value a feature (d,), for example the feature means of the
            whole data set, `data.x.mean(dim=0)`.

    Example:
        Three nodes with one feature; the query's class is 1 where their sum exceeds 0.

        >>> import torch
        >>> from zorro.metrics import validity
        >>> x = torch.tensor([[3.0], [-1.0], [-1.0]])
        >>> scores = lambda x: torch.stack([-x.sum(), x.sum()])
        >>> nodes, features = torch.tensor([True, False, False]), torch.tensor([True])
        >>> validity(scores, x, nodes=nodes, features=features)
        1.0
        >>> validity(scores, x, nodes=nodes, features=features, baseline=torch.tensor([-2.0]))
        0.0

    """
    kept = keep_selected(x, nodes=nodes, features=features, baseline=baseline)
    return float(predicted_class(scores, kept) == predicted_class(scores, x))
