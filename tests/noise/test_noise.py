"""Noise has the right distribution, and an address that nothing else can shift."""

import pytest
import torch
from scipy.stats import chi2_contingency, kstest

from zorro.errors import InputError
from zorro.noise import NOISES, column_marginals, draws_of, resolve, streams
from zorro.noise.column_marginals import SparseDraws
from zorro.noise.draws import DenseDraws, JoinedDraws
from zorro.noise.streams import BLOCK, child_keys, key_of, uniforms


def a_matrix(seed=0):
    torch.manual_seed(seed)
    x = torch.randint(1, 5, (40, 7)).float() * (torch.rand(40, 7) < 0.3)
    x[:, 0] = 0.0  # a column without values
    x[:, 1] = torch.randn(40)  # a column without zeros
    x[3, 2] = -1.0
    return x


RANDOM = [
    "column-marginals",
    "rows",
    "gaussian",
    lambda c, g: torch.randn(c.shape, generator=g),
]


@pytest.mark.parametrize("kind", [*NOISES, RANDOM[-1]])
def test_a_sample_does_not_depend_on_which_others_are_drawn(kind):
    x = a_matrix()
    noise = resolve(kind, x)
    many = noise.draw(x[:6], seed=1, query=2, samples=range(2 * BLOCK + 10))
    assert many.shape == (2 * BLOCK + 10, 6, 7)
    for part in (range(3), range(BLOCK - 2, BLOCK + 5), range(BLOCK, 2 * BLOCK + 1)):
        assert torch.equal(
            noise.draw(x[:6], seed=1, query=2, samples=part), many[part.start : part.stop]
        )


@pytest.mark.parametrize("kind", RANDOM)
def test_seeds_queries_and_blocks_differ(kind):
    x = a_matrix()
    noise = resolve(kind, x)
    first = noise.draw(x[:6], seed=1, query=2, samples=range(BLOCK))
    assert not torch.equal(first, noise.draw(x[:6], seed=2, query=2, samples=range(BLOCK)))
    assert not torch.equal(first, noise.draw(x[:6], seed=1, query=3, samples=range(BLOCK)))
    later = range(BLOCK, 2 * BLOCK)
    assert not torch.equal(first, noise.draw(x[:6], seed=1, query=2, samples=later))


def test_global_random_state_is_untouched():
    x = a_matrix()
    before = torch.get_rng_state()
    for kind in NOISES:
        resolve(kind, x).draw(x[:6], seed=1, query=2, samples=range(20))
    assert torch.equal(before, torch.get_rng_state())


def test_column_marginals_have_the_columns_frequencies():
    x = a_matrix()
    drawn = resolve("column-marginals", x).draw(x[:5], seed=0, query=0, samples=range(4000))
    for column in range(x.size(1)):
        values = x[:, column].unique()
        assert torch.isin(drawn[..., column], values).all()
        expected = torch.stack([(x[:, column] == v).sum() for v in values])
        seen = torch.stack([(drawn[..., column] == v).sum() for v in values])
        if len(values) > 1:
            table = torch.stack([expected * 500, seen]).numpy()  # the data set is no sample
            assert chi2_contingency(table).pvalue > 1e-4


def test_column_marginals_are_independent_between_nodes_and_samples():
    x = a_matrix()
    drawn = resolve("column-marginals", x).draw(x[:5], seed=0, query=0, samples=range(20000))
    active = (drawn[..., 3:] != 0).double()  # (S, 5, 4)
    flat = active.flatten(1)  # (S, 20): any two of these are independent
    correlation = torch.corrcoef(flat.t()) - torch.eye(20)
    assert correlation.abs().max() < 5 / 20000**0.5
    shifted = torch.corrcoef(torch.stack([flat[:-1].flatten(), flat[1:].flatten()]))[0, 1]
    assert abs(shifted - flat.mean(0).var(correction=0) / flat.var()) < 0.01


def test_rows_are_rows_of_the_data_set():
    x = a_matrix()
    drawn = resolve("rows", x).draw(x[:5], seed=0, query=0, samples=range(30))
    assert (drawn.flatten(0, 1).unsqueeze(1) == x).all(-1).any(-1).all()


