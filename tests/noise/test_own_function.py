"""Noise from a user's function: its samples are independent, or it is refused."""

import functools
import itertools

import pytest
import torch
from scipy.stats import binomtest

from zorro import Zorro
from zorro.errors import InputError
from zorro.noise import resolve

NODES, TAU = 8, 0.85
EDGES = torch.stack([torch.arange(NODES), torch.arange(1, NODES + 1) % NODES])


def model(x, edge_index):
    """Class 1 where a node's own number is high."""
    return torch.cat([0.5 - x, x - 0.5], dim=1)


def mood(candidates, generator):
    """All numbers of a world are high, in four of five worlds."""
    return torch.full_like(candidates, float(torch.rand((), generator=generator) < 0.8))


@functools.cache
def plain_share(kept, node, worlds=3000):
    """How often class 1 stays if some entries do, in worlds that are independent."""
    generator = torch.Generator().manual_seed(5)
    x = torch.ones(NODES, 1)
    stayed = 0
    for _ in range(worlds):
        world = mood(x, generator)
        world[list(kept)] = 1.0
        stayed += int(model(world, EDGES)[node].argmax()) == 1
    return stayed / worlds


def test_a_mood_of_each_world_makes_no_claims_false():
    """Were it shared by a block of worlds, the first few moods would decide a certificate."""
    false = claims = 0
    for seed in range(20):
        zorro = Zorro(model, torch.ones(NODES, 1), EDGES, noise=mood, seed=seed, tau=TAU)
        for node in range(0, NODES, 2):
            explanation = zorro.explain(node)
            claims += explanation.certified
            false += explanation.certified and plain_share(explanation.nodes, node) < TAU
    assert claims == 80
    assert binomtest(false, claims, 0.05, alternative="greater").pvalue > 1e-3


def test_a_claim_of_what_each_world_has_in_common_is_no_less_than_its_share():
    zorro = Zorro(model, torch.ones(NODES, 1), EDGES, noise=mood)
    measured = zorro.fidelity(3, nodes=[], features=[], samples=2000)
    assert binomtest(measured.hits, 2000, 0.8).pvalue > 1e-4


def test_a_function_that_gives_the_same_tensor_again_has_samples_of_its_own():
    place = torch.empty(5, 3)
    noise = resolve(lambda candidates, generator: place.normal_(generator=generator), place)
    drawn = noise.draw(torch.ones(5, 3), seed=0, query=0, samples=range(30))
    assert len({tuple(sample.flatten().tolist()) for sample in drawn}) == 30


def from_torchs_own_generator(candidates, generator):
    return torch.rand(candidates.shape)


def of_a_mood_that_lasts():
    moods = itertools.count()
    return lambda candidates, generator: torch.full_like(candidates, float(next(moods) // 20))


@pytest.mark.parametrize("function", [from_torchs_own_generator, of_a_mood_that_lasts()])
def test_a_function_that_draws_from_elsewhere_is_refused(function):
    zorro = Zorro(model, torch.ones(NODES, 1), EDGES, noise=function)
    with pytest.raises(InputError, match=r"noise: expected .* to draw with its generator alone"):
        zorro.explain(3)


def test_a_function_that_always_gives_the_same_is_one_world():
    zorro = Zorro(model, torch.ones(NODES, 1), EDGES, noise=lambda x, generator: 0 * x)
    assert zorro.fidelity(3, nodes=[], features=[], samples=100).value == 0
    explanation = zorro.explain(3)
    assert (explanation.nodes, explanation.fidelity.value) == ((3,), 1.0)


def test_an_object_that_draws_many_samples_at_once_is_refused():
    class Blocks:
        name = "blocks"

        def draw(self, candidates, *, seed, query, samples):
            return torch.zeros(len(samples), *candidates.shape)

    with pytest.raises(InputError, match=r"noise: expected a name or a function .* got Blocks"):
        resolve(Blocks(), torch.ones(NODES, 1))
