"""An explanation in its graph, as a notebook shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from zorro.explanation import Explanation
from zorro.explanation.notebook import card
from zorro.explanation.sentence import phrases
from zorro.graph.names import Names, label
from zorro.show.page.drawing import svg
from zorro.show.page.surroundings import Surroundings

_MOST_LISTED = 20


@dataclass(frozen=True)
class Card:
    """An explanation with its neighbourhood and in the words of its data set.

    Args:
        explanation: to show.
        surroundings: the graph, the model's answers and names, as far as they are at hand.
    """

    explanation: Explanation
    surroundings: Surroundings = field(default_factory=Surroundings)

    def _repr_html_(self) -> str:
        e, names = self.explanation, self.surroundings.names
        scene = self.surroundings.scene(e)
        return card(
            phrases(e.claim, names),
            _lines(e, names),
            drawing="" if scene is None else svg(scene, self.surroundings),
        )


def _lines(explanation: Explanation, names: Names) -> list[tuple[str, str]]:
    fidelity = explanation.fidelity
    return [
        (f"{names.node}s", _listed([label(names.nodes, n) or str(n) for n in explanation.nodes])),
        (
            f"{names.feature}s",
            _listed([label(names.features, f) or str(f) for f in explanation.features]),
        ),
        (
            "fidelity",
            f"{fidelity.value:.2f} [{fidelity.lower:.2f}, {fidelity.upper:.2f}] on "
            f"{fidelity.samples:,} unseen samples",
        ),
        ("status", explanation.status),
    ]


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:_MOST_LISTED]) or "none"
    more = len(texts) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
