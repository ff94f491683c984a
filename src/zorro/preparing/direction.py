"""Whether an edge is another element than its reverse."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from zorro.elements import drops_edges
from zorro.elements.edges import is_directed
from zorro.errors import InputError
from zorro.graph.edge_index import Edges
from zorro.preparing.settings import Settings


def settled_direction(
    settings: Settings, graphs: Callable[[], list[tuple[Tensor | Edges, int]]]
) -> bool:
    """Return whether an edge is another than its reverse.

    Args:
        settings: what the user says of it, if anything; it does not matter unless edges are
            selectable.
        graphs: the edge index of each graph, and how many nodes it has.
    """
    directed = settings.directed
    if not drops_edges(settings.asked.keep):
        if directed is not None:
            raise InputError(
                f"directed: expected 'edges' in keep where it is given, got {directed}"
            )
        return False
    check_direction(directed)
    every = graphs()
    if not any(map(_edges_in, (edge_index for edge_index, _ in every))):
        raise InputError("edges: expected some to keep, since keep has 'edges', got none")
    if directed is not None:
        return directed
    for edge_index, nodes in every:
        if not isinstance(edge_index, Tensor):
            raise InputError("directed: expected True or False for a stored graph, got None")
        if is_directed(edge_index, nodes):
            return True
    return False


def check_direction(directed: bool | None) -> None:
    """Refuse what is neither yes, nor no, nor unsaid."""
    if directed is not None and not isinstance(directed, bool):
        raise InputError(f"directed: expected True, False or None, got {directed!r}")


def _edges_in(edge_index: Tensor | Edges) -> int:
    return edge_index.size(1) if isinstance(edge_index, Tensor) else edge_index.num_edges
