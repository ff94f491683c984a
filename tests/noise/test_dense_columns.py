"""Noise of features with few zeros: the right distribution, addressed entry by entry."""

import pytest
import torch
from scipy.stats import chi2_contingency, kstest

from zorro.graph.column_values import ColumnValues
from zorro.noise import dense_columns, draws_of, resolve, streams
from zorro.noise.dense_columns import AddressedDraws, DenseColumns


def a_matrix(rows=300):
    """Two-valued columns of every sort, and others."""
    generator = torch.Generator().manual_seed(0)
    dense = (torch.rand(rows, 6, generator=generator) < torch.linspace(0.05, 0.95, 6)).float()
    return torch.cat(
        [
            dense,
            3.0 * dense[:, :2] - 1.0,  # two values, none of them zero
            torch.zeros(rows, 1),
            torch.full((rows, 1), 2.5),  # one value
            torch.randn(rows, 3, generator=generator),
            torch.randint(0, 4, (rows, 2), generator=generator).float(),
        ],
        dim=1,
    )


def draws_for(x, nodes=7, samples=None):
    samples = torch.arange(30, 170) if samples is None else samples
    dense = DenseColumns.of(ColumnValues.of(x))
    return AddressedDraws(dense, nodes, seed=1, query=2, samples=samples)


def test_dense_features_are_drawn_entry_by_entry():
    x = a_matrix()
    noise = resolve("column-marginals", x)
    draws = draws_of(noise, x[:7], seed=0, query=0, samples=range(3), memory=0)
    assert isinstance(draws, AddressedDraws)


def test_columns_are_sorted_into_those_with_two_values_and_others():
    dense = DenseColumns.of(ColumnValues.of(a_matrix()))
    assert dense.is_two_valued.tolist() == [True] * 10 + [False] * 5


def test_thresholds_and_what_is_left_are_the_exact_probabilities():
    x = a_matrix()
    dense = DenseColumns.of(ColumnValues.of(x))
    chance = (dense.threshold.double() + (1 << 15) + dense.rest) / (1 << 16)
    for column in range(8):
        share = (x[:, column] == x[:, column].max()).double().mean()
        assert chance[column] == pytest.approx(float(share), abs=1e-12)
        assert dense.low[column] == x[:, column].min()
        assert dense.high[column] == x[:, column].max()


def test_frequencies_are_the_columns():
    x = a_matrix()
    drawn = draws_for(x, samples=torch.arange(3000)).matrices(torch.arange(3000))
    for column in range(x.size(1)):
        values = x[:, column].unique()
        assert torch.isin(drawn[..., column], values).all()
        if 1 < len(values) < 10:
            expected = torch.stack([(x[:, column] == v).sum() for v in values])
            seen = torch.stack([(drawn[..., column] == v).sum() for v in values])
            table = torch.stack([expected * 10_000, seen]).numpy()  # the data set is no sample
            assert chi2_contingency(table).pvalue > 1e-4
        elif len(values) >= 10:
            rank = torch.searchsorted(values, drawn[..., column].flatten().contiguous()) + 0.5
            assert kstest((rank / len(values)).double().numpy(), "uniform").pvalue > 1e-4


def test_entries_are_independent_of_one_another():
    x = a_matrix()[:, :6]
    drawn = draws_for(x, nodes=4, samples=torch.arange(20_000)).matrices(torch.arange(20_000))
    flat = drawn.flatten(1).double()  # (S, 24): any two of these are independent
    correlation = torch.corrcoef(flat.t()) - torch.eye(24)
    assert correlation.abs().max() < 5 / 20_000**0.5
    next_one = torch.corrcoef(torch.stack([flat[:-1, 7], flat[1:, 7]]))[0, 1]
    assert abs(next_one) < 5 / 20_000**0.5


def test_what_the_words_leave_open_is_decided_with_the_probability_that_is_left(monkeypatch):
    """All entries are left open here: then the share of high values is what the threshold lacks."""
    x = a_matrix()
    read = dense_columns._TwoValued.read

    def undecided(self, columns, word):
        drawn, _ = read(self, columns, word)
        return drawn, torch.arange(drawn.numel())

    monkeypatch.setattr(dense_columns._TwoValued, "read", undecided)
    drawn = draws_for(x, samples=torch.arange(2000)).columns(torch.arange(6))  # (6, 7, 2000)
    rest = DenseColumns.of(ColumnValues.of(x)).rest[:6]
    assert (drawn.mean((1, 2)) - rest).abs().max() < 5 * 0.5 / 14_000**0.5


def test_rows_that_would_be_favoured_are_drawn_again_fairly(monkeypatch):
    x = a_matrix()
    general = dense_columns._random_rows

    def unfair(word, rows):
        row, _ = general(word, rows)
        return torch.zeros_like(row), torch.arange(row.numel())

    monkeypatch.setattr(dense_columns, "_random_rows", unfair)
    drawn = draws_for(x, samples=torch.arange(2000)).columns(torch.tensor([10]))
    values = x[:, 10].sort().values
    rank = torch.searchsorted(values, drawn.flatten()) + 0.5
    assert kstest((rank / len(values)).double().numpy(), "uniform").pvalue > 1e-4


def test_products_columns_rows_and_some_samples_alone_are_those_of_the_matrices():
    x = a_matrix()
    draws = draws_for(x)
    full = draws.matrices(torch.arange(140))  # (140, 7, d)
    weight = torch.randn(x.size(1), 5)
    assert torch.allclose(draws.times(weight), (full @ weight).transpose(0, 1), atol=1e-4)
    columns, rows = torch.tensor([3, 11, 0]), torch.tensor([6, 2])
    assert torch.equal(draws.columns(columns, rows), full[:, rows][:, :, columns].permute(2, 1, 0))
    values = torch.randn(2, 140, 5)
    expected = torch.einsum("svd,vsh->dh", full[:, rows], values)
    assert torch.allclose(draws.transposed_times(values, rows), expected, atol=1e-3)
    ids = torch.tensor([0, 3, 77, 139])
    few = draws.only(ids)
    assert torch.equal(few.matrices(torch.arange(4)), full[ids])
    assert torch.allclose(few.times(weight), (full[ids] @ weight).transpose(0, 1), atol=1e-4)
    assert torch.equal(few.only(torch.tensor([1, 3])).matrices(torch.arange(2)), full[[3, 139]])


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float64, torch.bfloat16])
def test_values_keep_their_type(dtype):
    x = a_matrix()[:, :6].to(dtype)
    drawn = draws_for(x).matrices(torch.arange(5))
    assert drawn.dtype == dtype
    as_floats = draws_for(x.float()).matrices(torch.arange(5))
    assert torch.equal(drawn.float(), as_floats)


def test_words_are_the_same_on_the_cpu_and_elsewhere():
    keys = torch.randint(-(1 << 62), 1 << 62, (30,), generator=torch.Generator().manual_seed(0))
    counters = torch.arange(40)
    elsewhere = streams._mix(keys.unsqueeze(1) + (counters + 1) * streams._signed(streams._GOLDEN))
    assert torch.equal(streams.words(keys, counters), elsewhere)
