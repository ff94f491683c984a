"""What an argument may be, and the error if it is something else."""

from __future__ import annotations

from collections.abc import Collection

from zorro.errors import InputError


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise InputError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")


def check_at_least(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number, or a smaller one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r}")
