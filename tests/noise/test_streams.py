"""What is drawn for different purposes shares no number."""

from itertools import product

import pytest
import torch

from zorro.elements.edges import EdgeElements
from zorro.noise import resolve
from zorro.noise.edges import EdgeNoise
from zorro.noise.rewiring import Rewiring
from zorro.noise.streams import Purpose, key_of, seed_of

QUERIES = 400
TYPES = (0, 1, 2, 3)


def test_no_two_purposes_share_a_key():
    """Small numbers are what seeds, queries, blocks, samples, columns and types are."""
    small = range(6)
    purposes: list[tuple[int, ...]] = [(number,) for number in (*TYPES, *Purpose)]
    purposes += [(Purpose.GUARD, *purpose) for purpose in purposes if purpose != (0,)]
    purposes += [(Purpose.ROWS, first) for first in (0, 100, 200)]
    keys = [
        key_of(seed_of(seed, *purpose), query, *address)
        for purpose, seed, query in product(purposes, small, small)
        for length in (1, 2)
        for address in product(small, repeat=length)
    ]
    assert len(set(keys)) == len(keys)


def presence(edges, query):
    return EdgeNoise(0.5).draws(edges, seed=0, query=query, samples=range(5)).present


def rewiring(edges, query):
    return Rewiring().draws(edges, seed=0, query=query, samples=range(5)).words < 0


@pytest.mark.parametrize("drawn", [presence, rewiring])
@pytest.mark.parametrize("share", [0.5, 0.1], ids=["dense", "sparse"])
def test_edges_are_independent_of_features(drawn, share):
    """Of 400 queries each correlation of two fair coins has a standard error of a twentieth."""
    x = (torch.arange(40) < 40 * share).float().unsqueeze(1).repeat(1, 5)
    noise = resolve("column-marginals", x)
    edge_index = torch.tensor([[0, 0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 1, 2, 3]])
    edges = EdgeElements.of(edge_index, {}, nodes=4, directed=False)
    of_edges = torch.stack([drawn(edges, query).flatten() for query in range(QUERIES)])
    of_features = torch.stack(
        [noise.draw(x[:3], seed=0, query=query, samples=range(200)) for query in range(QUERIES)]
    ).flatten(1)
    correlation = standardised(of_edges).t() @ standardised(of_features) / QUERIES
    z = correlation.abs().max() * QUERIES**0.5
    assert z < 6.5  # of 105,000 normal numbers the largest is 4.4 or so


def standardised(values):
    """Return columns of values with mean 0 and variance 1."""
    values = values.double()
    return (values - values.mean(0)) / values.std(0, correction=0).clamp(min=1e-9)
