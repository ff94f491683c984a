"""What may be added to a set: the nodes and edges a prediction can see, and the features."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from zorro.cut import ComputationalGraph
from zorro.elements import EDGE_ATTRIBUTES, EDGES, FEATURES, NODES, RELATIONS, TYPES, Kind
from zorro.elements.edges import EdgeLabel
from zorro.elements.groups import gathered
from zorro.explanation.typed import spelled_relation
from zorro.graph.names import label
from zorro.show.page.address import edge_address
from zorro.show.page.view import View, group_name, shown_value
from zorro.show.web.schema import Candidate, Candidates


def candidate_nodes(
    graph: ComputationalGraph, view: View, *, search: str, limit: int
) -> Candidates:
    """Return nodes that a prediction can see, those first that are asked about."""
    query = graph.asked
    centre = view.centre(query)
    ids = sorted(graph.candidates.tolist(), key=lambda node: (node not in centre, node))
    found = _matching(ids, search, lambda node: view.node_label(query, node))
    shown = [
        Candidate(
            id=node,
            name=view.node_label(query, node),
            kind=view.kind(query, node),
        )
        for node in found[:limit]
    ]
    return Candidates(kind="nodes", candidates=shown, total=len(found))


def candidate_features(
    graph: ComputationalGraph, view: View, *, search: str, limit: int
) -> Candidates:
    """Return features, a group as one: those of the query first, then those that most nodes have.

    Those of a link are its ends'; a query that is a graph has none of its own.
    """
    names, x = view.names, graph.candidate_x  # (n, d)
    of_column = (x != 0).sum(0).tolist()
    centre = view.centre(graph.asked)
    rows = [graph.candidates.tolist().index(node) for node in centre]
    own = x[rows].tolist()
    types = view.types
    columns = x.size(1) if types is None else types.num_features  # others only tell nodes apart
    elements = {members[0]: members for members in gathered(range(columns), view.groups)}

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


def candidate_edges(
    kind: Kind,
    graph: ComputationalGraph,
    view: View,
    *,
    search: str,
    limit: int,
) -> Candidates:
    """Return edges that a prediction can see, those first that lead to what is asked about.

    A search names one end, by its number or its name, or both.
    """
    query = graph.asked
    centre = set(view.centre(query))
    wanted = [part.casefold() for part in re.split(r"\s*[-–→]\s*|\s+", search.strip()) if part]

    def is_end(node: int, part: str, *, whole: bool) -> bool:
        if part.isdigit():  # numbers stand in names, too: C17
            return str(node) == part or (not whole and str(node).startswith(part))
        return part in view.node_label(query, node).casefold()

    def is_found(edge: EdgeLabel) -> bool:
        if len(wanted) < 2:
            return all(any(is_end(end, part, whole=False) for end in edge[:2]) for part in wanted)
        one, other = wanted[:2]  # who goes on to the second has written the first to its end
        return any(
            is_end(u, one, whole=True) and is_end(v, other, whole=False)
            for u, v in (edge[:2], edge[1::-1])
        )

    order = sorted(graph.edges.labels, key=lambda edge: (centre.isdisjoint(edge[:2]), edge))
    found = [edge for edge in order if is_found(edge)]
    shown = [Candidate(id=edge_address(edge), name=None) for edge in found[:limit]]
    return Candidates(kind=kind, candidates=shown, total=len(found))


def candidate_types(
    kind: Kind, graph: ComputationalGraph, view: View, *, search: str, limit: int
) -> Candidates:
    """Return the types of nodes, or the relations, of a graph that has several."""
    types = view.types
    assert types is not None, "sets are of types where there are some"
    names = (
        list(types.names)
        if kind == TYPES
        else [spelled_relation(types.relation_of(place)) for place in range(len(types.joined))]
    )
    found = _matching(range(len(names)), search, names.__getitem__)
    shown = [Candidate(id=number, name=names[number]) for number in found[:limit]]
    return Candidates(kind=kind, candidates=shown, total=len(found))


LISTED: Mapping[Kind, Callable[..., Candidates]] = {
    NODES: candidate_nodes,
    FEATURES: candidate_features,
    EDGES: partial(candidate_edges, EDGES),
    EDGE_ATTRIBUTES: partial(candidate_edges, EDGE_ATTRIBUTES),
    TYPES: partial(candidate_types, TYPES),
    RELATIONS: partial(candidate_types, RELATIONS),
}


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
