"""What nodes, features and classes are called in figures."""

from __future__ import annotations

from zorro.graph.names import Labels, label

_LONGEST = 28


def name_of(names: Labels | None, number: int, *, otherwise: str | None = None) -> str:
    """Return the name of a thing on one short line, or its number where it has none.

    >>> name_of(["one", " two   words "], 1), name_of({7: "seven"}, 8)
    ('two words', '8')
    """
    default = str(number) if otherwise is None else otherwise
    text = " ".join((label(names or {}, number) or "").split()) or default
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
