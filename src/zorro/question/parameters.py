"""What may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from zorro.elements import KINDS, Kind


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
