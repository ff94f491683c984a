"""How large an explanation is."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_mask


def effective_size(mask: Tensor) -> float:
    """Entropy of the normalised mask, in nats: small is sparse.

    H(p) = −Σ p(f) log p(f) with p(f) = mask(f) / Σ mask (Section 3.2, Definition 2 and
    Proposition 1). A hard mask of c elements has size log c; no mask over m elements exceeds
    log m. A mask that selects nothing has size 0, as one that selects a single element.

    Args:
        mask: (m,), hard (boolean, or 0 and 1) or soft (not negative); its scale is irrelevant.

    Example:
        >>> import torch
        >>> from zorro.metrics import effective_size
        >>> round(effective_size(torch.tensor([True, False, True, True])), 4)  # log 3
        1.0986
        >>> effective_size(torch.tensor([0.0, 0.7, 0.0]))
        0.0

    """
    mask = checked_mask(mask, name="mask").to("cpu", torch.float64)
    if bool((mask < 0).any()):
        raise InputError(
            f"mask: expected values that are not negative, got {float(mask.min())}: "
            f"take absolute values of signed importances"
        )
    if not bool(mask.any()):
        return 0.0
    mask = mask / mask.max()  # a sum of large values must not overflow
    size = float(torch.special.entr(mask / mask.sum()).sum())
    return max(0.0, size)
