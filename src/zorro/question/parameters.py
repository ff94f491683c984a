"""What may be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from zorro.elements import KINDS, Kind
from zorro.elements.groups import as_groups
from zorro.errors import InputError


@dataclass(frozen=True)
class Parameters:
    """What was asked for."""

    search: str
    tau: float
    k: int | None
    samples: int
    fresh_samples: int | None  # None: those of the certificate
    confidence: float
    noise: str
    seed: int
    delta: float | None = None
    max_seconds: float | None = None
    max_elements: int | None = None
    max_evaluations: int | None = None
    beyond_chance: bool = False
    keep: tuple[Kind, ...] = KINDS  # what may be selected; of other kinds everything is kept
    feature_groups: tuple[tuple[int, ...], ...] = ()  # columns that are one element together


def parameters_of(given: Mapping[str, Any]) -> Parameters:
    """Return what is asked of every query, of options by their names; others are left out."""
    names = {field.name for field in fields(Parameters)}
    chosen = {name: value for name, value in given.items() if name in names}
    keep, groups = chosen["keep"], chosen["feature_groups"]
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise InputError(f"keep: expected names of kinds in a tuple, got {keep!r}")
    chosen["noise"] = ""  # known when it is made ready, which takes time
    chosen["keep"] = tuple(keep)
    chosen["feature_groups"] = () if groups is None else as_groups(groups)
    return Parameters(**chosen)
