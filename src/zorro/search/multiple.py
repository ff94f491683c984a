"""Several explanations of one prediction, the paper's algorithms 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from zorro.elements import Selection
from zorro.evaluation.evaluator import Evaluator
from zorro.search.certified import SearchResult
from zorro.search.found import reaches


def search_multiple(
    evaluator: Evaluator,
    find: Callable[[Selection], SearchResult],
    *,
    tau: float,
    max_depth: int,
    allowed: Selection | None = None,
) -> Iterator[SearchResult]:
    """Yield explanations, each disjoint from those it descends from.

    After an explanation is found, the search is repeated on what remains, once for each kind of
    element: without its nodes (all allowed features), without its features (all allowed nodes).
    Edges and their attributes are blocks of their own: it is repeated without those too. A
    branch ends when the fidelity of everything it still allows is not above τ, or at `max_depth`.
    Different branches may yield the same set.

    Args:
        evaluator: of the query, on the search's samples.
        find: searches within what is allowed.
        tau: the fidelity that each set must exceed.
        max_depth: how many explanations may lie on one branch.
        allowed: what may be kept; everything when None.
    """
    if allowed is None:
        allowed = evaluator.everything
    if max_depth < 1:
        return
    reachable = int(evaluator.hits(allowed).sum())
    if not reaches(reachable, evaluator.samples, tau):
        return
    result = find(allowed)
    yield result
    selection = result.found.selection
    if selection.is_blank:
        return  # nothing is needed, so nothing can be removed
    kept = [
        block
        for block in selection.space.blocks
        if any(selection.members(kind).numel() for kind in block)
    ]
    for kinds in product(*kept):
        rest = allowed.without(selection, *kinds)
        yield from search_multiple(evaluator, find, tau=tau, max_depth=max_depth - 1, allowed=rest)
