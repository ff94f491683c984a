"""What a mask may be: one importance a node, feature or edge, checked at each measure's door."""

from __future__ import annotations

from torch import Tensor

from zorro.errors import InputError


def checked_mask(mask: Tensor, *, name: str, length: int | None = None) -> Tensor:
    """Return `mask` without its gradient history if it is 1-D and finite, of `length` if given."""
    if not isinstance(mask, Tensor) or mask.dim() != 1 or mask.is_complex():
        came = tuple(mask.shape) if isinstance(mask, Tensor) else type(mask).__name__
        raise InputError(f"{name}: expected a real 1-D tensor, one value an element, got {came}")
    if length is not None and mask.numel() != length:
        raise InputError(f"{name}: expected {length} values, one an element, got {mask.numel()}")
    if not bool(mask.isfinite().all()):
        raise InputError(f"{name}: expected finite values, got NaN or infinity")
    return mask.detach()


def checked_hard_mask(mask: Tensor, *, name: str, length: int | None = None) -> Tensor:
    """Return `mask` as booleans if it holds nothing but 0 and 1."""
    mask = checked_mask(mask, name=name, length=length)
    hard = mask.bool()
    if not bool((mask == hard).all()):
        raise InputError(
            f"{name}: expected a hard mask (boolean, or 0 and 1), got other values: "
            f"make it hard first, for example with top_k or top_fraction"
        )
    return hard
