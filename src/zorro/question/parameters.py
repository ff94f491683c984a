"""Zorro's settings, as one value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from zorro.elements import KEPT, Kind, drops_edges
from zorro.elements.groups import as_groups
from zorro.errors import InputError


@dataclass(frozen=True)
class Parameters:
    """The settings of an explainer, which its explanations keep."""

    search: str
    tau: float
    k: int | None
    samples: int
    fresh_samples: int | None  # None: as many as suffice
    confidence: float
    noise: str
    seed: int
    delta: float | None = None
    max_seconds: float | None = None
    max_elements: int | None = None
    max_evaluations: int | None = None
    beyond_chance: bool = False
    keep: tuple[Kind, ...] = KEPT  # what may be selected; of other kinds everything is kept
    feature_groups: tuple[tuple[int, ...], ...] = ()  # columns that are one element together
    edge_presence: float | None = None  # of edges that are not kept; None where none is dropped
    edge_noise: str = "presence"
    edge_effect: str = "structure"
    connected: bool = False

    @property
    def other_edges(self) -> str:
        """What happens to edges that are not kept, in words; nothing where all are."""
        if not drops_edges(self.keep):
            return ""
        if self.edge_presence is None:
            return "other edges exchange ends"
        how = "present" if self.edge_effect == "structure" else "heard"
        return f"other edges {how} with probability {self.edge_presence:g}"


# By these names they are options of `zorro.Zorro`, and the noise is made ready by its own name.
PARAMETERS = tuple(field.name for field in fields(Parameters) if field.name != "noise")


_PRESENCE = 0.5  # of edges that are not kept, where nobody says


def parameters_of(
    *, keep: Any, feature_groups: Any, edge_presence: float | None, **options: Any
) -> Parameters:
    """Return what is asked of every query.

    Args:
        keep: names of kinds, as a user gives them.
        feature_groups: lists of columns, likewise, or None.
        edge_presence: the probability of edges that are not kept, or None.
        options: the other fields of `Parameters`.
    """
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise InputError(f"keep: expected names of kinds in a tuple, got {keep!r}")
    keep = tuple(keep)
    if edge_presence is None and drops_edges(keep) and options["edge_noise"] == "presence":
        edge_presence = _PRESENCE
    return Parameters(
        noise="",  # known when it is made ready, which takes time
        keep=keep,
        feature_groups=() if feature_groups is None else as_groups(feature_groups),
        edge_presence=edge_presence,
        **options,
    )
