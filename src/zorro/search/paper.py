"""The paper's greedy search, algorithm 1 to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import torch
from torch import Tensor

from zorro.elements import Element, Kind, Selection
from zorro.evaluation.evaluator import Evaluator
from zorro.search.found import Found, Move, OnStep, progress_of, reaches, unwatched


def greedy_search(
    evaluator: Evaluator,
    *,
    tau: float,
    k: int | None = 10,
    allowed: Selection | None = None,
    on_step: OnStep = unwatched,
) -> Found:
    """Grow a selection one element at a time until its fidelity exceeds τ.

    Nodes are ranked once by F({v}, F_p) and features by F(V_p, {f}); the first element is the
    best of both, and each step tries the first `k` remaining elements of each ranking and adds
    the one with the highest fidelity. Ties go to features, then to the lowest index. While one of
    them is empty only its elements are tried, since no other can change the fidelity. Edges, and
    their attributes, are ranked by themselves and need no other kind.

    Args:
        evaluator: of the query.
        tau: the search ends when the fidelity is greater than this.
        k: elements of each kind tried per step; None tries all.
        allowed: V_p and F_p; everything when None.
        on_step: told of each step.
    """
    selection = evaluator.nothing
    allowed = allowed or evaluator.everything
    kinds = evaluator.space.kinds
    samples = evaluator.samples
    hits = int(evaluator.hits(selection).sum())
    moves = [Move(None, hits / samples)]
    on_step(progress_of(selection, moves))
    if reaches(hits, samples, tau):
        return Found(selection, hits, samples, tuple(moves))

    rankings: dict[Kind, dict[int, int]] = {}
    for kind in kinds:
        others = selection.with_all_of(allowed, evaluator.space.partners(kind))
        rankings[kind] = _ranked(hits_of(evaluator, others, kind, allowed.members(kind)))
    following: _Choice | None = None
    if any(rankings.values()):
        first, hits_alone = _best(rankings)
        # With no partner an element alone keeps nothing yet.
        following = (first, hits if evaluator.space.partners(first.kind) else hits_alone)
    while following is not None:
        element, hits = following
        selection = selection.toggled(element)
        moves.append(Move(element, hits / samples))
        on_step(progress_of(selection, moves))
        if reaches(hits, samples, tau):
            break
        following = _next_choice(evaluator, selection, rankings, k)
    return Found(selection, hits, samples, tuple(moves), rankings)


_Choice = tuple[Element, int]  # an element, and the hits with it


def _next_choice(
    evaluator: Evaluator,
    selection: Selection,
    rankings: Mapping[Kind, dict[int, int]],
    k: int | None,
) -> _Choice | None:
    """Return the best addition among the first `k` remaining elements of each kind, if any."""
    tried: dict[Kind, dict[int, int]] = {}
    for kind, ranking in rankings.items():
        if all(selection.members(other).numel() for other in evaluator.space.partners(kind)):
            members = _first_remaining(ranking, selection.members(kind), k)
            tried[kind] = hits_of(evaluator, selection, kind, members)
    return _best(tried) if any(tried.values()) else None


def hits_of(
    evaluator: Evaluator, selection: Selection, kind: Kind, members: Tensor
) -> dict[int, int]:
    """Return for each of a kind's members the number of hits once it is added to `selection`."""
    if members.numel() == 0:
        return {}
    hits = evaluator.hits_toggling(selection, kind, members).sum(1)  # (k,)
    return dict(zip(members.tolist(), hits.tolist(), strict=True))


def _ranked(hits: dict[int, int]) -> dict[int, int]:
    """Sort by hits, descending; equal hits stay in ascending index."""
    return dict(sorted(hits.items(), key=lambda item: -item[1]))


def _best(tried: Mapping[Kind, dict[int, int]]) -> _Choice:
    """Return the first element with the most hits, of the last kind that has one, and the hits."""
    found = [
        (Element(kind, index), hits)
        for kind, each in reversed(list(tried.items()))
        for index, hits in each.items()
    ]
    return max(found, key=lambda choice: choice[1])


def _first_remaining(ranking: dict[int, int], selected: Tensor, k: int | None) -> Tensor:
    """Return the first `k` elements of a ranking that are not selected, in ascending order."""
    taken = set(selected.tolist())
    remaining = (element for element in ranking if element not in taken)
    return torch.tensor(sorted(islice(remaining, k)), dtype=torch.long, device=selected.device)