def test_constants_and_gaussian_follow_the_columns():
    x = a_matrix()
    zeros = resolve("zeros", x).draw(x[:5], seed=0, query=0, samples=range(3))
    assert zeros.eq(0).all()
    means = resolve("means", x).draw(x[:5], seed=0, query=0, samples=range(3))
    assert torch.equal(means[1, 2], x.mean(0))
    gaussian = resolve("gaussian", x).draw(x[:5], seed=0, query=0, samples=range(3000))
    column = gaussian[..., 1].flatten().double().numpy()
    mean, deviation = float(x[:, 1].mean()), float(x[:, 1].std(correction=0))
    assert kstest((column - mean) / deviation, "norm").pvalue > 1e-4


def test_published_draw_is_one_stream_of_row_indices():
    x = a_matrix()
    drawn = resolve("published", x).draw(x[:5], seed=12345, query=9, samples=range(8))
    generator = torch.Generator("cpu").manual_seed(12345)
    rows = torch.randint(40, (8, 5, 7), generator=generator)
    assert torch.equal(drawn, x[rows, torch.arange(7)])


def test_a_function_of_the_wrong_shape_is_refused():
    x = a_matrix()
    noise = resolve(lambda c, g: torch.zeros(2, 2), x)
    with pytest.raises(InputError, match=r"noise: expected a tensor \(5, 7\)"):
        noise.draw(x[:5], seed=0, query=0, samples=range(3))


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"column-marginals.*got 'colum'"):
        resolve("colum", a_matrix())


def test_uniforms_are_uniform_within_and_across_keys():
    keys = child_keys(torch.tensor([key_of(1, 2, 3)]), torch.arange(200))  # (200, 1)
    counters = torch.arange(500)
    table = uniforms(keys, counters)  # (200, 500)
    assert kstest(table.flatten().numpy(), "uniform").pvalue > 1e-4
    assert kstest(table.mean(1).sub(0.5).mul((12 * 500) ** 0.5).numpy(), "norm").pvalue > 1e-4
    assert kstest(table.mean(0).sub(0.5).mul((12 * 200) ** 0.5).numpy(), "norm").pvalue > 1e-4


@pytest.mark.parametrize("memory", [1 << 30, 0], ids=["kept", "drawn again"])
def test_some_samples_alone_and_several_draws_joined(memory):
    torch.manual_seed(0)
    x = torch.rand(40, 9) * (torch.rand(40, 9) < 0.4)
    noise = resolve("column-marginals", x)
    draws = draws_of(noise, x[:7], seed=0, query=3, samples=range(30, 170), memory=memory)
    full = draws.matrices(torch.arange(140))
    ids = torch.tensor([0, 3, 77, 139])
    few = draws.only(ids)
    every = torch.cat([full, full[ids]])  # (144, 7, 9)

    assert torch.equal(few.matrices(torch.arange(4)), full[ids])
    columns = torch.tensor([2, 5])
    assert torch.equal(few.columns(columns), full[ids][:, :, columns].permute(2, 1, 0))
    fewer = few.only(torch.tensor([1, 3]))
    assert torch.equal(fewer.matrices(torch.arange(2)), full[[3, 139]])

    joined = JoinedDraws([draws, few])
    assert joined.shape == (144, 7, 9)
    assert torch.equal(joined.matrices(torch.tensor([143, 1, 139])), every[[143, 1, 139]])
    assert torch.equal(joined.columns(columns), every[:, :, columns].permute(2, 1, 0))
    weight = torch.randn(9, 5)
    assert torch.allclose(joined.times(weight), (every @ weight).transpose(0, 1), atol=1e-5)
    values, rows = torch.randn(2, 144, 5), torch.tensor([1, 6])
    expected = torch.einsum("svd,vsh->dh", every[:, rows], values)
    assert torch.allclose(joined.transposed_times(values, rows), expected, atol=1e-4)
    part = joined.only(torch.tensor([5, 141]))
    assert torch.equal(part.matrices(torch.arange(2)), full[[5, 3]])


@pytest.mark.parametrize("kind", [*NOISES, RANDOM[-1]])
def test_no_samples_are_an_empty_tensor(kind):
    noise, x = resolve(kind, a_matrix()), a_matrix()[:6]
    first, second = (
        draws_of(noise, x, seed=0, query=3, samples=samples, memory=1 << 20)
        for samples in (range(4), range(4, 9))
    )
    none = torch.arange(0)
    for draws in (first, first.joined([second]), JoinedDraws([first, second])):
        assert draws.matrices(none).shape == (0, 6, 7)


