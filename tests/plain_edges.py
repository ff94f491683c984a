"""Fidelity of sets of edges the slow way, with nothing of the library: for tests to compare with.

Edges that are not kept are taken out of the whole graph one by one, by a die of Python's own, and
the model is called as its owner calls it.
"""

import random
import sys
from pathlib import Path
from typing import Any

import torch
from scipy.stats import binom, fisher_exact

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from honesty_audit.plain_edges import edges_by_name as plain_elements

__all__ = ["assert_holds", "assert_same_share", "plain_elements", "plain_share", "redrawn"]


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
    table: Any = [[measured.hits, measured.samples - measured.hits], [stayed, samples - stayed]]
    assert fisher_exact(table).pvalue > 1e-4, (measured, stayed, samples)


def assert_holds(explanation, stayed, samples):
    """Fail if what is certified, or reported, can hardly be true of such a count."""
    assert explanation.certified, explanation
    assert binom.cdf(stayed, samples, explanation.certificate.bound) > 1e-4, (stayed, samples)
    assert_same_share(explanation.fidelity, stayed, samples)
