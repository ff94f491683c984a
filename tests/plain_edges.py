"""Fidelity of sets of edges the slow way, with nothing of the library: for tests to compare with.

Edges that are not kept are taken out of the whole graph one by one, by a die of Python's own, and
the model is called as its owner calls it.
"""

import random

import torch
from scipy.stats import binom, fisher_exact


def plain_elements(edge_index, *, directed=False, tags=None):
    """Return the columns of each edge by its name: (u, v), or (u, v, k) for one of several.

    Args:
        edge_index: (2, E).
        directed: whether the reverse of an edge is another one.
        tags: what tells several edges between two nodes apart, a value for each column.
    """
    found = {}
    for column, (u, v) in enumerate(edge_index.t().tolist()):
        pair = (u, v) if directed or u <= v else (v, u)
        found.setdefault(pair, {}).setdefault((u, v), []).append(column)
    elements = {}
    for pair, directions in found.items():
        several = max(map(len, directions.values())) > 1
        for columns in directions.values():
            if tags is not None:
                columns = sorted(columns, key=lambda column: (tags[column], column))
            for number, column in enumerate(columns):
                name = (*pair, number) if several else pair
                elements.setdefault(name, []).append(column)
    return elements


def plain_share(stays, elements, kept, *, presence=0.5, samples=300, seed=5):
    """Count how often an answer stays with all but some edges there by chance.

    Args:
        stays: whether it does with some columns (e,) of the edge index, which stand in their order;
            the die is handed on.
        elements: the columns of each edge.
        kept: names of edges.
        presence: with what probability another one is there.
        samples: how many times.
        seed: of the die.
    """
    assert set(kept) <= set(elements)
    die = random.Random(seed)
    stayed = 0
    for _ in range(samples):
        columns = []
        for name, its_columns in elements.items():
            if name in kept or die.random() < presence:
                columns += its_columns
        stayed += bool(stays(torch.tensor(sorted(columns), dtype=torch.long), die))
    return stayed, samples


def redrawn(x, keep, die):
    """Return features with all but some entries (N, d) drawn from their columns."""
    rows = torch.tensor([[die.randrange(len(x)) for _ in range(x.size(1))] for _ in range(len(x))])
    return torch.where(keep, x, x.gather(0, rows))


def assert_same_share(measured, stayed, samples):
    """Fail if two counts can hardly be of the same probability."""
    table = [[measured.hits, measured.samples - measured.hits], [stayed, samples - stayed]]
    assert fisher_exact(table).pvalue > 1e-4, (measured, stayed, samples)


def assert_holds(explanation, stayed, samples):
    """Fail if what is certified, or reported, can hardly be true of such a count."""
    assert explanation.certified, explanation
    assert binom.cdf(stayed, samples, explanation.certificate.bound) > 1e-4, (stayed, samples)
    assert_same_share(explanation.fidelity, stayed, samples)
