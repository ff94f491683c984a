"""Columns drawn one by one hold the very entries that words of several columns together give."""

import pytest
import torch
from scipy.stats import kstest

from zorro.graph.column_values import ColumnValues
from zorro.noise import dense_columns, random_rows
from zorro.noise.dense_columns import AddressedDraws, DenseColumns
from zorro.noise.streams import BLOCK


def draws_of(x, nodes, samples):
    dense = DenseColumns.of(ColumnValues.of(x))
    assert not dense.is_two_valued.any()
    return AddressedDraws(dense, nodes, seed=3, query=5, samples=samples)


def features(rows, columns=9):
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(0))
    x[:, :3] = x[:, :3].relu()  # half of it zero
    return x


@pytest.mark.parametrize(("rows", "nodes"), [(1000, 270), (169_343, 700)])
@pytest.mark.parametrize("samples", [range(BLOCK, 3 * BLOCK), range(3, 20), (0, 7, 8, 99, 101)])
def test_entries_are_those_of_words_drawn_together(rows, nodes, samples, monkeypatch):
    draws = draws_of(features(rows), nodes, torch.tensor(list(samples)))
    again = []
    at = random_rows.RandomRows._at

    def noted(self, column, row):
        again.append(row.numel())
        return at(self, column, row)

    monkeypatch.setattr(random_rows.RandomRows, "_at", noted)
    columns, some = torch.tensor([8, 0, 4]), torch.arange(2, 240)
    one_by_one = draws._columns(columns, None), draws._columns(columns, some)
    assert rows < 10_000 or len(samples) < BLOCK or sum(again) > 0, "else none was drawn again"
    by_words = dense_columns._draw_by_words
    monkeypatch.setattr(
        dense_columns._General,
        "draw_into",
        lambda self, result, *rest: by_words(result, self, *rest),
    )
    assert torch.equal(one_by_one[0], draws._columns(columns, None))
    assert torch.equal(one_by_one[1], draws._columns(columns, some))


def test_words_are_drawn_a_few_at_a_time(monkeypatch):
    draws = draws_of(features(300), 283, torch.arange(BLOCK))
    whole = draws.columns(torch.arange(9))
    monkeypatch.setattr(random_rows, "_WORDS", 7)
    assert torch.equal(draws.columns(torch.arange(9)), whole)


def test_rows_that_would_be_favoured_are_drawn_again_fairly(monkeypatch):
    """All numbers are drawn again here: then every row must still be as likely as another."""
    x = features(300)
    draws = draws_of(x, 210, torch.arange(100))
    before = draws.columns(torch.tensor([5]))
    some = random_rows.RandomRows._draw_some

    def unfair(self, column, key, which, into):
        some(self, column, key, which, into)
        return torch.arange(into.numel()).numpy()

    monkeypatch.setattr(random_rows.RandomRows, "_draw_some", unfair)
    drawn = draws.columns(torch.tensor([5]))
    assert not torch.equal(drawn, before)
    rank = torch.searchsorted(x[:, 5].sort().values, drawn.flatten()) + 0.5
    assert kstest((rank / 300).double().numpy(), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("samples", [torch.arange(2 * BLOCK), torch.tensor([1, 2, 60])])
def test_products_are_those_of_the_entries(samples, monkeypatch):
    x = features(1000)
    weight = torch.randn(9, 4, generator=torch.Generator().manual_seed(1))
    draws = draws_of(x, 297, samples)
    entries = draws.matrices(torch.arange(samples.numel()))  # (S, n, d)
    expected = (entries @ weight).transpose(0, 1)
    assert torch.allclose(draws.times(weight), expected, atol=1e-5)
    monkeypatch.setattr(dense_columns._General, "numbers_at_once", 9 * BLOCK * 220)  # nodes
    assert torch.allclose(draws.times(weight), expected, atol=1e-5)


def test_mixed_columns_are_sums_over_nodes(monkeypatch):
    x = torch.cat([features(500), (features(500)[:, 3:5] > 0).float()], dim=1)  # two of two values
    dense = DenseColumns.of(ColumnValues.of(x))
    draws = AddressedDraws(dense, 21, seed=3, query=5, samples=torch.arange(70))
    matrices = torch.randn(3, 21), torch.randn(1, 21)
    mixes = [matrix.__matmul__ for matrix in matrices]
    entries = draws.matrices(torch.arange(70))  # (S, n, d)
    for at_once in (1 << 20, 1):
        monkeypatch.setattr(dense_columns, "_MIXED_AT_ONCE", at_once)
        for matrix, mixed in zip(matrices, draws.mixed(mixes), strict=True):
            expected = torch.einsum("qn,snd->dqs", matrix, entries)
            assert torch.allclose(mixed, expected, atol=1e-4)


def test_nodes_that_are_asked_for_again_are_kept_while_they_are_few(monkeypatch):
    draws = draws_of(features(500), 90, torch.arange(30, 80))
    whole = draws.matrices(torch.arange(50))  # (S, n, d)
    columns = torch.tensor([1, 7])
    monkeypatch.setattr(dense_columns, "_KEPT_NUMBERS", 4 * 50 * 9)  # four nodes
    for rows in ([3, 5], [5, 3, 80], [7, 3, 9], [1, 2, 3, 4, 5], [5, 5]):
        expected = whole[:, rows][:, :, columns].permute(2, 1, 0)
        assert torch.equal(draws.columns(columns, torch.tensor(rows)), expected)
        assert len(draws._kept) <= 4
    values = torch.randn(3, 50, 2)
    some = torch.tensor([5, 9, 1])
    expected = torch.einsum("svd,vsh->dh", whole[:, some], values)
    assert torch.allclose(draws.transposed_times(values, some), expected, atol=1e-4)


def test_joined_draws_are_their_samples_one_after_the_other():
    x = features(500)
    first, second, third = (
        draws_of(x, 70, torch.tensor(samples)) for samples in ([3, 4, 60], [61, 99], [105])
    )
    joined = first.joined([second, third])
    assert isinstance(joined, AddressedDraws)
    alone = [draws.matrices(torch.arange(draws.shape[0])) for draws in (first, second, third)]
    assert torch.equal(joined.matrices(torch.arange(6)), torch.cat(alone))
    assert torch.equal(
        joined.only(torch.tensor([1, 4])).matrices(torch.arange(2)), torch.cat(alone)[[1, 4]]
    )
