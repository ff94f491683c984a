"""Where a recording stops being linear in the features: Σ_k A_k X W_k + b."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from zorro.evaluation.recorded.recording import Operation, Value

_SAME = {"clone", "alias", "detach", "contiguous", "lift_fresh"}


@dataclass(frozen=True)
class Term:
    """One product A X W.

    Args:
        matrix: A (q, n), sparse.
        weight: W (d, h); the identity when None.
    """

    matrix: Any
    weight: Tensor | None


@dataclass(frozen=True)
class Linear:
    """A value that is linear in the features, with what does not depend on them.

    Args:
        terms: the products.
        constant: (q, h) or what is broadcast to it; None for nothing.
    """

    terms: tuple[Term, ...]
    constant: Tensor | None = None

    def mixed(self, matrix: Any) -> Linear:
        """Return M V of a sparse matrix M (p, q)."""
        terms = tuple(Term(matrix @ term.matrix, term.weight) for term in self.terms)
        constant = self.constant
        if constant is not None:
            rows = constant.expand(matrix.shape[1], constant.size(-1)).double().cpu().numpy()
            made = torch.from_numpy(np.asarray(matrix @ rows))
            constant = made.to(constant.dtype).to(constant.device)
        return Linear(terms, constant)

    def times(self, weight: Tensor) -> Linear:
        """Return V W."""
        terms = tuple(
            Term(term.matrix, weight if term.weight is None else term.weight @ weight)
            for term in self.terms
        )
        return Linear(terms, None if self.constant is None else self.constant @ weight)

    def scaled(self, factor: float) -> Linear:
        """Return a multiple."""
        terms = tuple(Term(term.matrix * factor, term.weight) for term in self.terms)
        return Linear(terms, None if self.constant is None else self.constant * factor)

    def plus(self, other: Linear | Tensor | float) -> Linear:
        """Return the sum with another one, or with what does not depend on the features."""
        if isinstance(other, Linear):
            terms = list(self.terms)
            for term in other.terms:
                same = [i for i, mine in enumerate(terms) if mine.weight is term.weight]
                if same:
                    terms[same[0]] = Term(terms[same[0]].matrix + term.matrix, term.weight)
                else:
                    terms.append(term)
            return Linear(tuple(terms), _sum(self.constant, other.constant))
        return Linear(self.terms, _sum(self.constant, torch.as_tensor(other)))


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def linear_values(operations: Sequence[Operation], *, rows: int) -> dict[int, Linear]:
    """Return which values of operations are linear in the input's rows, value 0."""
    found: dict[int, Linear] = {0: Linear((Term(sp.identity(rows, format="csr"), None),))}
    for operation in operations:
        if len(operation.results) != 1:
            continue
        result = _linear(operation, found)
        if result is not None:
            found[operation.results[0]] = result
    return found


def _linear(operation: Operation, known: Mapping[int, Linear]) -> Linear | None:
    """Return the result of an operation, if it is linear; values are matrices (q, h) alone."""
    name, args = operation.name, operation.args

    def value(place: int) -> Linear | None:
        argument = args[place] if place < len(args) else None
        return known.get(argument.number) if isinstance(argument, Value) else None

    first = value(0)
    if name in _SAME:
        return first
    if name == "mm" and first is not None and isinstance(args[1], Tensor):
        return first.times(args[1])
    if name == "addmm" and not operation.kwargs:
        product, added, weight = value(1), args[0], args[2]
        if product is None or not isinstance(weight, Tensor) or not isinstance(added, Tensor):
            return None
        return product.times(weight).plus(added)
    if name in ("add", "sub") and not operation.kwargs and len(args) == 2:
        return _added(first, value(1), args, minus=name == "sub")
    if name in ("mul", "div") and len(args) == 2:
        return _multiplied(first, value(1), args, divides=name == "div")
    if name in ("scatter_add", "index_add"):
        return _collected(operation, known)
    if name == "index_select" and first is not None and args[1] == 0:
        return first.mixed(_picking(args[2], first.terms[0].matrix.shape[0]))
    return None


def _added(
    one: Linear | None, other: Linear | None, args: Sequence[Any], *, minus: bool
) -> Linear | None:
    if one is not None and other is not None:
        return one.plus(other.scaled(-1.0) if minus else other)
    if one is not None and not isinstance(args[1], Value):
        added = args[1] if isinstance(args[1], Tensor) else torch.tensor(args[1])
        return one.plus(-added if minus else added) if added.dim() <= 2 else None
    if other is not None and not isinstance(args[0], Value):
        added = args[0] if isinstance(args[0], Tensor) else torch.tensor(args[0])
        return (other.scaled(-1.0) if minus else other).plus(added) if added.dim() <= 2 else None
    return None


def _multiplied(
    one: Linear | None, other: Linear | None, args: Sequence[Any], *, divides: bool
) -> Linear | None:
    """Return a product with numbers, or with a number for each row."""
    if (one is None) == (other is None) or (divides and one is None):
        return None
    linear, factor = (one, args[1]) if one is not None else (other, args[0])
    assert linear is not None
    if isinstance(factor, int | float):
        return linear.scaled(1 / factor if divides else factor)
    if not isinstance(factor, Tensor) or factor.is_complex():
        return None
    count = linear.terms[0].matrix.shape[0]
    if factor.dim() == 0:
        number = float(factor)
        return linear.scaled(1 / number if divides else number)
    if factor.dim() == 2 and factor.shape == (count, 1):
        each = factor.double().flatten().cpu().numpy()
        return linear.mixed(sp.diags(1 / each if divides else each, format="csr"))
    return None


def _picking(index: Tensor, count: int) -> Any:
    """Return the matrix that picks rows."""
    places = index.cpu().numpy()
    ones = np.ones(len(places))
    return sp.csr_matrix((ones, (np.arange(len(places)), places)), shape=(len(places), count))


def _collected(operation: Operation, known: Mapping[int, Linear]) -> Linear | None:
    """Return rows of a source, added to those that an index names, and to a constant."""
    into, dim, index, source = operation.args[:4]
    if dim != 0 or not isinstance(source, Value) or source.number not in known:
        return None
    if isinstance(into, Value) or operation.kwargs:
        return None
    flat = index[:, 0] if index.dim() == 2 else index
    if index.dim() > 2 or (index.dim() == 2 and not bool((index == flat.unsqueeze(1)).all())):
        return None
    rows = flat.cpu().numpy()
    matrix = sp.csr_matrix(
        (np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(into.size(0), len(rows))
    )
    result = known[source.number].mixed(matrix)
    return result.plus(into) if bool((into != 0).any()) else result
