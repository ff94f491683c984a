"""Certified searches: true as often as they say, bounded, and safe to interrupt."""

import itertools
from typing import Any

import pytest
import torch
from scipy.stats import binom
from torch import nn

from zorro import Zorro
from zorro.errors import InputError
from zorro.evaluation.evidence import level
from zorro.search import Budget, certified
from zorro.search.certificate import share_needed

FEATURES = 8
NO_EDGES = torch.empty(2, 0, dtype=torch.long)


class Linear(nn.Module):
    """Class 1 where a weighted sum of a node's own features is above a threshold."""

    def __init__(self, weight, threshold):
        super().__init__()
        self.lin = nn.Linear(FEATURES, 1)
        with torch.no_grad():
            self.lin.weight.copy_(weight)
            self.lin.bias.fill_(-threshold)

    def forward(self, x, edge_index):
        score = self.lin(x)
        return torch.cat([-score, score], dim=1)


def a_model(seed):
    generator = torch.Generator().manual_seed(seed)
    x = (torch.rand(40, FEATURES, generator=generator) < 0.4).float()
    weight = torch.randn(FEATURES, generator=generator)
    return Linear(weight, float((x @ weight).median())), x


def exact_fidelity(model, x, features):
    """Sum the probabilities of all noise patterns that keep the prediction."""
    patterns = torch.tensor(list(itertools.product([0.0, 1.0], repeat=FEATURES)))
    share = x.mean(0)
    free = [f for f in range(FEATURES) if f not in features]
    probability = torch.where(patterns == 1, share, 1 - share)[:, free].prod(1)
    patterns[:, list(features)] = x[0, list(features)]
    kept = model(patterns, NO_EDGES).argmax(1) == model(x, NO_EDGES)[0].argmax()
    repeats = 2 ** len(features)  # patterns that differ in kept features only
    return float((probability.double() * kept).sum() / repeats)


def some_fidelities(model, x):
    return sorted(
        exact_fidelity(model, x, chosen)
        for size in range(FEATURES)
        for chosen in itertools.combinations(range(FEATURES), size)
    )


