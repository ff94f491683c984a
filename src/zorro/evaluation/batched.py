"""Perturbed evaluation of any model, as batches of disjoint copies of the small graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.cut.perturbed import Perturbed
from zorro.cut.usable import not_deterministic
from zorro.elements import EDGES, Kind, Selection, Space, drops_edges, redraws_features
from zorro.evaluation.evaluator import Evaluator, Gains, do_nothing
from zorro.evaluation.toggles import Pairs, Toggle, attributes_at, presence_at, values_at
from zorro.model.failures import RepeatedFailure, try_twice
from zorro.model.message_masks import passes_messages
from zorro.model.model_state import holds_inference_tensors
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.noise.edges import EdgeDraws, EdgesOfSamples
from zorro.noise.of_edges import AnyEdgeDraws
from zorro.question.event import Event, Predicts

logger = logging.getLogger(__name__)

DEFAULT_MEMORY = 1 << 30  # bytes
# On a CPU larger batches only leave the caches; measured on Cora, 30–100 MB is fastest.
_CPU_BATCH = 1 << 26
_TRIED_SAMPLES = 3  # on which a column without a gradient is tried
# Samples that are run together to see whether each comes out as if it were alone: at least so many
# where their edges differ, and more where that is cheap, for what they share may matter in few.
_UNLIKE = 3
_MOST_UNLIKE = 128
_NUMBERS_ALONE = 1 << 22
_MOST_COPIES = 1 << 10  # in a batch, however small they are: that many have been looked at together


@dataclass
class Copies:
    """Whether copies of a query's graph in one batch do not influence each other.

    Args:
        independent: None as long as it is not known.
    """

    independent: bool | None = None


@dataclass(frozen=True)
class _Perturbed:
    """Some samples under a selection."""

    samples: slice
    inputs: Tensor  # (s, n, d)
    noise: Tensor  # (s, n, d)
    edges: EdgesOfSamples | None

    def edges_of(self, some: slice) -> EdgesOfSamples | None:
        return None if self.edges is None else self.edges.part(some)


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
        edges: the noise of its edges, where they can be kept.
        memory: bytes that inputs and messages of one batch may take, roughly.
        event: what counts as a hit; that the prediction stays when None.
        space: what can be kept; nodes and features when None.
        copies: what is known of copies in one batch, shared by a query's evaluators.
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
        edges: AnyEdgeDraws | None = None,
        memory: int = DEFAULT_MEMORY,
        event: Event | None = None,
        space: Space | None = None,
        copies: Copies | None = None,
        on_batch: Callable[[], None] = do_nothing,
        reason: str = "",
    ) -> None:
        self.graph = graph
        self.space = space or Space(*self.shape, device=graph.x.device)
        self.reason = reason
        self.event = event or Predicts(graph.predicted_class)
        self.samples = draws.shape[0]
        self._runs = 0
        self._known = Copies() if copies is None else copies
        self._predictor = predictor
        self._draws = draws
        self.edges = edges
        self._memory = memory
        self._on_batch = on_batch
        self._x = graph.candidate_x  # (n, d)
        self._context = graph.x[graph.candidates.numel() :]  # (c, d)
        # Inputs are copied about twice on their way. Messages take some hundred bytes an edge, or,
        # where a model sends the features as they are, all of these and their sums.
        columns, a_row = graph.edge_index.size(1), graph.x.size(1) * graph.x.element_size()
        inputs = 3 * graph.x.size(0) * a_row
        usual = inputs + 512 * (columns + graph.x.size(0))
        self._bytes_per_copy = max(usual, inputs + 2 * columns * a_row)
        self._copies = max(1, min(_MOST_COPIES, memory // 2 // self._bytes_per_copy))
        if graph.x.device.type == "cpu":
            self._copies = max(1, min(self._copies, _CPU_BATCH // usual))
        noise_bytes = 2 * self._x.numel() * self._x.element_size()
        self._samples_at_once = max(1, min(self.samples, memory // 2 // max(1, noise_bytes)))
        self._edges_of_copies: dict[int, Tensor] = {}
        self._kept_noise: Tensor | None = None
        self._tried: dict[int, bool] = {}  # columns without a gradient: whether they matter
        self._may_have_gradient = not holds_inference_tensors(predictor.model)
        self._may_scale_messages = self._may_have_gradient and passes_messages(predictor.model)

    @property
    def evaluations(self) -> int:
        """Perturbed inputs run so far."""
        return self._runs + self._evaluations_on_few

    @property
    def cost_per_sample(self) -> float:
        """What a further sample costs."""
        of_edges = 0.0 if self.edges is None else self.edges.cost_per_sample
        return self._draws.cost_per_sample + of_edges

    @property
    def least_memory(self) -> int:
        """What a run of one copy takes, and its noise as much again."""
        return 2 * self._bytes_per_copy

    def only(self, samples: Tensor) -> BatchedEvaluator:
        """Return an evaluator on some of the samples (q,), ascending."""
        edges = None if self.edges is None else self.edges.only(samples)
        return self._on(self._draws.only(samples), edges)

    def joined(self, others: Sequence[Evaluator]) -> BatchedEvaluator:
        """Return an evaluator on these samples and those of others of the same kind."""
        every = [self, *(other for other in others if isinstance(other, BatchedEvaluator))]
        edges = None
        if self.edges is not None:
            others_edges = [one.edges for one in every[1:] if one.edges is not None]
            edges = self.edges.joined(others_edges)
        return self._on(self._draws.joined([one._draws for one in every[1:]]), edges)

    def _on(self, draws: Draws, edges: AnyEdgeDraws | None) -> BatchedEvaluator:
        """Return an evaluator of the same query on other draws of noise."""
        return BatchedEvaluator(
            self._predictor,
            self.graph,
            draws,
            edges=edges,
            memory=self._memory,
            event=self.event,
            space=self.space,
            copies=self._known,
            on_batch=self._on_batch,
            reason=self.reason,
        )

    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""
        return torch.cat([self.run(part.inputs, part.edges) for part in self._perturbed(selection)])

    def inputs(self, selection: Selection) -> Tensor:
        """Return the perturbed inputs (S, n, d) of a selection."""
        return torch.cat([part.inputs for part in self._perturbed(selection)])

    def edges_under(self, selection: Selection) -> EdgesOfSamples | None:
        """Return which edges the samples have under a selection, where they may differ."""
        return None if self.edges is None else self.edges.under(selection)

    def _scores_toggling_rows(self, selection: Selection, rows: Tensor) -> Tensor:
        columns = selection.columns  # (f,)
        blocks = []
        for part in self._perturbed(selection):
            inputs, noise = part.inputs, part.noise
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
            blocks.append(self._run_pairs(part, changed, pair, values_at(at, wanted)))
        return torch.cat(blocks, dim=1)

    def _scores_toggling_columns(self, selection: Selection, columns: Tensor) -> Tensor:
        rows = selection.rows  # (v,)
        blocks = []
        for part in self._perturbed(selection):
            inputs, noise = part.inputs, part.noise
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
            blocks.append(self._run_pairs(part, changed, pair, values_at(at, wanted)))
        return torch.cat(blocks, dim=1)

    def _scores_toggling_edges(self, selection: Selection, edges: Tensor) -> Tensor:
        assert self.edges is not None
        if not isinstance(self.edges, EdgeDraws):
            return self._scores_of_each(selection, EDGES, edges)
        wanted = self.edges.toggled(selection, edges)  # (k, S)
        blocks = []
        for part in self._perturbed(selection):
            assert part.edges is not None
            here = wanted[:, part.samples]  # (k, s)
            changed = part.edges.present[:, edges].t() != here
            blocks.append(
                self._run_pairs(part, changed, changed.nonzero(), presence_at(edges, here))
            )
        return torch.cat(blocks, dim=1)

    def _scores_toggling_edge_attributes(self, selection: Selection, edges: Tensor) -> Tensor:
        blocks = []
        for part in self._perturbed(selection):
            assert part.edges is not None
            changed = part.edges.present[:, edges].t()  # (k, s): no others are seen
            toggle = attributes_at(edges, selection.edge_attributes[edges])
            blocks.append(self._run_pairs(part, changed, changed.nonzero(), toggle))
        return torch.cat(blocks, dim=1)

    def gains(self, selection: Selection) -> Gains | None:
        """Return what each element would add, from backward passes through the model.

        Integers are passed as floats, for a model that makes floats of them first: gains only say
        what is tested, and tests are run on the features as they are. A column without a gradient
        that changes the output all the same (it is looked up in a table, say) has an infinite gain,
        and so have edges where the model's messages cannot be scaled, and their attributes.
        """
        found: dict[Kind, Tensor] = {
            kind: torch.full((size,), torch.inf, device=self.device)
            for kind, size in self.space.sizes.items()
        }
        if redraws_features(found):
            of_features = self._gains_of_features(selection)
            if of_features is None:
                return None
            found.update(of_features)
        if drops_edges(found):
            found.update(self.space.by_kind_of_edges(self._gains_of_edges(selection)))
        return found

    def _gains_of_features(self, selection: Selection) -> Gains | None:
        if not self._may_have_gradient:
            return None
        true = self._as_floats(self._x)
        total = torch.zeros_like(true)  # (n, d): what each entry would add
        is_seen = torch.zeros_like(selection.features)  # (d,): columns with a gradient
        for part in self._perturbed(selection):
            for some in self._batches(part.inputs.size(0)):
                inputs = self._as_floats(part.inputs[some])
                gradient = self._gradient(inputs, part.edges_of(some))
                if gradient is None:
                    self._may_have_gradient = False
                    return None
                total += (gradient * (true - self._as_floats(part.noise[some]))).sum(0)
                is_seen |= (gradient != 0).flatten(0, 1).any(0)
        total /= self.samples
        nodes, features = total[:, selection.features].sum(1), total[selection.nodes].sum(0)
        unseen = self._unseen(~is_seen)  # (d,)
        features[unseen] = torch.inf
        nodes[self.space.rows_with(unseen & selection.features)] = torch.inf
        return self.space.by_kind(nodes, features)

    def _gains_of_edges(self, selection: Selection) -> Tensor:
        """Return the gains (m,) of edges, to first order in how strong their messages are.

        All edges are there then, those that a sample lacks with a strength of 0: degrees are not
        quite what they would be, which is good enough to rank by.
        """
        assert self.edges is not None
        unknown = torch.full((self.edges.edges.count,), torch.inf, device=self.device)
        if not self._may_scale_messages:
            return unknown
        if not isinstance(self.edges, EdgeDraws):  # that keeping an edge leaves others alone
            return self._strengths_in_truth
        total = torch.zeros_like(unknown)
        columns = self.edges.edges.of_column
        for part in self._perturbed(selection):
            assert part.edges is not None
            absent = ~self.edges.present[part.samples]  # (s, m), unless they are kept
            for some in self._batches(part.inputs.size(0)):
                gradient = self._message_gradient(
                    self._as_floats(part.inputs[some]), part.edges.present[some][:, columns]
                )  # (b, e)
                if gradient is None:
                    self._may_scale_messages = False
                    return unknown
                by_edge = torch.zeros_like(absent[some], dtype=gradient.dtype)
                by_edge.index_add_(1, columns, gradient)  # (b, m)
                total += (by_edge * absent[some]).sum(0)
        return total / self.samples

    @cached_property
    def _strengths_in_truth(self) -> Tensor:
        """How much stronger messages along each edge (m,) would add where all is true."""
        assert self.edges is not None
        unknown = torch.full((self.edges.edges.count,), torch.inf, device=self.device)
        columns = self.edges.edges.of_column
        every = torch.ones_like(columns, dtype=torch.bool).unsqueeze(0)  # (1, e)
        gradient = self._message_gradient(self._as_floats(self._x).unsqueeze(0), every)
        if gradient is None:
            return unknown
        return torch.zeros_like(unknown).index_add_(0, columns, gradient[0].to(unknown.dtype))

    def _message_gradient(self, x: Tensor, present: Tensor) -> Tensor | None:
        """Return the gradient (b, e) for the strength of each edge's messages, if there is one."""
        mask = present.to(x.dtype).flatten().requires_grad_()
        gradient = self._gradient_for(
            mask, lambda: self._run_copies(x, strengths=mask, differentiable=True)
        )
        return None if gradient is None else gradient.view_as(present)

    def _gradient(self, x: Tensor, edges: EdgesOfSamples | None) -> Tensor | None:
        """Return the gradient (b, n, d) of the event's log-probability, if there is one."""
        x = x.detach().requires_grad_()
        return self._gradient_for(x, lambda: self._run_copies(x, edges, differentiable=True))

    def _gradient_for(self, given: Tensor, run: Callable[[], Tensor]) -> Tensor | None:
        """Return the gradient of the event's log-probability, None where the model has none.

        It may fail with a gradient alone: layers that take integers, that send messages along some
        of the edges, type by type, that leave torch, or that have no backward pass of this kind.
        A model that fails without a gradient too says so when it is run without one.

        Args:
            given: for what.
            run: gives the scores (b, C).
        """

        def gradient() -> Tensor | None:
            scores = run()
            if not scores.requires_grad:
                return None
            self._runs += scores.size(0)
            aim = self.event.log_probability(scores).sum()
            return self._predictor.gradients(aim, [given])[0]

        try:
            return try_twice(gradient)
        except RepeatedFailure as failure:
            logger.info("%s: ranked without gradients, since %s", self.graph.asked, failure)
            return None

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

    def run(self, inputs: Tensor, edges: EdgesOfSamples | None = None) -> Tensor:
        """Return the query's scores (b, C) on perturbed inputs (b, n, d).

        Args:
            inputs: the candidates' features.
            edges: which edges there are, where that may differ.
        """
        self._runs += inputs.size(0)
        return torch.cat(
            [
                self._run_copies(inputs[some], None if edges is None else edges.part(some))
                for some in self._batches(inputs.size(0))
            ]
        )

    def differentiable(self, inputs: Tensor) -> Tensor:
        """Return the query's scores (b, C) on inputs (b, n, d), with a gradient if there is one."""
        self._runs += inputs.size(0)
        parts = [
            self._run_copies(inputs[some], differentiable=True)
            for some in self._batches(inputs.size(0))
        ]
        return torch.cat(parts)

    def _batches(self, count: int) -> Iterator[slice]:
        """Yield so many inputs in parts that run together."""
        copies = self._copies if self.copies_are_independent else 1
        for start in range(0, count, copies):
            yield slice(start, min(start + copies, count))

    def _perturbed(self, selection: Selection) -> Iterator[_Perturbed]:
        """Yield the perturbed inputs of a selection, some samples at a time."""
        mask = selection.mask  # (n, d)
        edges = self.edges_under(selection)
        for start in range(0, self.samples, self._samples_at_once):
            stop = min(start + self._samples_at_once, self.samples)
            noise = self._noise_of(start, stop)
            some = slice(start, stop)
            yield _Perturbed(
                some,
                torch.where(mask, self._x, noise),
                noise,
                None if edges is None else edges.part(some),
            )

    def _noise_of(self, start: int, stop: int) -> Tensor:
        """Return the noise (s, n, d) of some samples, made once if all of it fits."""
        if self._kept_noise is not None:
            return self._kept_noise[start:stop]
        noise = self._draws.matrices(torch.arange(start, stop, device=self.device))
        if stop - start == self.samples:
            self._kept_noise = noise
        return noise

    def _run_pairs(self, part: _Perturbed, changed: Tensor, pair: Tensor, toggle: Toggle) -> Tensor:
        """Run the (candidate, sample) pairs whose input changes; the others keep the base's scores.

        Args:
            part: samples of the selection without any candidate.
            changed: (k, s).
            pair: (p, 2), its non-zeros.
            toggle: changes the inputs of some pairs, which are copies.
        """
        base = self.run(part.inputs, part.edges)  # (s, C)
        scores = base.expand(changed.size(0), -1, -1).clone()  # (k, s, C)
        for start in range(0, pair.size(0), self._copies):
            chunk = slice(start, start + self._copies)
            candidate, sample = pair[chunk].t()
            some = Pairs(
                x=part.inputs[sample],
                edges=None if part.edges is None else part.edges.part(sample),
                chunk=chunk,
                candidate=candidate,
                sample=sample,
            )
            toggle(some)
            scores[candidate, sample] = self.run(some.x, some.edges)
        return scores

    def _run_copies(
        self,
        inputs: Tensor,
        edges: EdgesOfSamples | None = None,
        *,
        strengths: Tensor | None = None,
        differentiable: bool = False,
    ) -> Tensor:
        """Return the scores (b, C) of inputs (b, n, d), run as one graph.

        Args:
            inputs: the candidates' features.
            edges: which edges there are, where that may differ.
            strengths: (b · e,) of the messages along all edges instead.
            differentiable: whether the scores are to have a gradient.
        """
        self._on_batch()
        count = inputs.size(0)
        context = self._context.expand(count, -1, -1).to(inputs.dtype)
        x = torch.cat([inputs, context], dim=1) if context.numel() else inputs  # (b, n + c, d)
        readout, nodes = self.graph.readout, self.graph.x.size(0)
        edge_index, further, mask = self._structure_of(count, edges)
        scores = self._predictor.scores(
            x.flatten(0, 1),
            edge_index,
            {**further, **readout.inputs(count, nodes, self.device)},
            rows=readout.count(count, nodes),
            each=readout.each,
            differentiable=differentiable,
            message_mask=mask if strengths is None else strengths,
        )
        return readout.rows(scores, count)

    def _structure_of(
        self, copies: int, edges: EdgesOfSamples | None
    ) -> tuple[Tensor, dict[str, Any], Tensor | None]:
        """Return the edges of copies, further arguments, and how strong messages are."""
        edge_index, model_inputs = self._edge_index_of(copies), self.graph.model_inputs
        if edges is None or self.edges is None:
            return edge_index, model_inputs.copies(copies), None
        given = edges.structure(self.edges.edges, model_inputs.edge, self.edges.pool)
        edge_index = given.edge_index(edge_index, self.graph.x.size(0))
        return edge_index, given.further(model_inputs), given.message_mask

    def _edge_index_of(self, copies: int) -> Tensor:
        if copies not in self._edges_of_copies:
            if len(self._edges_of_copies) > 1:  # whole batches and the rest; no more
                self._edges_of_copies.pop(next(reversed(self._edges_of_copies)))
            offset = torch.arange(copies, device=self.device) * self.graph.x.size(0)
            edges = self.graph.edge_index.unsqueeze(1) + offset.view(1, -1, 1)  # (2, b, e)
            self._edges_of_copies[copies] = edges.flatten(1)
        return self._edges_of_copies[copies]

    def run_alone(self, inputs: Perturbed) -> Tensor:
        """Return the model's scores (b, C) on inputs of which each is run by itself."""
        each = [slice(copy, copy + 1) for copy in range(inputs.x.size(0))]
        parts = [self._run_copies(inputs.x[one], inputs.part(one).edges) for one in each]
        return torch.cat(parts)

    def reject(self, scores: Tensor, alone: Tensor) -> None:
        """Take note that copies in one batch influence each other."""
        if self._known.independent is False:
            raise not_deterministic(scores, alone, self.graph.asked)
        self._known.independent = False
        logger.warning(
            "%s: copies of the graph in one batch influence each other, so samples are run "
            "one by one",
            self.graph.asked,
        )

    @property
    def copies_are_independent(self) -> bool:
        """Whether copies in one batch are not seen to influence each other."""
        if self._known.independent is None and self._copies > 1:
            inputs, edges = self._unlike_copies()
            alone = self.run_alone(Perturbed(inputs, edges))
            self._known.independent = True
            # Then as many as ever run together: a model may look at how many nodes there are.
            for count in sorted({inputs.size(0), self._copies}):
                together = self._run_together(inputs, edges, count)
                expected = alone[torch.arange(count, device=self.device) % inputs.size(0)]
                if together is None or not self._predictor.same(together, expected):
                    self.reject(expected[0], expected[0])
                    break
        return self._known.independent is not False

    def _run_together(
        self, inputs: Tensor, edges: EdgesOfSamples | None, count: int
    ) -> Tensor | None:
        """Return the scores (count, C) of inputs (b, n, d) in turn, so many in one batch."""
        which = torch.arange(count, device=self.device) % inputs.size(0)
        some = None if edges is None else edges.part(which)
        try:
            return try_twice(lambda: self._run_copies(inputs[which], some))
        except RepeatedFailure:  # it takes so many nodes and no more
            return None

    def _unlike_copies(self) -> tuple[Tensor, EdgesOfSamples | None]:
        """Return inputs (b, n, d), and edges where they may differ, that are not alike.

        The true one, and samples with nothing kept: several where their features may be the same
        and edges alone tell them apart.
        """
        edges = self.edges_under(self.nothing)
        cheap = min(_MOST_UNLIKE, self._copies - 1, _NUMBERS_ALONE // self.graph.x.numel())
        few = min(self.samples, max(1 if edges is None else _UNLIKE, cheap))
        noisy = self._draws.matrices(torch.arange(few, device=self.device))
        true = self.edges_under(self.everything)
        return torch.cat([noisy, self._x.unsqueeze(0)]), EdgesOfSamples.joined(
            [part.part(slice(count)) for part, count in ((edges, few), (true, 1)) if part]
        )
