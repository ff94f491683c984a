"""Products with matrices over nodes, in whatever form they are kept."""

import pytest
import torch

from zorro.evaluation.traced.change import ChangedRows
from zorro.evaluation.traced.plan import Mixing


def a_matrix(rows, columns, share):
    """Return a matrix of which about a share is not zero, the same each time."""
    generator = torch.Generator().manual_seed(rows + columns)
    matrix = torch.randn(rows, columns, generator=generator)
    return matrix * (torch.rand(rows, columns, generator=generator) < share)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("batch", [3, 700], ids=["few values", "many values"])
@pytest.mark.parametrize(("before", "after"), [(4, 5), (40, 2), (2, 40)])
@pytest.mark.parametrize(
    ("rows", "columns", "share"),
    [(2, 30, 0.1), (30, 4, 0.9), (12, 12, 0.15), (150, 200, 0.02), (3, 3, 0.0)],
)
def test_a_product_with_a_weight_is_that_of_three_matrices(
    rows, columns, share, before, after, batch, dtype
):
    matrix = a_matrix(rows, columns, share).to(dtype)
    mixing = Mixing(matrix.numpy(), device=torch.device("cpu"), dtype=dtype)
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(columns, batch, before, generator=generator).to(dtype)
    weight = torch.randn(before, after, generator=generator).to(dtype)
    plain = torch.einsum("rm,mbd->rbd", matrix, values)
    assert torch.allclose(mixing.times(values), plain, atol=1e-4)
    assert torch.allclose(mixing.times_with(values, None), plain, atol=1e-4)
    assert torch.allclose(mixing.times_with(values, weight), plain @ weight, atol=1e-3)
    assert torch.equal(mixing.dense, matrix)
    picked = torch.tensor([columns - 1, 0])
    few = mixing.restricted(picked).times(values[picked])
    assert torch.allclose(few, torch.einsum("rm,mbd->rbd", matrix[:, picked], values[picked]))


def test_the_product_has_the_gradient_of_one():
    matrix = a_matrix(5, 60, 0.1)
    mixing = Mixing(matrix.numpy(), device=torch.device("cpu"), dtype=torch.float)
    values = torch.randn(60, 90, 40, requires_grad=True)
    weight = torch.randn(40, 7)
    ours, plain = (
        torch.autograd.grad(product.square().sum(), values)[0]
        for product in (
            mixing.times_with(values, weight),
            torch.einsum("rm,mbd->rbd", matrix, values) @ weight,
        )
    )
    assert torch.allclose(ours, plain, rtol=1e-3, atol=1e-2)


def test_changed_rows_are_mixed_as_if_they_were_spread():
    generator = torch.Generator().manual_seed(0)
    differs = torch.rand(9, 50, generator=generator) < 0.2  # (rows, inputs)
    row, column = differs.nonzero(as_tuple=True)
    values = torch.randn(row.numel(), 6, generator=generator)
    matrix = a_matrix(3, 9, 0.5)
    changed = ChangedRows(row, column, values)
    spread = changed.spread(values, rows=9, inputs=50)
    mixed = changed.mixed(values, matrix, inputs=50)
    assert torch.allclose(mixed, torch.einsum("qr,rph->qph", matrix, spread), atol=1e-5)
