"""The methods that the explorer offers."""

from __future__ import annotations

from functools import cache

from zorro.methods import methods_with

ZORRO = "zorro"
AT_HAND = ("subjects", "noise")


@cache
def method_names() -> tuple[str, ...]:
    """Return the methods that need neither training nor anything else to begin, ours first."""
    others = (name for name in methods_with(AT_HAND) if name != ZORRO)
    return (ZORRO, *others)
