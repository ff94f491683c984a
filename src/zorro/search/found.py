"""What a search returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zorro.elements import FEATURES, NODES, Element, Kind, Selection


@dataclass(frozen=True)
class Move:
    """One step of a search: the element it added or took out (none at the start).

    `fidelity` is what it led to, as the search's own samples say; of elements that were added
    together, what they led to together.
    """

    element: Element | None
    fidelity: float
    added: bool = True


@dataclass(frozen=True)
class Found:
    """The selection, its hits on the search's own samples, and how it came about.

    The paper's search also tells its initial rankings, best first.
    """

    selection: Selection
    hits: int
    samples: int
    moves: tuple[Move, ...]
    # Of each kind: element → hits of it alone, with all that is allowed of the other kinds.
    rankings: Mapping[Kind, dict[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """How far a search has come: what it holds, and the fidelity on its own samples."""

    step: int
    held: Mapping[Kind, int]  # how many elements of each kind
    fidelity: float

    @property
    def nodes(self) -> int:
        """How many nodes it holds."""
        return self.held.get(NODES, 0)

    @property
    def features(self) -> int:
        """How many features."""
        return self.held.get(FEATURES, 0)


OnStep = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Take no notice of a step."""


def progress_of(selection: Selection, moves: Sequence[Move]) -> Progress:
    """Return how far a search has come that has made some moves."""
    return Progress(
        step=len(moves) - 1,  # the first is the start
        held={kind: selection.members(kind).numel() for kind in selection.space.kinds},
        fidelity=moves[-1].fidelity,
    )


def reaches(hits: int, samples: int, tau: float) -> bool:
    """Whether a share of hits ends a search: above τ, or nothing left to gain."""
    return hits / samples > tau or hits == samples
