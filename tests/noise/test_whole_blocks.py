"""Whole blocks of noise give the products of the very entries that are drawn one by one."""

import pytest
import torch

from zorro.graph.column_values import ColumnValues
from zorro.noise.dense_columns import AddressedDraws, DenseColumns
from zorro.noise.streams import BLOCK
from zorro.noise.whole_blocks import WholeBlocks


def draws_of(x, nodes, samples):
    dense = DenseColumns.of(ColumnValues.of(x))
    assert not dense.is_two_valued.any()
    return AddressedDraws(dense, nodes, seed=3, query=5, samples=samples)


@pytest.mark.parametrize(("rows", "nodes"), [(1000, 37), (169_343, 700)])
def test_products_are_those_of_the_entries(rows, nodes, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 9, generator=generator)
    x[:, :3] = x[:, :3].relu()  # half of it zero
    weight = torch.randn(9, 4, generator=generator)
    draws = draws_of(x, nodes, torch.arange(BLOCK, 4 * BLOCK))
    again = []
    decide = WholeBlocks._decide

    def noted(self, drawn, start, unfair, further):
        again.append(sum(places.size for places in unfair))
        decide(self, drawn, start, unfair, further)

    monkeypatch.setattr(WholeBlocks, "_decide", noted)
    product = draws.times(weight)
    entries = draws.matrices(torch.arange(3 * BLOCK))  # (S, n, d), drawn in another way
    assert again, "else the blocks were not drawn as wholes"
    assert rows < 10_000 or sum(again) > 0
    assert torch.allclose(product, (entries @ weight).transpose(0, 1), atol=1e-5)


def test_blocks_are_multiplied_a_few_nodes_at_a_time(monkeypatch):
    x = torch.randn(300, 5, generator=torch.Generator().manual_seed(1))
    draws = draws_of(x, 23, torch.arange(BLOCK))
    whole = draws.times(torch.eye(5))
    monkeypatch.setattr("zorro.noise.whole_blocks._NUMBERS", 5 * BLOCK * 4)  # four nodes
    assert torch.equal(draws.times(torch.eye(5)), whole)


def test_a_part_of_a_block_is_that_part_of_its_product():
    x = torch.randn(300, 5, generator=torch.Generator().manual_seed(2))
    weight = torch.randn(5, 3, generator=torch.Generator().manual_seed(3))
    whole = draws_of(x, 11, torch.arange(BLOCK)).times(weight)
    part = draws_of(x, 11, torch.arange(10, 31)).times(weight)
    assert torch.allclose(part, whole[:, 10:31], atol=1e-6)
