"""Perturbed evaluation of a traced model: only what a candidate changes is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, fx

from zorro.agreement import same_output
from zorro.cut import ComputationalGraph
from zorro.fidelity.batched import DEFAULT_MEMORY, BatchedEvaluator
from zorro.fidelity.evaluator import Evaluator, Gains
from zorro.fidelity.traced.change import Change
from zorro.fidelity.traced.layers import Unserved
from zorro.fidelity.traced.plan import Mixing, Plan
from zorro.fidelity.traced.program import Program, Record
from zorro.model_state import undisturbed
from zorro.noise import Draws
from zorro.noise.draws import DenseDraws
from zorro.predictor import Predictor
from zorro.selection import Selection

# Where the two best scores are closer than this, rounding could decide: the model itself is asked.
# Relative to 1 + the largest score; on the paper's models no score was off by more than 2e-6, and
# in half precision by no more than 4 roundings.
_CLOSE = 1e-5
_CLOSE_ROUNDINGS = 16
_CLOSE_DEVIATIONS = 4  # of those seen when the program was compared with the model
_CPU_NUMBERS = 1 << 21  # of one intermediate value: what stays in the caches
_NOISE_NUMBERS = 1 << 23
_MOST_JOINED = 8  # batches that run as one where few of their rows change
_MOST_UPDATES = 100  # of a running sum before it is summed anew, for rounding's sake


@dataclass(frozen=True)
class _Entry:
    """A place where the model first touches the features: state Σ_k A_k Y W_k + const."""

    mixings: tuple[Mixing, ...]  # A_k, (q, n) over candidates
    weights: tuple[Tensor, ...]  # W_k, (d, h)
    parts: tuple[slice, ...]  # where W_k stands among the columns of all weights
    constant: Tensor  # (q, h): bias and context


@dataclass(frozen=True)
class _Base:
    """What the samples give under a selection, from which candidates are computed."""

    selection: Selection
    states: dict[fx.Node, Tensor]  # of each entry, (q, S, h)
    scores: Tensor  # (S, C)
    record: Record
    recorded: bool


class TracedEvaluator(Evaluator):
    """Evaluates a traced model by updating the states of its first linear maps.

    A model's first step on the features is linear: a state Σ_k A_k Y W_k + b. Adding feature f
    adds the rank-one matrices (A_k δ) ⊗ W_k[f], δ the change of column f; adding node v adds
    A_k[:, v] ⊗ (δ W_k), δ the change of row v. What follows runs for all (candidate, sample)
    pairs whose input changes, on the rows that the query's output needs.

    Outputs are the model's up to rounding. Where rounding could decide between two classes, the
    model itself is run on that input, so that hits are the any-model evaluator's.

    Args:
        predictor: the model.
        program: the traced model, cut down for this query.
        graph: the query's computational graph.
        draws: the noise of this query.
        batched: the any-model evaluator on the same noise.
        memory: bytes that an evaluation may take, roughly.
        always_by_row: compute changed rows alone even where it is more work, for a test of it.
    """

    name = "traced"

    def __init__(
        self,
        predictor: Predictor,
        program: Program,
        graph: ComputationalGraph,
        draws: Draws,
        batched: BatchedEvaluator,
        *,
        memory: int = DEFAULT_MEMORY,
        always_by_row: bool = False,
    ) -> None:
        self.graph = graph
        self.event = batched.event
        self.samples = draws.shape[0]
        self._runs = 0
        self._predictor = predictor
        self._program = program
        self._draws = draws
        self._batched = batched
        self._always_by_row = always_by_row
        self._x = graph.candidate_x
        self._close = max(
            _CLOSE,
            _CLOSE_ROUNDINGS * torch.finfo(graph.x.dtype).eps,
            _CLOSE_DEVIATIONS * program.deviation,
        )
        self._entries, self._weight = program.kept("entries", lambda: _entries_of(program, graph))
        self._noise_product = draws.times(self._weight)  # (n, S, H)
        self._true_product = self._x @ self._weight  # (n, H)
        self._noise_states = {
            node: entry.constant.unsqueeze(1) + self._mixed(entry, self._noise_product)
            for node, entry in self._entries.items()
        }  # each (q, S, h)
        width = sum(state.size(0) * state.size(2) for state in self._noise_states.values())
        numbers = memory // 32 if graph.x.is_cuda else min(memory // 32, _CPU_NUMBERS)
        self._pairs_at_once = max(1, numbers // max(1, width))
        self._columns_at_once = max(1, _NOISE_NUMBERS // max(1, self._x.size(0) * self.samples))
        least = min(state.size(0) for state in self._noise_states.values())
        self._changes_at_once = self._pairs_at_once * max(1, min(_MOST_JOINED, least))
        self._last: _Base | None = None
        self._kept_noise: dict[int, Tensor] = {}
        self._most_kept = memory // 8 // max(1, self._x.numel() * self._x.element_size())
        self._product = torch.zeros_like(self._noise_product)
        self._product_features = torch.zeros_like(self._x[0], dtype=torch.bool)
        self._product_updates = 0

    @property
    def evaluations(self) -> int:
        """Perturbed inputs evaluated so far."""
        return self._runs + self._batched.evaluations

    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""
        return self._base(selection).scores

    def scores_toggling_features(self, selection: Selection, columns: Tensor) -> Tensor:
        """Return the scores (k, S, C) with one of `columns` (k,) added, or taken out if there."""
        base = self._base(selection, recorded=True)
        scores = base.scores.expand(columns.numel(), -1, -1).clone()  # (k, S, C)
        ran = torch.zeros_like(scores[:, :, 0], dtype=torch.bool)  # (k, S)
        rows = selection.rows  # (v,)
        mixings = {
            node: [mixing.restricted(rows) for mixing in entry.mixings]
            for node, entry in self._entries.items()
        }
        for first in range(0, columns.numel(), self._columns_at_once):
            some = columns[first : first + self._columns_at_once]
            change = self._change(some, rows)  # (k, S, v)
            change *= _sign(selection.features[some], change)

            def changes(
                candidate: Tensor, sample: Tensor, some: Tensor = some, change: Tensor = change
            ) -> dict[fx.Node, Change]:
                delta = change[candidate, sample].t()  # (v, p)
                return {
                    node: Change(
                        base.states[node],
                        sample,
                        tuple(mixing.times(delta) for mixing in mixings[node]),
                        tuple(weight[some[candidate]] for weight in entry.weights),
                    )
                    for node, entry in self._entries.items()
                }

            part = slice(first, first + some.numel())
            pairs = (change != 0).any(-1).nonzero()  # (p, 2): candidate, sample
            self._run_pairs(pairs, changes, base, scores[part], ran[part])
        return self._settled(scores, ran, selection, columns=columns)

    def scores_toggling_nodes(self, selection: Selection, rows: Tensor) -> Tensor:
        """Return the scores (r, S, C) with one of `rows` (r,) added, or taken out if there."""
        base = self._base(selection, recorded=True)
        scores = base.scores.expand(rows.numel(), -1, -1).clone()  # (r, S, C)
        ran = torch.zeros_like(scores[:, :, 0], dtype=torch.bool)  # (r, S)
        product = self._change_product(selection)[rows]  # (r, S, H)
        product *= _sign(selection.nodes[rows], product)
        pairs = (product != 0).any(-1).nonzero()  # (p, 2): candidate, sample
        columns = {
            node: [mixing.columns(rows) for mixing in entry.mixings]
            for node, entry in self._entries.items()
        }  # each (q, r)

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            delta = product[candidate, sample]  # (p, H)
            return {
                node: Change(
                    base.states[node],
                    sample,
                    tuple(column[:, candidate] for column in columns[node]),
                    tuple(delta[:, part] for part in entry.parts),
                )
                for node, entry in self._entries.items()
            }

        self._run_pairs(pairs, changes, base, scores, ran)
        return self._settled(scores, ran, selection, rows=rows)

    def gains(self, selection: Selection) -> Gains:
        """Return what each element would add, from a backward pass through the traced model."""
        base = self._base(selection, recorded=True)  # the best are tested next
        product = self._change_product(selection)  # (n, S, H)
        rows = selection.rows
        nodes = torch.zeros_like(self._x[:, 0])
        features = torch.zeros_like(self._x[0])
        gradients = self._gradients(base)  # of each entry, (q, S, h)
        for node, entry in self._entries.items():
            for mixing, weight, part in zip(entry.mixings, entry.weights, entry.parts, strict=True):
                by_row = mixing.transposed_times(gradients[node])  # (n, S, h)
                nodes += (by_row * product[:, :, part]).sum((1, 2))
                if rows.numel():
                    by_row = by_row[rows]  # (v, S, h)
                    drawn = self._draws.transposed_times(by_row, rows)  # (d, h)
                    true = self._x[rows].t() @ by_row.sum(1)
                    features += ((true - drawn) * weight).sum(1)
        return Gains(nodes / self.samples, features / self.samples)

    def _gradients(self, base: _Base) -> dict[fx.Node, Tensor]:
        """Return the gradient of the event's log-probability for each entry's states."""
        parts = []
        every = torch.arange(self.samples, device=self.device)
        for some in _chunks(every, self._pairs_at_once):
            few = {
                node: state[:, some].detach().requires_grad_()
                for node, state in base.states.items()
            }
            self._runs += some.numel()
            with undisturbed(self._predictor.model), torch.enable_grad():
                scores = self._predictor.as_columns(self._program.run(few))
                aim = self.event.log_probability(scores).sum()
                parts.append(torch.autograd.grad(aim, list(few.values())))
        joined = [torch.cat(gradients, dim=1) for gradients in zip(*parts, strict=True)]
        return dict(zip(base.states, joined, strict=True))

    def _run_pairs(
        self,
        pairs: Tensor,
        changes_of: Callable[[Tensor, Tensor], dict[fx.Node, Change]],
        base: _Base,
        scores: Tensor,
        ran: Tensor,
    ) -> None:
        """Run some pairs (p, 2) of candidates and samples, into scores (k, S, C) and ran (k, S).

        Args:
            pairs: candidates and samples.
            changes_of: what candidates (p,) change in samples (p,), for each entry.
            base: what they change.
            scores: get the pairs' scores.
            ran: gets true at the pairs.
        """
        for some in _chunks(pairs, self._changes_at_once):
            candidate, sample = some.t()
            changes = changes_of(candidate, sample)
            share = max(self._share_changed(change) for change in changes.values())
            step = int(self._pairs_at_once / share) + 1
            for first in range(0, some.size(0), step):
                part = slice(first, first + step)
                few = {node: change.part(part) for node, change in changes.items()}
                with self._running(sample[part].numel()):
                    output = self._program.run_changes(
                        few, base.record, always_by_row=self._always_by_row
                    )
                scores[candidate[part], sample[part]] = self._predictor.as_columns(output)
            ran[candidate, sample] = True

    def _share_changed(self, change: Change) -> float:
        """Return how many of the rows change, which says how many inputs fit into the memory."""
        if change.base.is_cuda or change.sample.numel() <= self._pairs_at_once:
            return 1.0
        return float(change.changed_rows().double().mean().clamp(min=1 / _MOST_JOINED))

    def _base(self, selection: Selection, *, recorded: bool = False) -> _Base:
        """Return each entry's states (q, S, h) and the scores (S, C) under a selection."""
        last = self._last
        if last is not None and last.selection is selection and (last.recorded or not recorded):
            return last
        states = self._noise_states
        if not selection.is_blank:
            product = self._change_product(selection)[selection.rows]  # (v, S, H)
            states = {
                node: state + self._mixed(self._entries[node], product, selection.rows)
                for node, state in self._noise_states.items()
            }
        every = torch.arange(self.samples, device=self.device)
        records: list[Record] = []
        parts: list[Tensor] = []
        for some in _chunks(every, self._pairs_at_once):
            few = {node: state[:, some] for node, state in states.items()}
            record = Record() if recorded else None
            with self._running(some.numel()):
                parts.append(self._predictor.as_columns(self._program.run(few, record)))
            records.extend([] if record is None else [record])
        scores = torch.cat(parts)
        ran = torch.ones_like(scores[:, 0], dtype=torch.bool)
        scores = self._settled(scores.unsqueeze(0), ran.unsqueeze(0), selection)[0]
        self._last = _Base(
            selection, states, scores, Record.joined(records) if recorded else Record(), recorded
        )
        return self._last

    def _change_product(self, selection: Selection) -> Tensor:
        """Return (X − Z) W over the selected features, for all candidates, (n, S, H).

        A search asks for one feature more than the last time, and gets that column added.
        """
        if selection.features is self._product_features:
            return self._product
        before = self._product_features
        added = (selection.features & ~before).nonzero().flatten()
        grew_by_one = added.numel() == 1 and not bool((before & ~selection.features).any())
        if grew_by_one and self._product_updates < _MOST_UPDATES:
            self._product_updates += 1
            self._product = self._product + self._product_of(added)
        else:
            self._product_updates = 0
            self._product = self._product_from_scratch(selection)
        self._product_features = selection.features
        return self._product

    def _product_from_scratch(self, selection: Selection) -> Tensor:
        if 2 * selection.columns.numel() <= selection.features.numel():
            return self._product_of(selection.columns)
        everything = self._true_product.unsqueeze(1) - self._noise_product
        return everything - self._product_of((~selection.features).nonzero().flatten())

    def _product_of(self, columns: Tensor) -> Tensor:
        product = torch.zeros_like(self._noise_product)
        for some in _chunks(columns, self._columns_at_once):
            change = self._change(some)  # (k, S, n)
            product += (
                (change.flatten(1).t() @ self._weight[some])
                .view(self.samples, -1, self._weight.size(1))
                .transpose(0, 1)
            )
        return product

    def _change(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return (X − Z)ᵀ at some columns and rows, (k, S, v)."""
        noise = self._draws.columns(columns)  # (k, S, n)
        if rows is None or rows.numel() == self._x.size(0):
            return self._x[:, columns].t().unsqueeze(1) - noise
        return self._x[rows][:, columns].t().unsqueeze(1) - noise[:, :, rows]

    def _mixed(self, entry: _Entry, product: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return Σ_k A_k P_k for products P (v, S, H) at some rows, as (q, S, h)."""
        mixings = [m if rows is None else m.restricted(rows) for m in entry.mixings]
        first, *others = (
            mixing.times(product[:, :, part])
            for mixing, part in zip(mixings, entry.parts, strict=True)
        )
        return sum(others, start=first)

    @contextmanager
    def _running(self, inputs: int) -> Iterator[None]:
        self._runs += inputs
        with undisturbed(self._predictor.model), torch.no_grad():
            yield

    def _settled(
        self,
        scores: Tensor,
        ran: Tensor,
        selection: Selection,
        *,
        rows: Tensor | None = None,
        columns: Tensor | None = None,
    ) -> Tensor:
        """Replace scores that are too close to call by the model's own.

        Args:
            scores: (k, S, C) of candidates and samples.
            ran: (k, S), those that are not the selection's own.
            selection: what the candidates are added to.
            rows: (k,) the candidates, if they are nodes;
            columns: (k,) if they are features.
        """
        clear = self.event.gap(scores) > self._close * (1 + scores.abs().amax(-1))
        unsure = (ran & ~clear).nonzero()  # (u, 2): candidate, sample
        base = selection.mask  # (n, d)
        for some in _chunks(unsure, max(1, _NOISE_NUMBERS // max(1, self._x.numel()))):
            candidate, sample = some.t()
            mask = base.repeat(some.size(0), 1, 1)  # (u, n, d)
            each = torch.arange(some.size(0), device=self.device)
            if rows is not None:
                out = selection.nodes[rows[candidate]].unsqueeze(1)  # (u, 1)
                mask[each, rows[candidate]] = selection.features & ~out
            if columns is not None:
                out = selection.features[columns[candidate]].unsqueeze(1)
                mask[each, :, columns[candidate]] = selection.nodes & ~out
            noise = self._noise_of(sample.tolist())  # (u, n, d)
            scores[candidate, sample] = self._batched.run(torch.where(mask, self._x, noise))
        return scores

    def _noise_of(self, samples: list[int]) -> Tensor:
        """Return the noise (u, n, d) of samples; those on a knife's edge are asked for often."""
        surplus = max(0, len(self._kept_noise) - self._most_kept)
        for sample in list(self._kept_noise)[:surplus]:  # the oldest
            del self._kept_noise[sample]
        missing = sorted(set(samples) - set(self._kept_noise))
        if missing:
            drawn = self._draws.matrices(torch.tensor(missing, device=self.device))
            # Copies: a view would keep what was drawn with it.
            self._kept_noise.update(
                (sample, noise.clone()) for sample, noise in zip(missing, drawn, strict=True)
            )
        return torch.stack([self._kept_noise[sample] for sample in samples])


def check(
    predictor: Predictor,
    program: Program,
    graph: ComputationalGraph,
    draws: Draws,
    *,
    memory: int,
) -> None:
    """Raise `Unserved` unless a program gives the model's scores on this query.

    Both are run on a few samples with nothing selected, with half of everything selected, and
    with a node and a feature added to it.
    """
    few = DenseDraws(draws.matrices(torch.arange(min(3, draws.shape[0]), device=graph.x.device)))
    asked = BatchedEvaluator(predictor, graph, few, memory=memory, independent=True)
    try:
        traced = TracedEvaluator(
            predictor, program, graph, few, asked, memory=memory, always_by_row=True
        )
        ours, masks = _trial(traced)
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise Unserved(f"it failed when traced: {type(error).__name__}: {error}") from error
    noise = few.matrices(torch.arange(few.shape[0], device=graph.x.device))
    inputs = torch.cat([torch.where(mask, graph.candidate_x, noise) for mask in masks])
    theirs = asked.run(inputs)
    if not same_output(ours, theirs):
        worst = int((ours - theirs).abs().amax(-1).argmax())
        raise Unserved(
            f"its traced scores {[round(float(v), 4) for v in ours[worst]]} are not the model's "
            f"{[round(float(v), 4) for v in theirs[worst]]}"
        )
    off = (ours - theirs).abs().amax(-1) / (1 + theirs.abs().amax(-1))
    program.deviation = float(off.nan_to_num(0.0).max())


def _trial(traced: TracedEvaluator) -> tuple[Tensor, list[Tensor]]:
    """Return scores of every kind, and the masks (n, d) that they belong to."""
    nothing = Selection.empty(*traced.shape, device=traced.device)
    generator = torch.Generator().manual_seed(0)
    half = Selection(
        torch.rand(traced.shape[0], generator=generator).to(traced.device) < 0.5,
        torch.rand(traced.shape[1], generator=generator).to(traced.device) < 0.5,
    )
    row = _one_of_each(half.nodes)
    column = _one_of_each(half.features)
    scores = torch.cat(
        [
            traced.scores(nothing),
            traced.scores(half),
            *traced.scores_toggling_nodes(half, row),
            *traced.scores_toggling_features(half, column),
        ]
    )
    selections = [
        nothing,
        half,
        *[half.toggling_node(int(index)) for index in row],
        *[half.toggling_feature(int(index)) for index in column],
    ]
    return scores, [kept.mask for kept in selections]


def _one_of_each(mask: Tensor) -> Tensor:
    """Return a place where a mask is true and one where it is not, as far as there are."""
    return torch.cat([mask.nonzero().flatten()[:1], (~mask).nonzero().flatten()[:1]])


def _sign(selected: Tensor, change: Tensor) -> Tensor:
    """Return +1 for elements (k,) that are added and −1 for those taken out, (k, 1, 1)."""
    return (1 - 2 * selected.to(change)).view(-1, 1, 1)


def _entries_of(
    program: Program, graph: ComputationalGraph
) -> tuple[dict[fx.Node, _Entry], Tensor]:
    """Return the program's entries over all candidates, and all their weights side by side."""
    entries: dict[fx.Node, _Entry] = {}
    weights: list[Tensor] = []
    start = 0
    for node, plan in program.entries.items():
        identity = torch.eye(graph.x.size(1), device=graph.x.device, dtype=graph.x.dtype)
        own = tuple(identity if weight is None else weight for weight in plan.weights)
        parts = []
        for weight in own:
            parts.append(slice(start, start + weight.size(1)))
            start += weight.size(1)
        weights.extend(own)
        entries[node] = _Entry(
            mixings=tuple(
                mixing.spread(plan.needs, graph.candidates.numel()) for mixing in plan.mixings
            ),
            weights=own,
            parts=tuple(parts),
            constant=_constant(plan, own, graph),
        )
    if not entries:
        raise Unserved("its output does not depend on the features")
    return entries, torch.cat(weights, dim=1)


def _constant(plan: Plan, weights: tuple[Tensor, ...], graph: ComputationalGraph) -> Tensor:
    """Return what the context's features and the bias add to a state, (q, h)."""
    context = graph.x[plan.needs]  # (m, d)
    context = context * (plan.needs >= graph.candidates.numel()).unsqueeze(1)
    first, *others = (
        mixing.times(context @ weight) for mixing, weight in zip(plan.mixings, weights, strict=True)
    )
    total = sum(others, start=first)
    return total if plan.bias is None else total + plan.bias


def _chunks(values: Tensor, size: int) -> list[Tensor]:
    return [values[start : start + size] for start in range(0, values.size(0), size)]
