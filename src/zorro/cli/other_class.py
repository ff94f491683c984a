"""The class that a prediction is compared with, as the user writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorro.errors import InputError


def against_a_class(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of `zorro explain` with the class of `--why-not` as a number.

    >>> against_a_class({"why_not": "3", "contrast": "beats"})
    {'why_not': 3, 'contrast': 'beats'}
    """
    text = said.get("why_not")
    if text is None:
        return dict(said)
    if not text.strip().isdecimal():
        raise InputError(f"--why-not: expected a class, by its number, got {text!r:.60}")
    return {**said, "why_not": int(text)}
