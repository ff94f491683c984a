"""Directions are put together as a plain loop does it."""

from typing import Any

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import UndirectedEdges, ground_truth_auroc


def random_edges(seed, columns=30, nodes=6):
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(nodes, (2, columns), generator=generator)
    return edge_index, torch.rand(columns, generator=generator)


@pytest.mark.parametrize("seed", range(5))
def test_like_a_plain_loop(seed):
    """With loops, edges that are there twice, and edges of one direction."""
    edge_index, values = random_edges(seed)
    sums: dict[Any, Any] = {}
    for (u, v), value in zip(edge_index.t().tolist(), values.tolist(), strict=True):
        sums[min(u, v), max(u, v)] = sums.get((min(u, v), max(u, v)), 0) + value
    edges = UndirectedEdges.of(edge_index)
    assert [tuple(pair) for pair in edges.ends.tolist()] == sorted(sums)
    assert edges.count == len(sums)
    assert edges.total(values).tolist() == pytest.approx([sums[pair] for pair in sorted(sums)])
    hard = values > 0.7
    some = {tuple(sorted(pair)) for pair in edge_index[:, hard].t().tolist()}
    assert edges.any(hard).tolist() == [pair in some for pair in sorted(sums)]


def test_columns_are_the_way_back():
    edge_index, _ = random_edges(7)
    edges = UndirectedEdges.of(edge_index)
    kept = torch.arange(edges.count) % 3 == 0
    inside = edges.columns(kept)
    wanted = {tuple(pair) for pair in edges.ends[kept].tolist()}
    assert inside.tolist() == [tuple(sorted(p)) in wanted for p in edge_index.t().tolist()]
    assert torch.equal(edges.any(inside), kept)


def test_the_order_of_columns_and_directions_do_not_matter():
    """An area under the curve of edges is one of pairs of undirected edges."""
    edge_index, values = random_edges(3)
    truth = edge_index.sum(0) % 2 == 0  # the same for both directions
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    found = []
    for columns, scores, true in (
        (edge_index, values, truth),
        (edge_index[:, order].flip(0), values[order], truth[order]),
    ):
        edges = UndirectedEdges.of(columns)
        found.append(ground_truth_auroc(edges.total(scores), truth=edges.any(true)))
    assert found[0] == pytest.approx(found[1])


def test_no_edges():
    edges = UndirectedEdges.of(torch.empty(2, 0, dtype=torch.int64))
    assert edges.count == 0
    assert edges.total(torch.empty(0)).shape == (0,)


def test_what_cannot_be_used():
    with pytest.raises(InputError, match=r"edge_index: expected shape \(2, e\), got \(3, 4\)"):
        UndirectedEdges.of(torch.zeros(3, 4, dtype=torch.int64))
    edges = UndirectedEdges.of(torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="values: expected 2 values, one an element, got 3"):
        edges.total(torch.ones(3))
    with pytest.raises(InputError, match="kept: expected 1 values, one an element, got 2"):
        edges.columns(torch.tensor([True, False]))
    with pytest.raises(InputError, match="mask: expected a hard mask"):
        edges.any(torch.tensor([0.5, 1.0]))
