from typing import Any

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import effective_size, node_mask_from_edges, nodes_of_top_edges

# A triangle 0-1-2 with a tail 2-3-4, and node 5 alone.
EDGES = torch.tensor([[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]])
GRAPH: dict[str, Any] = {"edge_index": EDGES, "num_nodes": 6}


def indices(mask):
    return mask.nonzero().flatten().tolist()


def test_the_papers_edge_of_one_half():
    mask = node_mask_from_edges(torch.tensor([0.5]), edge_index=EDGES[:, :1], num_nodes=2)
    assert mask.tolist() == [0.25, 0.25]


def test_halves_are_summed_at_the_nodes():
    mask = node_mask_from_edges(torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0]), **GRAPH)
    assert mask.tolist() == [2.5, 1.5, 7.0, 12.0, 8.0, 0.0]


def test_no_importance_is_lost_even_by_self_loops():
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(0, 20, (2, 100), generator=generator)
    edge_mask = torch.rand(100, generator=generator, dtype=torch.float64)
    mask = node_mask_from_edges(edge_mask, edge_index=edge_index, num_nodes=20)
    assert float(mask.sum()) == pytest.approx(float(edge_mask.sum()))
    loop = torch.tensor([[1], [1]])
    assert node_mask_from_edges(torch.ones(1), edge_index=loop, num_nodes=3).tolist() == [0, 1, 0]


def test_edge_direction_and_relabelling_do_not_matter():
    generator = torch.Generator().manual_seed(1)
    edge_mask = torch.rand(5, generator=generator)
    mask = node_mask_from_edges(edge_mask, **GRAPH)
    flipped = node_mask_from_edges(edge_mask, edge_index=EDGES.flip(0), num_nodes=6)
    torch.testing.assert_close(flipped, mask)
    names = torch.randperm(6, generator=generator)
    renamed = node_mask_from_edges(edge_mask, edge_index=names[EDGES], num_nodes=6)
    torch.testing.assert_close(renamed[names], mask)
    assert effective_size(renamed) == pytest.approx(effective_size(mask), rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float64])
def test_hard_edge_masks_count_halves(dtype):
    mask = node_mask_from_edges(torch.ones(5, dtype=dtype), **GRAPH)
    assert mask.tolist() == [1.0, 1.0, 1.5, 1.0, 0.5, 0.0]


def test_top_edges_bring_both_endpoints_until_enough():
    ranked = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.9])  # 3-4, 2-3, 2-0, 1-2, 0-1
    expected = {1: [3, 4], 2: [3, 4], 3: [2, 3, 4], 4: [0, 2, 3, 4], 5: [0, 1, 2, 3, 4]}
    for at_least, nodes in expected.items():
        assert indices(nodes_of_top_edges(ranked, **GRAPH, at_least=at_least)) == nodes


def test_the_last_edge_may_bring_one_node_too_many():
    apart = torch.tensor([[0, 2, 4], [1, 3, 5]])
    mask = torch.tensor([0.9, 0.5, 0.7])
    nodes = nodes_of_top_edges(mask, edge_index=apart, num_nodes=6, at_least=3)
    assert indices(nodes) == [0, 1, 4, 5]


def test_ties_go_to_the_lower_edge():
    assert indices(nodes_of_top_edges(torch.ones(5), **GRAPH, at_least=3)) == [0, 1, 2]


def test_too_few_nodes_or_no_edges_end_the_selection():
    assert indices(nodes_of_top_edges(torch.ones(5), **GRAPH, at_least=6)) == [0, 1, 2, 3, 4]
    none = torch.zeros((2, 0), dtype=torch.long)
    assert indices(nodes_of_top_edges(torch.ones(0), edge_index=none, num_nodes=3)) == []
    mask = node_mask_from_edges(torch.ones(0), edge_index=none, num_nodes=3)
    assert mask.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("derive", [node_mask_from_edges, nodes_of_top_edges])
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"num_nodes": 4}, "nodes from 0 to 3, got 0 to 4"),
        ({"edge_index": EDGES.T}, r"\(2, e\)"),
        ({"edge_index": EDGES.float()}, "integers"),
        ({"edge_index": EDGES[:, :3]}, "expected 3 values"),
    ],
)
def test_edges_that_do_not_fit_are_refused(derive, change, complaint):
    with pytest.raises(InputError, match=complaint):
        derive(torch.ones(5), **{**GRAPH, **change})


def test_at_least_must_be_positive():
    with pytest.raises(InputError, match="at_least"):
        nodes_of_top_edges(torch.ones(5), **GRAPH, at_least=0)
