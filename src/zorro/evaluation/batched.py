"""Perturbed evaluation of any model, as batches of disjoint copies of the small graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import Selection, Space
from zorro.errors import ModelError
from zorro.evaluation.evaluator import Evaluator, Gains, do_nothing
from zorro.model.model_state import holds_inference_tensors
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.question.event import Event, Predicts

logger = logging.getLogger(__name__)

DEFAULT_MEMORY = 1 << 30  # bytes
# On a CPU larger batches only leave the caches; measured on Cora, 30–100 MB is fastest.
_CPU_BATCH = 1 << 26
_TRIED_SAMPLES = 3  # on which a column without a gradient is tried


class BatchedEvaluator(Evaluator):
    """Evaluates any model by running it.

    Inputs run as one graph of disjoint copies, as many at a time as fit `memory`. A candidate
    that leaves a sample's input as it was leaves its output as it was, and is not run.

    A model whose copies are not independent of one another (it normalises over all nodes, say)
    is noticed on the first batch and run one copy at a time.

    Args:
        predictor: the model.
        graph: the query's computational graph.
        draws: the noise that refills unselected entries, drawn for this query.
        memory: bytes that inputs and messages of one batch may take, roughly.
        event: what counts as a hit; that the prediction stays when None.
        space: what can be kept; nodes and features when None.
        independent: whether copies in one batch are known not to influence each other; found out
            when None.
        on_batch: called before each batch; what it raises ends the evaluation.
        reason: why it is this evaluator.
    """

    name = "any-model"

    def __init__(
        self,
        predictor: Predictor,
        graph: ComputationalGraph,
        draws: Draws,
        *,
        memory: int = DEFAULT_MEMORY,
        event: Event | None = None,
        space: Space | None = None,
        independent: bool | None = None,
        on_batch: Callable[[], None] = do_nothing,
        reason: str = "",
    ) -> None:
        self.graph = graph
        self.space = space or Space(*self.shape, device=graph.x.device)
        self.reason = reason
        self.event = event or Predicts(graph.predicted_class)
        self.samples = draws.shape[0]
        self._runs = 0
        self._independent = independent
        self._predictor = predictor
        self._draws = draws
        self._memory = memory
        self._on_batch = on_batch
        self._x = graph.candidate_x  # (n, d)
        self._context = graph.x[graph.candidates.numel() :]  # (c, d)
        # Inputs are copied about twice on their way. Messages take some hundred bytes an edge, or,
        # where a model sends the features as they are, all of these and their sums.
        edges, a_row = graph.edge_index.size(1), graph.x.size(1) * graph.x.element_size()
        inputs = 3 * graph.x.size(0) * a_row
        usual = inputs + 512 * (edges + graph.x.size(0))
        self._bytes_per_copy = max(usual, inputs + 2 * edges * a_row)
        self._copies = max(1, memory // 2 // self._bytes_per_copy)
        if graph.x.device.type == "cpu":
            self._copies = max(1, min(self._copies, _CPU_BATCH // usual))
        noise_bytes = 2 * self._x.numel() * self._x.element_size()
        self._samples_at_once = max(1, min(self.samples, memory // 2 // max(1, noise_bytes)))
        self._edges_of_copies: dict[int, Tensor] = {}
        self._kept_noise: Tensor | None = None
        self._tried: dict[int, bool] = {}  # columns without a gradient: whether they matter
        self._may_have_gradient = not holds_inference_tensors(predictor.model)

    @property
    def evaluations(self) -> int:
        """Perturbed inputs run so far."""
        return self._runs + self._evaluations_on_few

    @property
    def cost_per_sample(self) -> float:
        """What a further sample costs."""
        return self._draws.cost_per_sample

    @property
    def least_memory(self) -> int:
        """What a run of one copy takes, and its noise as much again."""
        return 2 * self._bytes_per_copy

    def only(self, samples: Tensor) -> BatchedEvaluator:
        """Return an evaluator on some of the samples (q,), ascending."""
        return self.on(self._draws.only(samples))

    def joined(self, others: Sequence[Evaluator]) -> BatchedEvaluator:
        """Return an evaluator on these samples and those of others of the same kind."""
        every = [self, *(other for other in others if isinstance(other, BatchedEvaluator))]
        return self.on(self._draws.joined([one._draws for one in every[1:]]))

    def on(self, draws: Draws) -> BatchedEvaluator:
        """Return an evaluator of the same query on other draws of noise."""
        return BatchedEvaluator(
            self._predictor,
            self.graph,
            draws,
            memory=self._memory,
            event=self.event,
            space=self.space,
            independent=self._independent,
            on_batch=self._on_batch,
            reason=self.reason,
        )

    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""
        return torch.cat([self.run(inputs) for inputs, _ in self._inputs(selection)])

    def inputs(self, selection: Selection) -> Tensor:
        """Return the perturbed inputs (S, n, d) of a selection."""
        return torch.cat([inputs for inputs, _ in self._inputs(selection)])

    def _scores_toggling_rows(self, selection: Selection, rows: Tensor) -> Tensor:
        columns = selection.columns  # (f,)
        blocks = []
        for inputs, noise in self._inputs(selection):
            present = inputs[:, rows][:, :, columns].transpose(0, 1)  # (r, s, f)
            out = selection.nodes[rows].view(-1, 1, 1)
            wanted = torch.where(
                out,
                noise[:, rows][:, :, columns].transpose(0, 1),
                self._x[rows][:, columns].unsqueeze(1),
            )  # (r, s, f)
            changed = (present != wanted).any(-1)  # (r, s)
            pair = changed.nonzero()
            at = (rows[pair[:, 0]].unsqueeze(1), columns)
            blocks.append(self._run_pairs(inputs, changed, pair, at, wanted))
        return torch.cat(blocks, dim=1)

    def _scores_toggling_columns(self, selection: Selection, columns: Tensor) -> Tensor:
        rows = selection.rows  # (v,)
        blocks = []
        for inputs, noise in self._inputs(selection):
            present = inputs[:, rows][:, :, columns].permute(2, 0, 1)  # (k, s, v)
            out = selection.features[columns].view(-1, 1, 1)
            wanted = torch.where(
                out,
                noise[:, rows][:, :, columns].permute(2, 0, 1),
                self._x[rows][:, columns].t().unsqueeze(1),
            )  # (k, s, v)
            changed = (present != wanted).any(-1)  # (k, s)
            pair = changed.nonzero()
            at = (rows, columns[pair[:, 0]].unsqueeze(1))
            blocks.append(self._run_pairs(inputs, changed, pair, at, wanted))
        return torch.cat(blocks, dim=1)

    def gains(self, selection: Selection) -> Gains | None:
        """Return what each element would add, from a backward pass through the model.

        Integers are passed as floats, for a model that makes floats of them first: gains only say
        what is tested, and tests are run on the features as they are. A column without a gradient
        that changes the output all the same (it is looked up in a table, say) has an infinite gain.
        """
        if not self._may_have_gradient:
            return None
        true = self._as_floats(self._x)
        total = torch.zeros_like(true)  # (n, d): what each entry would add
        is_seen = torch.zeros_like(selection.features)  # (d,): columns with a gradient
        copies = self._copies if self.copies_are_independent else 1
        for inputs, noise in self._inputs(selection):
            for start in range(0, inputs.size(0), copies):
                part = slice(start, start + copies)
                gradient = self._gradient(self._as_floats(inputs[part]))
                if gradient is None:
                    self._may_have_gradient = False
                    return None
                total += (gradient * (true - self._as_floats(noise[part]))).sum(0)
                is_seen |= (gradient != 0).flatten(0, 1).any(0)
        total /= self.samples
        nodes, features = total[:, selection.features].sum(1), total[selection.nodes].sum(0)
        unseen = self._unseen(~is_seen)  # (d,)
        features[unseen] = torch.inf
        if bool((unseen & selection.features).any()):
            nodes.fill_(torch.inf)
        return self._by_kind(nodes, features)

    def _gradient(self, x: Tensor) -> Tensor | None:
        """Return the gradient (b, n, d) of the event's log-probability, if there is one."""
        x = x.detach().requires_grad_()
        try:
            scores = self._run_copies(x, differentiable=True)
        except ModelError:
            if self._x.is_floating_point():
                raise
            return None  # it takes integers and nothing else
        if not scores.requires_grad:
            return None
        self._runs += x.size(0)
        aim = self.event.log_probability(scores).sum()
        (gradient,) = torch.autograd.grad(aim, x, allow_unused=True)
        return gradient

    @staticmethod
    def _as_floats(values: Tensor) -> Tensor:
        return values if values.is_floating_point() else values.float()

    def _unseen(self, without_gradient: Tensor) -> Tensor:
        """Return which of the columns (d,) without a gradient change the output, (d,) bool.

        Each is tried once: set to its true values in a few samples of noise.
        """
        columns = [c for c in without_gradient.nonzero().flatten().tolist() if c not in self._tried]
        if columns:
            few = torch.arange(min(_TRIED_SAMPLES, self.samples), device=self.device)
            noise = self._draws.matrices(few)  # (s, n, d)
            base = self.run(noise)  # (s, C)
            at_once = max(1, self._copies // few.numel())
            for first in range(0, len(columns), at_once):
                some = columns[first : first + at_once]
                inputs = noise.repeat(len(some), 1, 1, 1)  # (k, s, n, d)
                for place, column in enumerate(some):
                    inputs[place, :, :, column] = self._x[:, column]
                scores = self.run(inputs.flatten(0, 1)).view(len(some), *base.shape)
                moved = (scores - base).abs().amax((1, 2)) > 0  # (k,)
                self._tried.update(zip(some, moved.tolist(), strict=True))
        unseen = torch.zeros_like(without_gradient)
        unseen[[c for c in without_gradient.nonzero().flatten().tolist() if self._tried[c]]] = True
        return unseen

    def run(self, inputs: Tensor, *, differentiable: bool = False) -> Tensor:
        """Return the query's scores (b, C) on perturbed inputs (b, n, d)."""
        copies = self._copies if self.copies_are_independent else 1
        self._runs += inputs.size(0)
        return torch.cat(
            [
                self._run_copies(inputs[start : start + copies], differentiable=differentiable)
                for start in range(0, inputs.size(0), copies)
            ]
        )

    def _inputs(self, selection: Selection) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield a selection's perturbed inputs and their noise, (s, n, d), some at a time."""
        mask = selection.mask  # (n, d)
        for start in range(0, self.samples, self._samples_at_once):
            stop = min(start + self._samples_at_once, self.samples)
            noise = self._noise_of(start, stop)
            yield torch.where(mask, self._x, noise), noise

    def _noise_of(self, start: int, stop: int) -> Tensor:
        """Return the noise (s, n, d) of some samples, made once if all of it fits."""
        if self._kept_noise is not None:
            return self._kept_noise[start:stop]
        noise = self._draws.matrices(torch.arange(start, stop, device=self.device))
        if stop - start == self.samples:
            self._kept_noise = noise
        return noise

    def _run_pairs(
        self,
        inputs: Tensor,
        changed: Tensor,
        pair: Tensor,
        at: tuple[Tensor, Tensor],
        wanted: Tensor,
    ) -> Tensor:
        """Run the (candidate, sample) pairs whose input changes; the others keep the base's scores.

        Args:
            inputs: (s, n, d) of the selection without any candidate.
            changed: (k, s).
            pair: (p, 2), its non-zeros.
            at: rows and columns, broadcastable to (p, m), that a pair changes.
            wanted: (k, s, m), the values that they get.
        """
        base = self.run(inputs)  # (s, C)
        scores = base.expand(changed.size(0), -1, -1).clone()  # (k, s, C)
        for start in range(0, pair.size(0), self._copies):
            chunk = slice(start, start + self._copies)
            candidate, sample = pair[chunk].t()
            x = inputs[sample]  # (b, n, d), a copy
            row, column = (index[chunk] if index.dim() == 2 else index for index in at)
            each = torch.arange(x.size(0), device=x.device).unsqueeze(1)
            x[each, row, column] = wanted[candidate, sample]
            scores[candidate, sample] = self.run(x)
        return scores

    def _run_copies(self, inputs: Tensor, *, differentiable: bool = False) -> Tensor:
        """Return the scores (b, C) of inputs (b, n, d), run as one graph."""
        self._on_batch()
        count = inputs.size(0)
        context = self._context.expand(count, -1, -1)
        x = torch.cat([inputs, context], dim=1) if context.numel() else inputs  # (b, n + c, d)
        readout, nodes = self.graph.readout, self.graph.x.size(0)
        scores = self._predictor.scores(
            x.flatten(0, 1),
            self._edge_index_of(count),
            {**self.graph.extras.copies(count), **readout.inputs(count, nodes, self.device)},
            rows=readout.count(count, nodes),
            each=readout.each,
            differentiable=differentiable,
        )
        return readout.rows(scores, count)

    def _edge_index_of(self, copies: int) -> Tensor:
        if copies not in self._edges_of_copies:
            if len(self._edges_of_copies) > 1:  # whole batches and the rest; no more
                self._edges_of_copies.pop(next(reversed(self._edges_of_copies)))
            offset = torch.arange(copies, device=self.device) * self.graph.x.size(0)
            edges = self.graph.edge_index.unsqueeze(1) + offset.view(1, -1, 1)  # (2, b, e)
            self._edges_of_copies[copies] = edges.flatten(1)
        return self._edges_of_copies[copies]

    @cached_property
    def copies_are_independent(self) -> bool:
        """Whether copies in one batch do not influence each other; found out if it is not known."""
        if self._independent is not None:
            return self._independent
        if self._copies == 1:
            return True
        true = self._x.unsqueeze(0)
        noisy = self._draws.matrices(torch.zeros(1, dtype=torch.long, device=self.device))
        alone = torch.cat([self._run_copies(noisy), self._run_copies(true)])
        try:
            together = self._run_copies(torch.cat([noisy, true]))
            independent = self._predictor.same(together, alone)
        except ModelError:  # it takes so many nodes and no more
            independent = False
        if not independent:
            logger.warning(
                "%s: copies of the graph in one batch influence each other, so samples are run "
                "one by one",
                self.graph.asked,
            )
        return independent