def test_certified_sets_have_the_fidelity_with_the_promised_probability():
    """τ is put just above what many sets have, where a search is tempted most."""
    delta, wrong, certified = 0.2, 0, 0
    for seed in range(60):
        model, x = a_model(seed)
        below = [f for f in some_fidelities(model, x) if 0.6 < f < 0.98]
        if not below:
            continue
        tau = below[len(below) // 2] + 1e-4
        zorro = Zorro(model, x, NO_EDGES, hops=0, tau=tau, delta=delta, samples=30, seed=seed)
        explanation = zorro.explain(0)
        assert explanation.certificate is not None
        if explanation.certificate.certified:
            certified += 1
            features = explanation.features if explanation.nodes else ()
            wrong += exact_fidelity(model, x, features) < tau
    assert certified > 25
    assert wrong <= binom.ppf(0.999, certified, delta)


def test_exact_fidelity_is_what_is_measured():
    model, x = a_model(1)
    zorro = Zorro(model, x, NO_EDGES, hops=0)
    measured = zorro.fidelity(0, nodes=[0], features=[1, 5], samples=4000)
    assert measured.lower < exact_fidelity(model, x, [1, 5]) < measured.upper


def test_the_certificate_says_what_was_tested():
    model, x = a_model(3)
    explanation = Zorro(model, x, NO_EDGES, hops=0, tau=0.8).explain(0)
    certificate = explanation.certificate
    assert certificate is not None
    assert (certificate.tau, certificate.delta) == (0.8, 0.05)
    assert certificate.certified
    assert certificate.bound >= 0.8
    assert 0 < certificate.hits <= certificate.samples
    assert certificate.attempts >= 1
    assert explanation.status in ("certified", "nothing needed", "everything needed")


def test_without_a_certificate_the_searchs_own_samples_decide():
    model, x = a_model(3)
    explanation = Zorro(model, x, NO_EDGES, hops=0, tau=0.8, delta=None).explain(0)
    assert explanation.certificate is None
    assert explanation.status == "reached"
    assert explanation.search_fidelity.value > 0.8


@pytest.mark.parametrize("cost", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("tau", [0.5, 0.85, 0.98, 0.99])
def test_however_dear_samples_are_some_misses_are_allowed(tau, cost):
    planned = certified._planned(tau, cost)
    target = share_needed(tau, level(0.05, 2), planned)
    assert 1 - target > 0.4 * (1 - tau)  # of the misses that τ itself would allow


def test_failures_are_learned_from():
    """With few samples a search errs; the samples that fail make it go on until it does not."""
    attempts = []
    for seed in range(15):
        model, x = a_model(seed)
        zorro = Zorro(model, x, NO_EDGES, hops=0, tau=0.9, samples=5, seed=seed)
        certificate = zorro.explain(0).certificate
        assert certificate is not None
        assert certificate.certified
        attempts.append(certificate.attempts)
    assert max(attempts) > 1


@pytest.mark.parametrize(
    "limit", [{"max_elements": 2}, {"max_evaluations": 50}, {"max_seconds": 1e-6}]
)
def test_a_limit_returns_the_best_so_far_and_says_so(limit):
    torch.manual_seed(0)
    x = (torch.rand(40, FEATURES) < 0.5).float()
    weight = torch.ones(FEATURES)
    x[0] = 1.0
    explanation = Zorro(Linear(weight, 7.5), x, NO_EDGES, hops=0, **limit).explain(0)
    assert explanation.status == "budget exhausted"
    assert explanation.certificate is not None
    assert not explanation.certificate.certified
    assert explanation.certificate.attempts <= 2  # nothing, and what was found
    size = len(explanation.nodes) + len(explanation.features)
    assert size <= limit.get("max_elements", FEATURES)
    unlimited = Zorro(Linear(weight, 7.5), x, NO_EDGES, hops=0).explain(0)
    assert unlimited.status in ("certified", "everything needed")


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("batches", [0, 1, 2, 3, 5, 8, 20])
def test_time_may_run_out_before_any_batch_of_work(batches, evaluator, monkeypatch):
    """The clock here counts looks at it: what has been found by then is returned, and no more."""
    torch.manual_seed(0)
    x = (torch.rand(40, FEATURES) < 0.5).float()
    x[0] = 1.0
    looks = []
    monkeypatch.setattr(
        Budget, "is_time_up", property(lambda self: looks.append(0) or len(looks) > batches)
    )
    options = {"hops": 0, "evaluator": evaluator, "max_seconds": 1.0}
    explanation = Zorro(Linear(torch.ones(FEATURES), 7.5), x, NO_EDGES, **options).explain(0)
    assert explanation.status == "budget exhausted"
    assert not explanation.certified
    assert 0 < explanation.fidelity.samples < 1000
    assert len(looks) <= batches + 8  # little is begun after that


def test_a_memory_that_holds_no_batch_is_refused_with_what_would_do():
    x = (torch.rand(40, FEATURES) < 0.5).float()
    options: dict[str, Any] = {"hops": 0, "memory": 10}
    with pytest.raises(InputError, match=r"memory: expected at least [\d,]+ bytes .* got 10"):
        Zorro(Linear(torch.ones(FEATURES), 7.5), x, NO_EDGES, **options).explain(0)


def test_fidelity_is_measured_on_samples_that_no_certificate_has():
    model, x = a_model(3)
    zorro = Zorro(model, x, NO_EDGES, hops=0, tau=0.8)
    explanation = zorro.explain(0)
    certificate = explanation.certificate
    assert certificate is not None
    held_out = max(200, min(1000, certificate.samples // 4))
    assert explanation.fidelity.samples == held_out
    selected: dict[str, Any] = {"nodes": explanation.nodes, "features": explanation.features}
    measured = zorro.fidelity(0, **selected, samples=held_out)
    assert measured == explanation.fidelity
    assert explanation.bound == max(0.8, certificate.bound)
    asked_for = Zorro(model, x, NO_EDGES, hops=0, tau=0.8, fresh_samples=300).explain(0)
    assert asked_for.fidelity.samples == 300
    without = Zorro(model, x, NO_EDGES, hops=0, tau=0.8, delta=None).explain(0)
    assert (without.fidelity.samples, without.bound) == (1000, None)


def test_the_estimate_is_as_often_too_high_as_too_low():
    """Nothing is needed in 36 of 40 worlds; a proof ends once its own share is high enough."""
    x = torch.zeros(40, FEATURES)
    x[:36, 0] = 1.0
    model = Linear(torch.ones(FEATURES), 0.5)
    shares, of_certificates = [], []
    for seed in range(400):
        options: dict[str, Any] = {"hops": 0, "tau": 0.8, "samples": 50, "seed": seed}
        found = Zorro(model, x, NO_EDGES, **options).explain(0)
        certificate = found.certificate
        assert certificate is not None
        if found.status == "nothing needed":
            shares.append(found.fidelity.value)
            of_certificates.append(certificate.hits / certificate.samples)
    assert len(shares) > 390
    share, of_certificate = torch.tensor([shares, of_certificates]).mean(1).tolist()
    error = (0.9 * 0.1 / (100 * len(shares))) ** 0.5
    assert abs(share - 0.9) < 4 * error < 0.0061
    assert of_certificate > 0.9061


def test_the_most_that_may_be_selected_is_still_tested():
    """With room for what is needed and nothing more, the set is tested once, and certified."""
    x = torch.zeros(50, FEATURES)
    x[0, :3] = 1.0
    model = Linear(torch.ones(FEATURES), 2.5)
    zorro = Zorro(model, x, NO_EDGES, hops=0, max_elements=4)
    explanation = zorro.explain(0)
    assert (explanation.nodes, explanation.features) == ((0,), (0, 1, 2))
    assert explanation.status == "certified"
    short = Zorro(model, x, NO_EDGES, hops=0, max_elements=3).explain(0)
    assert short.status == "budget exhausted"
    assert short.certificate is not None
    assert short.certificate.attempts == 2  # nothing, and all that there is room for
    assert not short.certificate.certified


class Interrupted(Linear):
    """Raises as Ctrl-C does, once, in the middle of a search."""

    after = 10**9

    def forward(self, x, edge_index):
        self.after -= 1
        if self.after == 0:
            raise KeyboardInterrupt
        return super().forward(x, edge_index)


def test_an_interruption_leaves_nothing_broken():
    torch.manual_seed(0)
    x = (torch.rand(40, FEATURES) < 0.5).float()
    x[0] = 1.0
    model = Interrupted(torch.ones(FEATURES), 5.5).train()
    zorro = Zorro(model, x, NO_EDGES, hops=0, evaluator="any-model")
    before = zorro.explain(0)
    model.after = 12
    with pytest.raises(KeyboardInterrupt):
        zorro.explain(0)
    assert model.training
    again = zorro.explain(0)
    assert again.to_dict() | {"seconds": 0} == before.to_dict() | {"seconds": 0}


class AnyOf(nn.Module):
    """Class 1 where one of the first six features is there, or both of the last two."""

    def forward(self, x, edge_index):
        score = x @ torch.tensor([2.0] * 6 + [1.0] * 2) - 1.5
        return torch.stack([-score, score], dim=1)


@pytest.fixture
def any_of():
    x = torch.zeros(50, FEATURES)
    x[0, [0, 2, 4, 6, 7]] = 1.0
    return Zorro(AnyOf(), x, NO_EDGES, hops=0, evaluator="any-model")


def test_multiple_explanations_are_disjoint_and_certified(any_of):
    found = any_of.explain_multiple(0)
    assert {e.features for e in found} == {(0,), (2,), (4,), (6, 7)}
    assert all(e.status == "certified" for e in found)
    assert len(any_of.explain_multiple(0, max_explanations=2)) == 2


def test_alternatives_are_the_smallest_found(any_of):
    assert {e.features for e in any_of.explain_multiple(0, alternatives=3)} == {(0,), (2,), (4,)}
    with pytest.raises(InputError, match="alternatives: expected a whole number of at least 1"):
        any_of.explain_multiple(0, alternatives=0)


class ThreeClasses(nn.Module):
    """Feature f speaks for class f."""

    def forward(self, x, edge_index):
        return x[:, :3] * torch.tensor([3.0, 2.0, 1.0])


@pytest.fixture
def three():
    x = torch.zeros(60, 4)
    x[0] = 1.0
    x[1:20, 1] = 1.0
    x[20:60, 2] = 4.0
    return ThreeClasses(), x, NO_EDGES


def test_a_contrast_is_explained_by_what_decides_between_two_classes(three):
    zorro = Zorro(*three, hops=0, evaluator="any-model")
    plain = zorro.explain(0)
    against_one = zorro.explain(0, why_not=1)
    assert plain.versus is None
    assert plain.features == (0, 2)
    # Feature 0 alone makes class 0 beat class 1, whatever class 2 says.
    assert against_one.features == (0,)
    assert against_one.versus is not None
    assert (against_one.versus.other, against_one.versus.contrast) == (1, "beats")
    assert "rather than 1" in repr(against_one)
    # Class 1 is not predicted once class 0 beats it.
    assert len(zorro.explain(0, why_not=1, contrast="not").features) <= 1
    assert zorro.explain(0, why_not=2, contrast="not").features in ((2,), (0, 2))


def test_fidelity_against_a_class(three):
    zorro = Zorro(*three, hops=0, evaluator="any-model")
    assert zorro.fidelity(0, nodes=[0], features=[0], why_not=1).value == 1.0
    assert zorro.fidelity(0, nodes=[0], features=[0]).value < 0.5


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"why_not": 0}, "why_not: expected another class than the prediction of node 0"),
        ({"why_not": 3}, "why_not: expected a class from 0 to 2, got 3"),
        ({"why_not": 1.0}, "why_not: expected a class"),
        ({"why_not": 1, "contrast": "over"}, "contrast: expected one of beats, not, got 'over'"),
    ],
)
def test_bad_contrasts_are_named(three, question, message):
    with pytest.raises(InputError, match=message):
        Zorro(*three, hops=0).explain(0, **question)
