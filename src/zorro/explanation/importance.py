"""How much each element matters to an explanation, and so in which order they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from zorro.arguments import check_choice
from zorro.elements import Element, Kind, Selection, Space
from zorro.elements.edges import Member
from zorro.errors import InputError
from zorro.evaluation.evaluator import Evaluator
from zorro.explanation.explanation import Explanation
from zorro.explanation.members import ids_of
from zorro.search.ranking import contributions

Beside = Literal["everything", "nothing"]


@dataclass(frozen=True)
class ElementImportance:
    """What one element brings to a set.

    Args:
        kind: of the element.
        members: its ids: of a node its number, of a feature its column, or all of its group's; of
            an edge its nodes.
        kept: whether the set keeps it.
        fidelity: F(S ∪ e) − F(S ∖ e): what is lost if it is redrawn too, or gained if it is added.
        probability: the mean probability of the answer with the element, less that without.
        influence: how often the answer changes with the element, in whatever direction.
        moved: how far the log-probability p of the answer moves with the element, by the mean of
            roots: E √|p(with it) − p(without)|.
        value: the mean output with the element, less that without; None if it is no value.
    """

    kind: Kind
    members: tuple[Member, ...]
    kept: bool
    fidelity: float
    probability: float
    influence: float = 0.0
    moved: float = 0.0
    value: float | None = None


@dataclass(frozen=True)
class Importance:
    """All elements of a query, the one that matters most to an explanation first.

    They stand in the order of `fidelity`, then of `probability`; where neither tells them apart,
    in the order in which the search added them, and those that it did not add by their ids.

    Args:
        ranked: the elements.
        samples: on how many noise samples they were compared.
    """

    ranked: tuple[ElementImportance, ...]
    samples: int

    def of(self, kind: Kind) -> dict[Member, float]:
        """Return the fidelity that each id of a kind brings, the most first."""
        every = [each for each in self.ranked if each.kind == kind]
        return {member: each.fidelity for each in every for member in each.members}

    def influence(self, kind: Kind) -> dict[Member, float]:
        """Return how often the answer changes with each id of a kind, the most often first.

        Where none changes it more often, the one comes first that moves it farther.
        """
        every = [each for each in self.ranked if each.kind == kind]
        every.sort(key=lambda each: (-each.influence, -each.moved))
        return {member: each.influence for each in every for member in each.members}

    def moved(self, kind: Kind) -> dict[Member, float]:
        """Return how far the answer moves with each id of a kind, the farthest first.

        In whatever direction. Of the distance of the log-probabilities with and without it the
        root is averaged: what often moves the answer a little counts beside what moves it far, but
        seldom.
        """
        every = [each for each in self.ranked if each.kind == kind]
        every.sort(key=lambda each: -each.moved)
        return {member: each.moved for each in every for member in each.members}

    def values(self, kind: Kind) -> dict[Member, float]:
        """Return what each id of a kind adds to the model's value, the most first.

        That is E[f | S ∪ e] − E[f | S ∖ e], with S the set that is kept.
        """
        every = [each for each in self.ranked if each.kind == kind and each.value is not None]
        if not every:
            raise InputError(f"kind: expected one that adds to a value, got {kind!r}")
        added = {member: each.value or 0.0 for each in every for member in each.members}
        return dict(sorted(added.items(), key=lambda it: -it[1]))


def importance_of(
    evaluator: Evaluator, explanation: Explanation | None = None, *, beside: Beside = "everything"
) -> Importance:
    """Return how much each element matters to an explanation.

    Args:
        evaluator: of the explained query; its samples are those on which sets are compared.
        explanation: whose set it is about.
        beside: which set it is about when there is none.
    """
    check_choice("beside", beside, get_args(Beside))
    if explanation is not None and evaluator.graph.asked != explanation.query:
        raise InputError(
            f"explanation: expected one of {evaluator.graph.asked}, got one of {explanation.query}"
        )
    ids = _ids_by_kind(evaluator)
    if explanation is None:
        selection = evaluator.everything if beside == "everything" else evaluator.nothing
    else:
        selection = _selection(evaluator.space, ids, explanation)
    steps = () if explanation is None else explanation.steps
    added = [(step.kind, step.members) for step in steps if step.added]
    turn = {element: number for number, element in enumerate(added)}
    every = [
        ElementImportance(kind, members, kept, *brought)
        for kind, of_all in contributions(evaluator, selection).items()
        for members, kept, *brought in zip(
            ids[kind],
            selection.masks[kind].tolist(),
            of_all.fidelity.tolist(),
            of_all.probability.tolist(),
            of_all.influence.tolist(),
            of_all.moved.tolist(),
            [None] * len(ids[kind]) if of_all.value is None else of_all.value.tolist(),
            strict=True,
        )
    ]
    every.sort(
        key=lambda it: (
            -it.fidelity,
            -it.probability,
            turn.get((it.kind, it.members), len(turn)),
            it.members,
        )
    )
    return Importance(tuple(every), evaluator.samples)


def _ids_by_kind(evaluator: Evaluator) -> Mapping[Kind, Sequence[tuple[Member, ...]]]:
    """Return the ids of each element of each selectable kind, by its place."""
    space = evaluator.space
    return {
        kind: [ids_of(Element(kind, place), space, evaluator.graph) for place in range(size)]
        for kind, size in space.sizes.items()
    }


def _selection(
    space: Space, ids: Mapping[Kind, Sequence[tuple[Member, ...]]], explanation: Explanation
) -> Selection:
    """Return an explanation's set as a selection of the elements with these ids."""
    selected = explanation.selected
    if set(selected) != set(space.kinds):
        raise InputError(
            f"explanation: expected a set of {' and '.join(space.kinds)}, as this explainer "
            f"selects, got one of {' and '.join(selected)}"
        )
    masks = {}
    for kind, elements in ids.items():
        wanted = set(selected[kind])
        shares = [len(wanted.intersection(members)) / len(members) for members in elements]
        if any(0 < share < 1 for share in shares):
            raise InputError("explanation: expected whole feature_groups, got a part of one")
        whole = [share == 1 for share in shares]
        masks[kind] = torch.tensor(whole, dtype=torch.bool, device=space.device)
    return Selection(space, masks)
