"""The paper's greedy search, algorithm 1 to the letter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import torch
from torch import Tensor

from zorro.fidelity.evaluator import Evaluator
from zorro.search.found import Found, Move, OnStep, progress_of, reaches, unwatched
from zorro.selection import Selection


def search(
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
    the one with the highest fidelity. Ties go to features, then to the lowest index. While one
    side is empty only its elements are tried, since no other can change the fidelity.

    Args:
        evaluator: of the query.
        tau: the search ends when the fidelity is greater than this.
        k: elements of each kind tried per step; None tries all.
        allowed: V_p and F_p; everything when None.
        on_step: told of each step.
    """
    nothing = Selection.empty(*evaluator.shape, device=evaluator.device)
    allowed = allowed or Selection(~nothing.nodes, ~nothing.features)
    samples = evaluator.samples
    hits = int(evaluator.hits(nothing).sum())
    moves = [Move(None, None, hits / samples)]
    on_step(progress_of(nothing, moves))
    if reaches(hits, samples, tau):
        return Found(nothing, hits, samples, tuple(moves))

    every_feature = Selection(nothing.nodes, allowed.features)
    every_node = Selection(allowed.nodes, nothing.features)
    nodes = _ranked(hits_of(evaluator.hits_toggling_nodes, every_feature, allowed.rows))
    features = _ranked(hits_of(evaluator.hits_toggling_features, every_node, allowed.columns))
    first_is_node = _best(nodes)[1] > _best(features)[1]
    element = _best(nodes)[0] if first_is_node else _best(features)[0]
    following: _Choice | None = (first_is_node, element, hits)
    selection = nothing
    while following is not None:
        is_node, element, hits = following
        selection = selection.with_node(element) if is_node else selection.with_feature(element)
        row, column = (element, None) if is_node else (None, element)
        moves.append(Move(row, column, hits / samples))
        on_step(progress_of(selection, moves))
        if reaches(hits, samples, tau):
            break
        following = _next_choice(evaluator, selection, nodes, features, k)
    return Found(selection, hits, samples, tuple(moves), nodes, features)


_Choice = tuple[bool, int, int]  # whether it is a node, which, and the hits with it


def _next_choice(
    evaluator: Evaluator,
    selection: Selection,
    nodes: dict[int, int],
    features: dict[int, int],
    k: int | None,
) -> _Choice | None:
    """Return the best addition among the first `k` remaining nodes and features, if any."""
    tried_nodes: dict[int, int] = {}
    tried_features: dict[int, int] = {}
    if selection.columns.numel():
        rows = _first_remaining(nodes, selection.rows, k)
        tried_nodes = hits_of(evaluator.hits_toggling_nodes, selection, rows)
    if selection.rows.numel():
        columns = _first_remaining(features, selection.columns, k)
        tried_features = hits_of(evaluator.hits_toggling_features, selection, columns)
    if not tried_nodes and not tried_features:
        return None
    row, hits_with_row = _best(tried_nodes)
    column, hits_with_column = _best(tried_features)
    if hits_with_row <= hits_with_column:
        return False, column, hits_with_column
    return True, row, hits_with_row


def hits_of(
    hits_adding: Callable[[Selection, Tensor], Tensor], selection: Selection, elements: Tensor
) -> dict[int, int]:
    """Return for each of `elements` the number of hits once it is added to `selection`."""
    if elements.numel() == 0:
        return {}
    hits = hits_adding(selection, elements).sum(1)  # (k,)
    return dict(zip(elements.tolist(), hits.tolist(), strict=True))


def _ranked(hits: dict[int, int]) -> dict[int, int]:
    """Sort by hits, descending; equal hits stay in ascending index."""
    return dict(sorted(hits.items(), key=lambda item: -item[1]))


def _best(hits: dict[int, int]) -> tuple[int, int]:
    """Return the first element with the most hits and those hits; (−1, −1) of nothing."""
    return max(hits.items(), key=lambda item: item[1], default=(-1, -1))


def _first_remaining(ranking: dict[int, int], selected: Tensor, k: int | None) -> Tensor:
    """Return the first `k` elements of a ranking that are not selected, in ascending order."""
    taken = set(selected.tolist())
    remaining = (element for element in ranking if element not in taken)
    return torch.tensor(sorted(islice(remaining, k)), dtype=torch.long, device=selected.device)
