"""What refills the entries that an explanation does not keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch
from torch import Tensor

from zorro.arguments import check_choice
from zorro.errors import InputError
from zorro.graph.features import Features, TensorFeatures, features_of
from zorro.model.packing import Packing
from zorro.noise.by_type import DrawsByType, NoiseByType, OfType, PlacedDraws
from zorro.noise.column_marginals import ColumnMarginals
from zorro.noise.distributions import (
    Constant,
    FromFunction,
    Gaussian,
    NoiseFunction,
    PublishedDraw,
    WholeRows,
)
from zorro.noise.draws import DenseDraws, Draws, TrueValues
from zorro.noise.grouped import GroupMarginals
from zorro.noise.streams import BLOCK, Purpose, seed_of

__all__ = [
    "NOISES",
    "Draws",
    "Noise",
    "NoiseFunction",
    "draws_of",
    "redraw",
    "resolve",
    "resolve_by_type",
]


class Noise(Protocol):
    """A distribution of feature values whose draws are fixed by seed, query and sample.

    One of your own is a function, see `resolve`.

    >>> import torch
    >>> from zorro.noise import resolve
    >>> x = torch.eye(3)
    >>> noise = resolve("rows", x)
    >>> noise.name, noise.draw(x[:2], seed=0, query=7, samples=range(100)).shape
    ('rows', torch.Size([100, 2, 3]))
    """

    name: str

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d) of `samples` for candidates with features (n, d).

        Args:
            candidates: (n, d), their true features.
            seed: of the noise.
            query: the key of what is explained.
            samples: which; they are independent, and each is the same whatever others are drawn.
        """
        ...


_BY_NAME: dict[str, Callable[[Features], Noise]] = {
    "column-marginals": lambda features: ColumnMarginals(features.by_column()),
    "rows": WholeRows,
    "zeros": lambda features: Constant("zeros", _zeros(features)),
    "means": lambda features: Constant("means", _real("means", features).column_means()),
    "gaussian": lambda features: Gaussian(_dense("gaussian", _real("gaussian", features))),
    "published": lambda features: PublishedDraw(_dense("published", features)),
}
NOISES = tuple(_BY_NAME)
_EXACT = (ColumnMarginals, Constant, FromFunction, PublishedDraw, WholeRows)  # draw no more samples
_OWN = (*_EXACT, Gaussian, GroupMarginals, NoiseByType)
_NUMBERS_AT_ONCE = 1 << 25


def resolve(
    noise: str | Noise | NoiseFunction, x: Tensor | Features, *, groups: Tensor | None = None
) -> Noise:
    """Return the noise that a name or a user's function stands for.

    A function is called once for each sample, with a generator of the sample's own.

    >>> import torch
    >>> from zorro.noise import resolve
    >>> x = torch.tensor([[0.0, 2.0], [1.0, 4.0]])
    >>> resolve("means", x).draw(x, seed=0, query=0, samples=range(1))
    tensor([[[0.5000, 3.0000],
             [0.5000, 3.0000]]])
    >>> def shuffled(candidates, generator):
    ...     return candidates[torch.randperm(len(candidates), generator=generator)]
    >>> noise = resolve(shuffled, x).draw(x, seed=0, query=0, samples=range(100))
    >>> noise.shape, noise[:, 0, 0].unique()  # samples, nodes, features
    (torch.Size([100, 2, 2]), tensor([0., 1.]))

    Args:
        noise: one of `NOISES`; a function `(candidates (n, d), torch.Generator) -> (n, d)`; or what
            was resolved already.
        x: (N, d), the feature matrix of the whole data set, dense, sparse or stored.
        groups: (d,) each column's group; `"column-marginals"` then draws those of a group together.
    """
    if isinstance(noise, str):
        check_choice("noise", noise, NOISES)
        if groups is not None and noise == "column-marginals":
            return GroupMarginals(features_of(x), groups)
        return _BY_NAME[noise](features_of(x))
    if isinstance(noise, _OWN):
        resolved: Noise = noise
        return resolved
    if callable(noise):
        return FromFunction(noise)
    raise InputError(
        f"noise: expected a name or a function of candidates and a generator, got "
        f"{type(noise).__name__}"
    )


def resolve_by_type(
    noise: str | Noise | NoiseFunction | Mapping[str, str | Noise | NoiseFunction],
    packed: Features,
    packing: Packing,
    *,
    groups: Tensor | None = None,
) -> Noise:
    """Return the noise of a graph of several types, each refilled from its own nodes.

    Columns that only tell nodes apart are drawn together: those of another node of the type.

    >>> import torch
    >>> from torch_geometric.data import HeteroData
    >>> from zorro.graph.packed import pack
    >>> from zorro.noise import resolve_by_type
    >>> data = HeteroData()
    >>> data["author"].x, data["paper"].x = torch.ones(2, 1), torch.eye(2).repeat(2, 1)
    >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [0, 2]])
    >>> graph, packing = pack(data, {}, directed=None)
    >>> resolve_by_type({"paper": "rows"}, graph.features, packing).name
    'column-marginals, rows'

    Args:
        noise: of all types, or by type; `"column-marginals"` for types that are not named.
        packed: (N, d), the features of all types.
        packing: which rows and columns are whose.
        groups: (d,) each column's group; those of no type's features have none.
    """
    types = packing.types
    by_name = dict(noise) if isinstance(noise, Mapping) else dict.fromkeys(types.names, noise)
    for name in by_name:
        check_choice("noise", name, types.names)
    each: list[OfType | None] = []
    names = []
    for one, first, columns in zip(types.nodes, types.first_nodes, packing.features, strict=True):
        if columns is None:
            each.append(None)
            continue
        wanted = "rows" if columns.are_ids else by_name.get(one.name, "column-marginals")
        at = slice(columns.first, columns.first + columns.count)
        nodes = torch.arange(first, first + one.count, device=packed.device)
        own = packed if len(types.nodes) == 1 else features_of(_block(packed, nodes, at))
        mine = None
        if groups is not None and not columns.are_ids:
            mine = torch.unique(groups[at], return_inverse=True)[1]
        made = resolve(wanted, own, groups=mine)
        each.append(OfType(made, at))
        if not columns.are_ids:
            names.append(made.name)
    if len(types.nodes) == 1 and isinstance(each[0], OfType):
        alone: Noise = each[0].noise
        return alone
    known = list(dict.fromkeys(names))
    return NoiseByType(types, each, name=known[0] if len(known) == 1 else ", ".join(known))


