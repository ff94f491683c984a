"""What elements are called outside of a computational graph."""

from __future__ import annotations

from zorro.cut import ComputationalGraph
from zorro.elements import COARSE, EDGE_ATTRIBUTES, EDGES, FEATURES, NODES, Element, Space
from zorro.elements.edges import Member


def ids_of(element: Element, space: Space, graph: ComputationalGraph) -> tuple[Member, ...]:
    """Return what an element is called; a feature may be several columns.

    Args:
        element: of a query.
        space: all elements of that query.
        graph: that the query is explained on.
    """
    kind, place = element
    if kind in COARSE:
        return (place,)
    if kind == NODES:
        return (int(graph.candidates[place]),)
    if kind == FEATURES:
        return tuple(space.members_of_group(place).tolist())
    assert kind in (EDGES, EDGE_ATTRIBUTES)
    return (graph.edges.labels[place],)
