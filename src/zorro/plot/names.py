"""What nodes, features and classes are called in figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zorro.errors import InputError

Names = Sequence[str] | Mapping[int, str]
_LONGEST = 28


def check_names(argument: str, names: Names | None, count: int | None) -> None:
    """Raise `InputError` unless there are names for all of `count` things, or some by number."""
    if names is None or isinstance(names, Mapping):
        return
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(
            f"{argument}: expected a list of names, or names by number, got {type(names).__name__}"
        )
    if count is not None and len(names) != count:
        raise InputError(f"{argument}: expected {count} names, got {len(names)}")


def counted(number: int, thing: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def name_of(names: Names | None, number: int, *, otherwise: str | None = None) -> str:
    """Return the name of a thing on one short line, or its number where it has none.

    >>> name_of(["one", " two   words "], 1), name_of({7: "seven"}, 8)
    ('two words', '8')
    """
    default = str(number) if otherwise is None else otherwise
    if names is None:
        return default
    if isinstance(names, Mapping):
        text = str(names.get(number, default))
    else:
        text = str(names[number]) if number < len(names) else default
    text = " ".join(text.split()) or default
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
