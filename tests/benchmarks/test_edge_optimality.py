"""The enumeration that certified sets of edges are compared with is itself right."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import edge_optimality


@pytest.mark.parametrize("presence", [0.0, 0.3])
def test_fidelities_are_sums_over_subgraphs(presence):
    hits = torch.rand(32, generator=torch.Generator().manual_seed(0)) < 0.5
    found = edge_optimality.exact_fidelities(hits, presence)
    for kept in range(32):
        expected = 0.0
        for there in range(32):
            if kept & ~there:
                continue  # lacks an edge that is kept
            by_chance = (there & ~kept).bit_count()
            missing = 5 - kept.bit_count() - by_chance
            expected += presence**by_chance * (1 - presence) ** missing * float(hits[there])
        assert float(found[kept]) == pytest.approx(expected)


def test_small_sets_are_the_smallest_in_most_cases():
    make = edge_optimality.of_nodes("GAT")
    found = []
    for seed in range(5):
        instance = make(seed)
        compared = edge_optimality.compare(instance, edge_optimality.stays(instance), 0.5)
        if compared is not None:
            assert compared.ours is not None
            assert compared.ours >= compared.smallest or compared.fidelity < edge_optimality.TAU
            found.append(compared.ours == compared.smallest)
    assert len(found) >= 2
    assert sum(found) >= 0.85 * len(found)