@pytest.mark.parametrize("width", [3, 40], ids=["narrow", "wide"])
@pytest.mark.parametrize("memory", [1 << 30, 0], ids=["kept", "drawn again"])
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_products_with_mostly_zeros_are_those_of_the_matrices(dtype, memory, width):
    generator = torch.Generator().manual_seed(1)
    x = torch.rand(60, 30, generator=generator, dtype=torch.double)
    x *= torch.rand(60, 30, generator=generator) < 0.1
    x[:, 4] = 0  # a column without any
    noise = resolve("column-marginals", x.to(dtype))
    draws = draws_of(noise, x[:7].to(dtype), seed=0, query=3, samples=range(130), memory=memory)
    assert isinstance(draws, SparseDraws)
    few = draws.only(torch.tensor([0, 3, 77, 129]))
    weight = torch.randn(30, width, generator=generator).to(dtype)
    for some in (draws, few, draws.joined([few])):
        samples = some.shape[0]
        full = some.matrices(torch.arange(samples))  # (S, 7, 30)
        assert 0 < (full != 0).double().mean() < 0.2
        assert torch.allclose(some.times(weight), (full @ weight).transpose(0, 1), atol=1e-5)
        for rows in (torch.tensor([6, 1]), torch.tensor([6]), torch.tensor([], dtype=torch.long)):
            values = torch.randn(rows.numel(), samples, width, generator=generator).to(dtype)
            expected = torch.einsum("svd,vsh->dh", full[:, rows], values)
            product = some.transposed_times(values, rows)
            assert product.dtype == dtype
            assert torch.allclose(product, expected, atol=1e-4)


def test_dense_draws_do_the_same():
    full = torch.randn(12, 4, 6)
    draws = DenseDraws(full)
    values, rows = torch.randn(2, 12, 5), torch.tensor([0, 3])
    expected = torch.einsum("svd,vsh->dh", full[:, rows], values)
    assert torch.allclose(draws.transposed_times(values, rows), expected, atol=1e-5)
    assert torch.equal(draws.only(torch.tensor([2, 7])).matrices(torch.arange(2)), full[[2, 7]])


def test_numbers_and_walks_are_the_same_on_the_cpu_and_elsewhere():
    keys = torch.randint(-(1 << 62), 1 << 62, (500,), generator=torch.Generator().manual_seed(0))
    counters = torch.arange(500)
    ours = streams.uniforms_on_cpu(keys.numpy(), counters.numpy())
    assert torch.equal(torch.from_numpy(ours), streams.uniforms(keys, counters))
    density = torch.linspace(0, 1, 500).double()
    for positions in (1, 60, 3000):
        on_cpu = column_marginals._walked(keys, density, positions)
        at_once = column_marginals._walked_at_once(keys, density, positions)
        for one, other in zip(on_cpu, at_once, strict=True):
            assert torch.equal(one, other)


def test_numbers_along_streams_are_those_at_their_counters(monkeypatch):
    monkeypatch.setattr(streams, "_AT_ONCE", 4)
    keys = torch.tensor([5, -7, 1 << 62, 0])
    count = torch.tensor([3, 0, 9, 1])
    along = streams.uniforms_along(keys, count, first=1, step=2)
    expected = [
        streams.uniforms(key, torch.tensor(2 * number + 1))
        for key, many in zip(keys, count.tolist(), strict=True)
        for number in range(many)
    ]
    assert torch.equal(along, torch.stack(expected))


def test_part_of_a_block_is_the_block_cut_off():
    x = torch.rand(40, 9) * (torch.rand(40, 9) < 0.4)
    noise = resolve("column-marginals", x)
    whole = noise.draw(x[:5], seed=2, query=1, samples=range(100))
    assert torch.equal(noise.draw(x[:5], seed=2, query=1, samples=range(51, 54)), whole[51:54])
    assert torch.equal(noise.draw(x[:5], seed=2, query=1, samples=range(50, 51)), whole[50:51])


def test_features_of_a_type_that_numpy_lacks():
    x = (torch.rand(30, 4, generator=torch.Generator().manual_seed(0)) < 0.5).to(torch.bfloat16)
    drawn = resolve("column-marginals", x).draw(x[:3], seed=0, query=0, samples=range(8))
    expected = resolve("column-marginals", x.float()).draw(
        x[:3].float(), seed=0, query=0, samples=range(8)
    )
    assert torch.equal(drawn.float(), expected)