def _block(packed: Features, nodes: Tensor, columns: slice) -> Tensor:
    assert isinstance(packed, TensorFeatures), "packed features are in memory"
    return packed.block(nodes, columns)


def draws_of(
    noise: Noise,
    candidates: Tensor,
    *,
    seed: int,
    query: int,
    samples: range,
    memory: int,
    types: Tensor | None = None,
) -> Draws:
    """Draw the noise of one query, sparse where the distribution is.

    >>> import torch
    >>> from zorro.noise import draws_of, resolve
    >>> x = torch.eye(4)
    >>> noise = resolve("rows", x)
    >>> draws = draws_of(noise, x[:2], seed=0, query=7, samples=range(100), memory=1 << 20)
    >>> draws.shape  # samples, nodes, features
    (100, 2, 4)
    >>> rows = draws.matrices(torch.arange(100))
    >>> bool((rows.sum(2) == 1).all())  # each is a row of x
    True

    Args:
        noise: the distribution.
        candidates: (n, d), the candidates' true features.
        seed: of the noise.
        query: the node that is explained.
        samples: which samples.
        memory: bytes that sparse noise may keep; past that it is drawn again when asked for.
        types: (n,) the number of each candidate's type, where there are several.
    """
    if isinstance(noise, NoiseByType):
        assert types is not None
        parts = [
            PlacedDraws(
                draws_of(
                    one.noise,
                    candidates[places][:, one.columns],
                    seed=seed_of(seed, number),
                    query=query,
                    samples=samples,
                    memory=memory,
                ),
                places,
                one.columns,
            )
            for number, one, places in noise.rows(types)
        ]
        rows, columns = candidates.shape
        if not parts:
            return TrueValues(candidates, len(samples))
        return DrawsByType(parts, nodes=rows, columns=columns, samples=len(samples))
    if isinstance(noise, ColumnMarginals):
        return noise.draws(
            candidates.size(0), seed=seed, query=query, samples=samples, memory=memory
        )
    return DenseDraws(noise.draw(candidates, seed=seed, query=query, samples=samples))


def redraw(noise: Noise, x: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
    """Return noise (S, n, d) for any number of nodes with features (n, d), all of one type.

    Some nodes at a time, where a distribution may draw more samples than it is asked for.

    >>> import torch
    >>> from zorro.noise import redraw, resolve
    >>> x = torch.eye(4)
    >>> some = redraw(resolve("column-marginals", x), x, seed=0, query=7, samples=range(200))
    >>> some.shape
    torch.Size([200, 4, 4])
    >>> more = redraw(resolve("column-marginals", x), x, seed=0, query=7, samples=range(100, 200))
    >>> torch.equal(some[100:], more)  # a sample does not depend on the others
    True

    Args:
        noise: the distribution.
        x: (n, d), the nodes' true features.
        seed: of the noise.
        query: the key of what is explained.
        samples: which.
    """
    if x.size(0) == 0:
        return x.new_empty(len(samples), *x.shape)
    if isinstance(noise, _EXACT):
        return noise.draw(x, seed=seed, query=query, samples=samples)
    rows = max(1, _NUMBERS_AT_ONCE // (BLOCK * x.size(1)))
    parts = []
    for first in range(0, x.size(0), rows):
        own = seed_of(seed, Purpose.ROWS, first)
        some = x[first : first + rows]
        parts.append(noise.draw(some, seed=own, query=query, samples=samples))
    return torch.cat(parts, dim=1)


def _zeros(features: Features) -> Tensor:
    return torch.zeros(features.shape[1], dtype=features.dtype, device=features.device)


def _real(noise: str, features: Features) -> Features:
    if not features.dtype.is_floating_point:
        raise InputError(
            f"noise: expected 'column-marginals', 'rows' or a function for {features.dtype} "
            f"features, got {noise!r}, whose numbers lie between the values and may be no "
            "categories at all"
        )
    return features


def _dense(noise: str, features: Features) -> Tensor:
    x = features.in_memory
    if x is None:
        raise InputError(f"noise: expected features in memory for {noise!r}, got stored ones")
    if x.layout != torch.strided:
        raise InputError(
            f"noise: expected dense features for {noise!r}, got sparse ones: pass x.to_dense()"
        )
    return x
