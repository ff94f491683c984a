"""Names as people type them: capitals and separators do not matter, and a near miss gets a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def known_as(name: str, names: Iterable[str]) -> str | None:
    """Return which of `names` is meant, None if it is none of them.

    >>> known_as("Amazon_Computers", ["cora", "amazon-computers"])
    'amazon-computers'
    """
    return {_plain(candidate): candidate for candidate in names}.get(_plain(name))


def hint(name: str, names: Iterable[str]) -> str:
    """Return a question after the nearest of `names`, for the end of an error.

    >>> hint("coar", ["cora", "pubmed"])
    " (did you mean 'cora'?)"
    """
    known = {_plain(candidate): candidate for candidate in names}
    close = difflib.get_close_matches(_plain(name), known, n=1)
    return f" (did you mean {known[close[0]]!r}?)" if close else ""


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
