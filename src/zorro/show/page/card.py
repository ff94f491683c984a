"""An explanation in its graph, as a notebook shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from zorro.elements import EDGE_ATTRIBUTES, EDGES, FEATURES, NODES, RELATIONS, TYPES
from zorro.elements.edges import EdgeLabel
from zorro.explanation import Explanation
from zorro.explanation.notebook import card
from zorro.explanation.sentence import phrases
from zorro.explanation.typed import named_member
from zorro.explanation.written import interval
from zorro.graph.names import Names, label
from zorro.show.kept_edges import KeptEdges
from zorro.show.page.drawing import svg
from zorro.show.page.node_surroundings import NodeSurroundings
from zorro.show.page.surroundings import Surroundings, group_name

_MOST_LISTED = 20


@dataclass(frozen=True)
class Card:
    """An explanation with a drawing and in the words of its data set.

    Args:
        explanation: to show.
        surroundings: the graph, the model's answers and names, as far as they are at hand.
    """

    explanation: Explanation
    surroundings: Surroundings = field(default_factory=NodeSurroundings)

    def _repr_html_(self) -> str:
        e, around = self.explanation, self.surroundings
        scene = around.scene(e.query, e.nodes, hops=e.graph.hops, edges=KeptEdges.of(e))
        return card(
            phrases(e.claim, around.names),
            _lines(e, around),
            drawing=f"{'' if scene is None else svg(e.query, scene, around)}{e.band_svg()}",
        )


def _lines(explanation: Explanation, around: Surroundings) -> list[tuple[str, str]]:
    e, names, fidelity = explanation, around.names, explanation.fidelity
    attributes = _edges(e, EDGE_ATTRIBUTES)
    kept = {
        NODES: (f"{names.node}s", [around.node_label(e.query, node) for node in _flat(e, NODES)]),
        FEATURES: (f"{names.feature}s", [_feature(group, names) for group in _columns(e)]),
        EDGES: ("edges", [_edge(edge, e, around) for edge in _edges(e, EDGES)]),
        EDGE_ATTRIBUTES: ("edges' attributes", [_edge(edge, e, around) for edge in attributes]),
        **{kind: (kind, e.called(kind)) for kind in (TYPES, RELATIONS) if kind in e.selected},
    }
    return [
        *((name, _listed(texts)) for kind, (name, texts) in kept.items() if kind in e.selected),
        (
            "fidelity",
            f"{interval(fidelity)} on {fidelity.samples:,} unseen samples",
        ),
        ("status", e.status),
    ]


def _flat(explanation: Explanation, kind: str) -> list[int]:
    elements = explanation.ordered(kind)
    return [member for members in elements for member in members if isinstance(member, int)]


def _columns(explanation: Explanation) -> list[tuple[int, ...]]:
    elements = explanation.ordered(FEATURES)
    return [tuple(column for column in one if isinstance(column, int)) for one in elements]


def _edges(explanation: Explanation, kind: str) -> list[EdgeLabel]:
    elements = explanation.ordered(kind)
    return [member for members in elements for member in members if isinstance(member, tuple)]


def _feature(members: tuple[int, ...], names: Names) -> str:
    if len(members) > 1:
        return group_name(members, names)
    return label(names.features, members[0]) or str(members[0])


def _edge(edge: EdgeLabel, explanation: Explanation, around: Surroundings) -> str:
    """Return what an edge is called, by the short names of its nodes."""
    if explanation.types is not None:
        return named_member(EDGES, edge, explanation.types)
    one, other, *number = edge
    ends = (around.node_label(explanation.query, end) for end in (one, other))
    to = "→" if explanation.graph.directed else "–"
    return to.join(ends) + "".join(f" ({k})" for k in number)


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:_MOST_LISTED]) or "none"
    more = len(texts) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
