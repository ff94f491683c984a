"""Several explanations of one prediction, the paper's algorithms 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zorro.fidelity.evaluator import Evaluator
from zorro.search.certified import Certified
from zorro.search.found import reaches
from zorro.selection import Selection


def search_multiple(
    evaluator: Evaluator,
    find: Callable[[Selection], Certified],
    *,
    tau: float,
    max_depth: int,
    allowed: Selection | None = None,
) -> Iterator[Certified]:
    """Yield explanations, each disjoint from those it descends from.

    After an explanation is found, the search is repeated twice on what remains: once without its
    nodes (all allowed features), once without its features (all allowed nodes). A branch ends
    when the fidelity of everything it still allows is not above τ, or at `max_depth`. Different
    branches may yield the same set.

    Args:
        evaluator: of the query, on the search's samples.
        find: searches within V_p and F_p.
        tau: the fidelity that each set must exceed.
        max_depth: how many explanations may lie on one branch.
        allowed: V_p and F_p; everything when None.
    """
    if allowed is None:
        allowed = Selection.full(*evaluator.shape, device=evaluator.device)
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
    for rest in (
        allowed.without(selection, nodes=True),
        allowed.without(selection, features=True),
    ):
        yield from search_multiple(evaluator, find, tau=tau, max_depth=max_depth - 1, allowed=rest)
