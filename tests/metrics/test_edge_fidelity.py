"""Fidelity of sets of edges, plain and robust, against all subsets of a few edges."""

import itertools
import math
from typing import Any

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import (
    edge_fidelity,
    robust_fidelity_minus_acc,
    robust_fidelity_minus_prob,
    robust_fidelity_plus_acc,
    robust_fidelity_plus_prob,
)

EDGES = 6
SAMPLES = 3000
FEW_SDS = 4.5 * 0.5 / math.sqrt(SAMPLES)
SETS = [(), (0, 3), (1, 2, 5), tuple(range(EDGES))]


def subsets(members):
    for size in range(len(members) + 1):
        yield from itertools.combinations(members, size)


@pytest.fixture(scope="module", params=[0, 1])
def table(request):
    """The probabilities of three classes for every graph of six possible edges, drawn at random."""
    generator = torch.Generator().manual_seed(request.param)
    return {
        frozenset(some): torch.rand(3, generator=generator).softmax(0)
        for some in subsets(range(EDGES))
    }


def scores_from(table):
    return lambda there: table[frozenset(there.nonzero().flatten().tolist())]


def mask(members):
    return torch.tensor([edge in members for edge in range(EDGES)])


def expectation(table, fixed, free, probability, value):
    """The mean of a value of the graph, over free edges that are there with a probability."""
    total = 0.0
    for some in subsets(free):
        weight = probability ** len(some) * (1 - probability) ** (len(free) - len(some))
        total += weight * value(table[frozenset({*fixed, *some})])
    return total


def rest_of(members):
    return [edge for edge in range(EDGES) if edge not in members]


@pytest.mark.parametrize("kept", SETS)
@pytest.mark.parametrize("presence", [0.0, 0.3, 0.5])
def test_fidelity_is_the_expectation_over_all_graphs(table, kept, presence):
    true = int(table[frozenset(range(EDGES))].argmax())
    exact = expectation(table, kept, rest_of(kept), presence, lambda p: int(p.argmax()) == true)
    found = edge_fidelity(scores_from(table), mask(kept), presence=presence, samples=SAMPLES)
    assert found == pytest.approx(exact, abs=FEW_SDS)
    if presence == 0 or len(kept) == EDGES:
        assert found == exact  # nothing is left to chance


@pytest.mark.parametrize("selected", SETS)
def test_robust_fidelities_are_expectations_over_all_graphs(table, selected):
    """Removed with probability .1 is there with .9: the other way round than in the definition."""
    whole = table[frozenset(range(EDGES))]
    true = int(whole.argmax())
    lost = {
        "acc": lambda p: float(int(p.argmax()) != true),
        "prob": lambda p: float(whole[true] - p[true]),
    }
    scores = scores_from(table)
    options: dict[str, Any] = {"samples": SAMPLES, "seed": 5}
    for kind, value in lost.items():
        further = {} if kind == "acc" else {"return_type": "probs"}
        plus: Any = {
            "acc": robust_fidelity_plus_acc,
            "prob": robust_fidelity_plus_prob,
        }[kind]
        minus: Any = {
            "acc": robust_fidelity_minus_acc,
            "prob": robust_fidelity_minus_prob,
        }[kind]
        assert plus(scores, mask(selected), **options, **further) == pytest.approx(
            expectation(table, rest_of(selected), selected, 0.9, value), abs=FEW_SDS
        )
        assert minus(scores, mask(selected), **options, **further) == pytest.approx(
            expectation(table, selected, rest_of(selected), 0.9, value), abs=FEW_SDS
        )


@pytest.mark.parametrize("selected", SETS)
def test_their_ends_are_the_classical_ones(table, selected):
    """α₁ = 1 removes the explanation, α₂ = 0 keeps nothing else."""
    whole = table[frozenset(range(EDGES))]
    true = int(whole.argmax())
    without, alone = table[frozenset(rest_of(selected))], table[frozenset(selected)]
    scores = scores_from(table)
    plus = robust_fidelity_plus_prob(
        scores, mask(selected), return_type="probs", alpha=1.0, samples=3
    )
    minus = robust_fidelity_minus_prob(
        scores, mask(selected), return_type="probs", alpha=0.0, samples=3
    )
    assert plus == pytest.approx(float(whole[true] - without[true]))
    assert minus == pytest.approx(float(whole[true] - alone[true]))
    changes = robust_fidelity_plus_acc(scores, mask(selected), alpha=1.0, samples=3)
    assert changes == float(int(without.argmax()) != true)


def test_seeds_and_kinds_of_scores():
    """Logits, their logarithms and probabilities say the same; other seeds draw other edges."""

    def logits(there):
        return torch.stack([there.float().sum() - 4, torch.tensor(0.0)])

    kept = mask((0, 1))
    found = [edge_fidelity(logits, kept, samples=50, seed=seed) for seed in range(4)]
    assert found[0] == edge_fidelity(logits, kept, samples=50, seed=0)
    assert len(set(found)) > 1
    kinds: dict[Any, Any] = {
        "logits": logits,
        "log_probs": lambda there: logits(there).double().log_softmax(0),
        "probs": lambda there: logits(there).double().softmax(0),
    }
    values = [
        robust_fidelity_plus_prob(scores, kept, return_type=kind, alpha=0.5)
        for kind, scores in kinds.items()
    ]
    assert values == pytest.approx([values[0]] * 3)


@pytest.mark.parametrize(
    ("function", "options", "problem"),
    [
        (edge_fidelity, {"presence": 1.0}, "presence: expected a number from 0 to below 1"),
        (edge_fidelity, {"presence": -0.1}, "presence: expected"),
        (edge_fidelity, {"samples": 0}, "samples: expected at least 1, got 0"),
        (robust_fidelity_plus_acc, {"alpha": 1.5}, "alpha: expected a probability"),
        (robust_fidelity_minus_acc, {"samples": 0}, "samples: expected at least 1, got 0"),
    ],
)
def test_what_cannot_be_used(function, options, problem):
    with pytest.raises(InputError, match=problem):
        function(lambda there: torch.rand(2), mask((0,)), **options)


def test_sets_are_hard():
    with pytest.raises(InputError, match="kept: expected a hard mask"):
        edge_fidelity(lambda there: torch.rand(2), torch.full((3,), 0.5))
    with pytest.raises(InputError, match="selected: expected a hard mask"):
        robust_fidelity_plus_acc(lambda there: torch.rand(2), torch.full((3,), 0.5))
