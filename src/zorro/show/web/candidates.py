"""What may be added to a set: the nodes a prediction can see, and the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zorro.cut import ComputationalGraph
from zorro.elements.groups import gathered
from zorro.graph.names import label
from zorro.show.page.surroundings import Surroundings, group_name, shown_value
from zorro.show.web.schema import Candidate, Candidates


def candidate_nodes(
    graph: ComputationalGraph, surroundings: Surroundings, *, search: str, limit: int
) -> Candidates:
    """Return nodes that a prediction can see, those first that are asked about."""
    query = graph.asked
    centre = surroundings.centre(query)
    ids = sorted(graph.candidates.tolist(), key=lambda node: (node not in centre, node))
    found = _matching(ids, search, lambda node: surroundings.node_label(query, node))
    shown = [
        Candidate(
            id=node,
            name=surroundings.node_label(query, node),
            kind=surroundings.kind(query, node),
        )
        for node in found[:limit]
    ]
    return Candidates(kind="nodes", candidates=shown, total=len(found))


def candidate_features(
    graph: ComputationalGraph, surroundings: Surroundings, *, search: str, limit: int
) -> Candidates:
    """Return features, a group as one: those of the query first, then those that most nodes have.

    Those of a link are its ends'; a query that is a graph has none of its own.
    """
    names, x = surroundings.names, graph.candidate_x  # (n, d)
    of_column = (x != 0).sum(0).tolist()
    centre = surroundings.centre(graph.asked)
    rows = [graph.candidates.tolist().index(node) for node in centre]
    own = x[rows].tolist()
    elements = {members[0]: members for members in gathered(range(x.size(1)), surroundings.groups)}

    def holders(first: int) -> int:
        if len(elements[first]) == 1:
            return int(of_column[first])
        return int((x[:, list(elements[first])] != 0).any(1).sum())

    def name_of(first: int) -> str | None:
        if len(elements[first]) == 1:
            return label(names.features, first)
        return group_name(elements[first], names)

    def is_own(first: int) -> bool:
        return any(row[column] for row in own for column in elements[first])

    def value_of(first: int) -> float | str | None:
        values = [shown_value(row, elements[first], names) for row in own]
        return values[0] if len(values) == 1 else " and ".join(map(str, values)) or None

    order = sorted(elements, key=lambda first: (not is_own(first), -holders(first), first))
    found = _matching(order, search, name_of)
    shown = [
        Candidate(
            id=first,
            name=name_of(first),
            value=value_of(first),
            holders=holders(first),
        )
        for first in found[:limit]
    ]
    return Candidates(kind="features", candidates=shown, total=len(found))


def _matching(
    ids: Sequence[int], search: str, name_of: Callable[[int], str | None]
) -> Sequence[int]:
    """Return the ids that begin with what is searched for, or whose names hold it."""
    wanted = search.strip().casefold()
    if not wanted:
        return ids
    return [
        number
        for number in ids
        if str(number).startswith(wanted) or wanted in (name_of(number) or "").casefold()
    ]
