"""JSON that somebody else wrote, read without surprises."""

from __future__ import annotations

import json
from typing import Any


def parse(text: str | bytes) -> Any:
    """Return what a JSON text holds, or raise `ValueError`, also for one that is too deep.

    >>> parse("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
