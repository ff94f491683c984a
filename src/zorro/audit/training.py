"""How often explanations would keep a training node if others had been trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zorro.audit.cases import Case
from zorro.audit.permutations import adjusted_by_permutation, permute_within, standardise
from zorro.audit.setting import NOT_TRAINING, TRAINING, Labels
from zorro.audit.share import FAMILIES


def training_chance(
    classes: Sequence[Sequence[Case]], *, predicted: Labels | None
) -> list[tuple[float, float]]:
    """Return of each class the share by chance, and a p-value over all classes.

    The training nodes are dealt out anew among the candidates to which the model gives the same
    class, while the sets stay as they are. So a single training node that all sets keep is one
    coincidence, not one for each set.

    Args:
        classes: the cases of each; empty if none knows its training nodes.
        predicted: (N,), the model's class of each node.
    """
    marks: dict[int, bool] = {}
    kept: list[list[list[int]]] = []  # of each class, of each case that keeps other nodes
    for cases in classes:
        kept.append([])
        for case in cases:
            if case.place is None or TRAINING not in case.place.kinds:
                continue
            place, is_training = case.place, case.place.kinds[TRAINING]
            is_other = is_training | place.kinds[NOT_TRAINING]
            marks.update(zip(place.nodes[is_other], is_training[is_other], strict=True))
            if others := place.nodes[is_other & case.is_kept(place)].tolist():
                kept[-1].append(others)
    nodes = np.array(sorted(marks), dtype=np.int64)
    is_training = np.array([marks[node] for node in nodes.tolist()], dtype=np.bool_)
    strata = np.zeros_like(nodes) if predicted is None else predicted[nodes]
    sets = [np.searchsorted(nodes, some) for of_class in kept for some in of_class]
    flat = np.concatenate([*sets, np.empty(0, dtype=np.int64)])  # (m,), set after set
    starts = np.cumsum([0, *map(len, sets)])[:-1]
    ends = np.cumsum([0, *map(len, kept)])  # of the classes, in sets
    counts = []
    for rows in permute_within(strata, entries=len(nodes) + len(flat)):
        dealt = is_training[rows][:, flat]  # (p, m)
        has_one = np.logical_or.reduceat(dealt, starts, axis=1) if sets else dealt  # (p, sets)
        before = np.pad(has_one.cumsum(axis=1), ((0, 0), (1, 0)))
        counts.append(before[:, ends[1:]] - before[:, ends[:-1]])  # (p, classes)
    found = np.concatenate(counts).astype(np.float64)
    q_values = adjusted_by_permutation(standardise(found), families=FAMILIES)
    chances = found.mean(axis=0) / [max(1, len(cases)) for cases in classes]
    return list(zip(chances.tolist(), q_values.tolist(), strict=True))
