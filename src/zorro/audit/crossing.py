"""Sets of one model's explanations, measured on another model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zorro.elements import EDGE_ATTRIBUTES, EDGES, FEATURES, NODES, RELATIONS, TYPES
from zorro.evaluation import FidelityEstimate
from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.explanation.meter import Meter
from zorro.explanation.typed import TypedMembers
from zorro.graph.names import Labels

SAMPLES = 200


@dataclass(frozen=True)
class MeasuredOn:
    """Measures the sets of explanations on a model, by zorro's own meter.

    The samples are none that the model's own search has seen.

    Args:
        zorro: explains the model, asked as its run was.
        samples: on which each set is measured.
        columns: which feature here is which there, where they are not numbered alike; what is not
            among them is not kept.
        question: options of `Zorro.meter` that say with what every answer is compared; that with
            which each explanation's is when None.
    """

    zorro: Zorro
    samples: int = SAMPLES
    columns: Mapping[int, int] | None = None
    question: Mapping[str, Any] | None = None

    def __call__(self, explanation: Explanation) -> FidelityEstimate:
        """Return how often the set of an explanation keeps this model's answer to its query."""
        return self.fidelity(explanation, self.meter(explanation))

    def meter(self, explanation: Explanation) -> Meter:
        """Return what measures sets for the query of an explanation."""
        e = explanation
        compared: Mapping[str, Any] = {}
        if self.question is not None:
            compared = self.question
        elif e.versus is not None:
            compared = {"why_not": e.versus.other, "contrast": e.versus.contrast}
        elif e.ahead is not None:
            compared = {"among": e.query.rivals, "top": e.ahead.top}
        return self.zorro.meter(e.query.asked, samples=self.samples, **compared)

    def fidelity(self, explanation: Explanation, meter: Meter) -> FidelityEstimate:
        """Return how often the set of an explanation keeps the answer that a meter is for."""
        e = explanation
        kept = self._kept(e) if e.types is None else _by_type(e)
        return meter.fidelity(**{kind: kept[kind] for kind in e.selected})

    def _kept(self, e: Explanation) -> dict[str, Any]:
        """Return what an explanation keeps of each kind, as a meter takes it."""
        return {
            NODES: e.nodes,
            FEATURES: self._features(e.features),
            EDGES: e.edges,
            EDGE_ATTRIBUTES: e.selected.get(EDGE_ATTRIBUTES),
        }

    def _features(self, features: Sequence[int]) -> list[int]:
        if self.columns is None:
            return list(features)
        return [self.columns[feature] for feature in features if feature in self.columns]


def _by_type(e: Explanation) -> dict[str, Any]:
    """Return what an explanation of a graph of several types keeps, as a meter takes it."""
    found: dict[str, Any] = {TYPES: e.node_types, RELATIONS: e.relations}
    for kind, members in ((NODES, e.nodes), (FEATURES, e.features), (EDGES, e.edges)):
        found[kind] = dict(members.items()) if isinstance(members, TypedMembers) else members
    return found


def same_columns(mine: Labels, theirs: Labels) -> dict[int, int] | None:
    """Return which of my features is which of theirs by name; None if they are numbered alike.

    >>> same_columns(["a", "b"], ["b", "c", "a"])
    {0: 2, 1: 0}
    """
    if isinstance(mine, Mapping) or isinstance(theirs, Mapping) or not mine or not theirs:
        return None
    if list(mine) == list(theirs):
        return None
    place = {name: number for number, name in enumerate(theirs)}
    return {number: place[name] for number, name in enumerate(mine) if name in place}
