"""What an explanation is made of: steps of the search, a predicted value, a cut in figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zorro.elements import FEATURES, NODES, Kind
from zorro.elements.edges import Member
from zorro.question.decision import Side


@dataclass(frozen=True)
class Step:
    """An element that the search added or took out (none for the start), and what it led to.

    `members` are the element's ids: of a node its number, of a feature its column, or all the
    columns of its group; of an edge its nodes (u, v), or (u, v, k) if there are several.
    """

    kind: Kind | None
    members: tuple[Member, ...]
    fidelity: float
    added: bool = True

    @property
    def node(self) -> int | None:
        """The node, if it is one."""
        return number_of(self.members[0]) if self.kind == NODES else None

    @property
    def feature(self) -> int | None:
        """The feature, if it is one; the first of a group."""
        return number_of(self.members[0]) if self.kind == FEATURES else None


@dataclass(frozen=True)
class PredictedValue:
    """A value that a model gives, and how far it may move and still be the same answer.

    `side` is `"both"`, or `"up"` where it may not fall, or `"down"` where it may not rise further
    than the tolerance. `least_tolerance` is the smallest for which the set would be certified to
    have the fidelity τ, with the certificate's confidence, told from fresh samples; None where they
    are too few to tell.
    """

    value: float
    tolerance: float
    side: Side
    least_tolerance: float | None = None

    @property
    def low(self) -> float:
        """The least that it may be, −∞ if it may fall."""
        return -math.inf if self.side == "down" else self.value - self.tolerance

    @property
    def high(self) -> float:
        """The most that it may be, ∞ if it may rise."""
        return math.inf if self.side == "up" else self.value + self.tolerance

    def __str__(self) -> str:
        sign = {"both": "±", "up": "−", "down": "+"}[self.side]
        return f"{self.value:.4g} {sign} {self.tolerance:.3g}"


@dataclass(frozen=True)
class GraphSummary:
    """Where the query was evaluated.

    `checked` says what made sure that the output there is the whole graph's: a run on the
    `"whole"` graph, a `"local"` test that nothing beyond moves it, or `"none"`. `whole` says that
    no cut of the graph preserved the prediction, so that the whole graph was used;
    `context_matters` that nodes outside the candidates influence it too (they keep their true
    features, and nothing is certified). `both_ways` says that candidates were also looked for
    against the direction of the model's messages.
    """

    candidates: int
    context: int
    edges: int
    hops: int
    halo: int
    checked: str
    whole: bool
    context_matters: bool
    num_nodes: int
    num_features: int
    both_ways: bool = False
    directed: bool = False  # whether an edge is another than its reverse
    edge_elements: int | None = None  # edges that can be kept; None where they are not selectable
    edge_inputs: tuple[str, ...] = ()  # names of what the model gets for edges


def number_of(member: Member) -> int:
    """Return what a node or a feature is called."""
    assert isinstance(member, int)
    return member
