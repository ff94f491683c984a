"""Soft masks made hard: which elements an importance ranking selects.

Among equal importances the element with the lower index comes first.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_mask


def top_k(mask: Tensor, *, k: int) -> Tensor:
    """Select the `k` elements with the highest values; all of them where there are fewer.

    For example the five most important nodes (Section 6.3.1). Zeros rank like any other value.

    Args:
        mask: (m,), soft.
        k: at least 1.

    Example:
        >>> import torch
        >>> from zorro.metrics import top_k
        >>> top_k(torch.tensor([0.2, 0.9, 0.2, 0.5]), k=3)
        tensor([ True,  True, False,  True])

    """
    mask = checked_mask(mask, name="mask")
    if k < 1:
        raise InputError(f"k: expected at least 1 element to select, got {k}")
    ranking = torch.argsort(mask, descending=True, stable=True)  # ties: lower index first
    hard = torch.zeros_like(mask, dtype=torch.bool)
    hard[ranking[:k]] = True
    return hard


def top_fraction(mask: Tensor, *, fraction: float) -> Tensor:
    """Select the given fraction of all elements, those with the highest values.

    ⌊fraction · m⌋ of m elements, but at least one (Appendix C.3, Deriving Hard Masks). The
    paper's S-0.5 is `fraction=0.5`, its S-0.7 is `fraction=0.3`. The paper rounds down too but
    selects nothing where that gives 0, and leaves such queries out of its mean sparsity.

    Args:
        mask: (m,), soft.
        fraction: above 0 and at most 1.

    Example:
        >>> import torch
        >>> from zorro.metrics import top_fraction
        >>> top_fraction(torch.tensor([0.1, 0.4, 0.3, 0.2, 0.5]), fraction=0.5)
        tensor([False,  True, False, False,  True])
        >>> top_fraction(torch.tensor([0.1, 0.4]), fraction=0.3)
        tensor([False,  True])

    """
    if not 0.0 < fraction <= 1.0:
        raise InputError(f"fraction: expected a number above 0 and at most 1, got {fraction}")
    mask = checked_mask(mask, name="mask")
    # 0.29 · 100 is 28.999999999999996 in floating point and means 29.
    count = math.floor(fraction * mask.numel() + 1e-9)
    return top_k(mask, k=max(1, count))


def normalise_and_threshold(mask: Tensor, *, threshold: float = 0.01) -> Tensor:
    """Select the elements above `threshold` once the mask is stretched to the range 0 to 1.

    (mask − min) / (max − min) > threshold: the paper's NT (Appendix C.3, Deriving Hard Masks),
    so the least important element is never selected. A constant mask has no range: all its
    elements are selected if its value is positive, none otherwise.

    Args:
        mask: (m,), soft.
        threshold: at least 0 and below 1.

    Example:
        >>> import torch
        >>> from zorro.metrics import normalise_and_threshold
        >>> normalise_and_threshold(torch.tensor([2.0, 2.005, 2.5, 3.0]))
        tensor([False, False,  True,  True])

    """
    if not 0.0 <= threshold < 1.0:
        raise InputError(f"threshold: expected a number from 0 to below 1, got {threshold}")
    mask = checked_mask(mask, name="mask").to(torch.float64)
    if mask.numel() == 0:
        return mask.bool()
    lowest, highest = mask.min(), mask.max()
    if bool(lowest == highest):
        return mask > 0
    return (mask - lowest) / (highest - lowest) > threshold
