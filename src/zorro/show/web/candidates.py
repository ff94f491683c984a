"""What may be added to a set: the nodes a prediction can see, and the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from zorro.cut import ComputationalGraph
from zorro.graph.names import label
from zorro.show.page import payload
from zorro.show.page.surroundings import Surroundings
from zorro.show.web.schema import Candidate, Candidates


def candidate_nodes(
    graph: ComputationalGraph, surroundings: Surroundings, *, search: str, limit: int
) -> Candidates:
    """Return nodes that a prediction can see, the query first."""
    ids = sorted(graph.candidates.tolist(), key=lambda node: (node != graph.query, node))
    names = surroundings.names
    found = _matching(ids, search, lambda node: label(names.nodes, node))
    shown = [
        Candidate(
            id=node,
            name=label(names.nodes, node),
            answer=surroundings.answer(node),
            truth=surroundings.truth(node),
        )
        for node in found[:limit]
    ]
    return Candidates(kind="nodes", candidates=shown, total=len(found))


def candidate_features(
    graph: ComputationalGraph, surroundings: Surroundings, *, search: str, limit: int
) -> Candidates:
    """Return features: those of the query first, then those that most candidates have."""
    own = graph.x[graph.target]  # (d,)
    holders = (graph.candidate_x != 0).sum(0)  # (d,)
    order = torch.argsort(holders + (own != 0) * (graph.candidates.numel() + 1), descending=True)
    names = surroundings.names
    found = _matching(order.tolist(), search, lambda feature: label(names.features, feature))
    shown = [
        Candidate(
            id=feature,
            name=label(names.features, feature),
            value=payload.significant(float(own[feature])),
            holders=int(holders[feature]),
        )
        for feature in found[:limit]
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
