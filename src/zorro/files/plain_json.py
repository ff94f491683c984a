"""JSON that somebody else wrote, read without surprises."""

from __future__ import annotations

import json
from typing import Any


def parse(text: str | bytes) -> Any:
    """Return what a JSON text holds, or raise `ValueError`.

    Also for one that is too deep, and for one that says a thing twice: of two values with one name
    readers take one or the other.

    >>> parse("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deeply
    >>> parse('{"hits": 12, "hits": 400}')
    Traceback (most recent call last):
    ValueError: 'hits' stands there twice
    """
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        found: set[str] = set()
        for name, _ in pairs:
            if name in found:
                raise ValueError(f"{name[:40]!r} stands there twice")
            found.add(name)
    return values
