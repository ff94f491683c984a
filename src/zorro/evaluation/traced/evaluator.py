"""Perturbed evaluation of a traced model: only what a candidate changes is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.cut.perturbed import Perturbed
from zorro.elements import (
    EDGE_ATTRIBUTES,
    Kind,
    Selection,
    redraws_features,
)
from zorro.evaluation.batched import DEFAULT_MEMORY, BatchedEvaluator
from zorro.evaluation.evaluator import Evaluator, Gains, do_nothing
from zorro.evaluation.traced.change import Change
from zorro.evaluation.traced.changed_input import ChangedInput
from zorro.evaluation.traced.entry import entries_of
from zorro.evaluation.traced.heard_entry import heard_entries_of
from zorro.evaluation.traced.heard_terms import HeardTerms
from zorro.evaluation.traced.linear_terms import LinearTerms
from zorro.evaluation.traced.looked_up import LookedUpEntry, LookedUpTerms
from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.program import Activations, Program
from zorro.evaluation.traced.seen import MOST_EDGES, SeenInputs
from zorro.evaluation.traced.tables import Known, Tables
from zorro.evaluation.traced.tabulating import tables_of
from zorro.evaluation.traced.terms import Changes, Terms, together
from zorro.evaluation.traced.unserved import in_what_they_differ
from zorro.model.failures import RepeatedFailure, try_twice
from zorro.model.model_state import undisturbed
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.noise.edges import EdgeDraws, EdgesOfSamples

# Where the two best scores are closer than this, rounding could decide: the model itself is asked.
# Relative to 1 + the largest score; on the paper's models no score was off by more than 2e-6, and
# in half precision by no more than 4 roundings.
_CLOSE = 1e-5
_CLOSE_ROUNDINGS = 16
_CLOSE_DEVIATIONS = 4  # of those seen when the program was compared with the model
_CPU_NUMBERS = 1 << 21  # of one intermediate value: what stays in the caches
_CPU_NUMBERS_WITH_EDGES = 1 << 18  # where messages are made of them, some for each
_LEAST_PAIRS = 32  # of candidates and samples, that run at once even if they do not
_NOISE_NUMBERS = 1 << 23
_KEPT_VALUES = 4  # of each state: noise alone, with a selection, what follows
_MOST_JOINED = 8  # batches that run as one where few of their rows change
_MOST_COMPARED, _NUMBERS_COMPARED = 128, 1 << 21  # samples of a claim that the model is run on
_LOOKED_UP = 16  # batches among which inputs are looked for that were run before


@dataclass(frozen=True)
class _OfNoise:
    """What noise alone gives, with nothing selected."""

    states: dict[fx.Node, Tensor]  # of each entry, (q, S, h)
    product: Tensor | None  # Z W (n, S, H), where it is kept


@dataclass(frozen=True)
class _Base:
    """What the samples give under a selection, from which candidates are computed."""

    selection: Selection
    states: dict[fx.Node, Tensor]  # of each entry, (q, S, h)
    scores: Tensor  # (S, C)
    activations: Activations
    recorded: bool
    edges: EdgesOfSamples | None = None

    def present_in(self, samples: Tensor | slice) -> Tensor | None:
        """Return which edges (b, m) some samples have, where that varies."""
        return None if self.edges is None else self.edges.present[samples]


class TracedEvaluator(Evaluator):
    """Evaluates a traced model by updating the states of its first linear maps.

    A model's first step on the features is linear: a state Σ_k A_k Y W_k + b. Adding feature f
    adds the rank-one matrices (A_k δ) ⊗ W_k[f], δ the change of column f; adding node v adds
    A_k[:, v] ⊗ (δ W_k), δ the change of row v. Or it is linear once each column was aggregated
    over neighbours: then only columns and rows that hear something else are aggregated anew. What
    follows runs for all (candidate, sample) pairs whose input changes, on the rows that the
    query's output needs.

    Outputs are the model's up to rounding. Where rounding could decide between two classes, the
    model itself is run on that input, so that hits are the any-model evaluator's.

    Args:
        predictor: the model.
        program: the traced model, cut down for this query.
        graph: the query's computational graph.
        draws: the noise of this query.
        batched: the any-model evaluator on the same noise.
        memory: bytes that an evaluation may take, roughly.
        on_batch: called before each batch; what it raises ends the evaluation.
        always_by_row: compute changed rows alone even where it is more work, for a test of it.
        searches: whether elements will be added, or one selection is to be looked at.
        known: what noise gives with nothing selected, where that has been computed.
    """

    def __init__(
        self,
        predictor: Predictor,
        program: Program,
        graph: ComputationalGraph,
        draws: Draws,
        batched: BatchedEvaluator,
        *,
        memory: int = DEFAULT_MEMORY,
        on_batch: Callable[[], None] = do_nothing,
        always_by_row: bool = False,
        searches: bool = True,
        known: _OfNoise | None = None,
    ) -> None:
        self.graph = graph
        self.name = program.name
        self.reason = batched.reason
        self.event = batched.event
        self.space = batched.space
        self._features_vary = redraws_features(self.space.kinds)
        self.samples = draws.shape[0]
        self._runs = 0
        self._predictor = predictor
        self._program = program
        self._draws = draws
        self._batched = batched
        self._memory = memory
        self._on_batch = on_batch
        self._always_by_row = always_by_row
        self._x = graph.candidate_x
        linear, weight = program.kept("linear", lambda: entries_of(program, graph))
        heard = program.kept("heard", lambda: heard_entries_of(program, graph))
        self._changed = ChangedInput(
            self._x,
            draws,
            weight,
            program.kept("true", lambda: self._x @ weight),
            memory=memory // 8,
            on_batch=on_batch,
            noise=None if known is None else known.product,
            keeps_noise=searches,
        )
        self._terms: list[Terms] = []
        of_linear = LinearTerms(linear, self._changed)
        if linear:
            self._terms.append(of_linear)
        if heard:
            self._terms.append(HeardTerms(heard, self._changed, draws, on_batch))
        looked_up = program.kept("looked up", lambda: _looked_up(program, graph))
        if looked_up:
            states = None if known is None else known.states
            self._terms.append(LookedUpTerms(looked_up, draws, states))
        self._noise_states = self._states_of_noise() if known is None else known.states
        if not heard:
            of_linear.noise_states = self._noise_states
        self._tables = self._tables_of_program()
        deviation = program.deviation + (0.0 if self._tables is None else self._tables.deviation)
        self._close = max(
            _CLOSE,
            _CLOSE_ROUNDINGS * torch.finfo(graph.x.dtype).eps,
            _CLOSE_DEVIATIONS * deviation,
        )
        width = sum(state.size(0) * state.size(2) for state in self._noise_states.values())
        numbers = memory // 32
        if not graph.x.is_cuda:
            cached = _CPU_NUMBERS_WITH_EDGES if program.edges_vary else _CPU_NUMBERS
            numbers = min(numbers, max(cached, _LEAST_PAIRS * width))
        self._pairs_at_once = max(1, numbers // max(1, width))
        least = min(state.size(0) for state in self._noise_states.values())
        self._changes_at_once = self._pairs_at_once * max(1, min(_MOST_JOINED, least))
        self._last: _Base | None = None
        self._may_have_gradient = True
        self._kept_noise: dict[int, Tensor] = {}
        # Numbers of noise, or of its change, that are made at a time: an eighth of the memory.
        self._noise_numbers = min(_NOISE_NUMBERS, max(1, memory // 8 // self._x.element_size()))
        self._most_kept = memory // 8 // max(1, self._x.numel() * self._x.element_size())

    def only(self, samples: Tensor) -> TracedEvaluator:
        """Return an evaluator on some of the samples (q,), ascending."""
        few = {node: state[:, samples] for node, state in self._noise_states.items()}
        product = self._changed.noise
        product = None if product is None else product[:, samples]
        batched = self._batched.only(samples)
        return self._on(self._draws.only(samples), batched, _OfNoise(few, product))

    def joined(self, others: Sequence[Evaluator]) -> TracedEvaluator:
        """Return an evaluator on these samples and those of others of the same kind."""
        every = [self, *(other for other in others if isinstance(other, TracedEvaluator))]
        states = {
            node: torch.cat([one._noise_states[node] for one in every], dim=1)
            for node in self._noise_states
        }
        products = [one._changed.noise for one in every if one._changed.noise is not None]
        product = torch.cat(products, dim=1) if len(products) == len(every) else None
        draws = self._draws.joined([one._draws for one in every[1:]])
        batched = self._batched.joined([one._batched for one in every[1:]])
        return self._on(draws, batched, _OfNoise(states, product))

    def _on(self, draws: Draws, batched: BatchedEvaluator, known: _OfNoise) -> TracedEvaluator:
        return TracedEvaluator(
            self._predictor,
            self._program,
            self.graph,
            draws,
            batched,
            memory=self._memory,
            on_batch=self._on_batch,
            always_by_row=self._always_by_row,
            known=known,
        )

    def _states_of_noise(self) -> dict[fx.Node, Tensor]:
        """Return each entry's states (q, S, h) with nothing selected."""
        return _summed([terms.of_noise() for terms in self._terms])

    @property
    def evaluations(self) -> int:
        """Perturbed inputs evaluated so far."""
        return self._runs + self._batched.evaluations + self._evaluations_on_few

    @property
    def reads_candidates_only(self) -> bool:
        """Whether the query's output is known to rest on no other node's features."""
        candidates = self.graph.candidates.numel()
        is_known = self._program.holds_on_other_graphs and not self._program.looks_at_all_nodes
        return is_known and all(
            bool((plan.needs < candidates).all()) for plan in self._program.entries.values()
        )

    @property
    def cost_per_sample(self) -> float:
        """What a further sample costs."""
        return self._batched.cost_per_sample

    @property
    def bytes_per_sample(self) -> int:
        """What is kept of a sample: states and what follows from them."""
        numbers = sum(state.size(0) * state.size(2) for state in self._noise_states.values())
        return _KEPT_VALUES * numbers * self._x.element_size()

    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""
        return self._base(selection).scores

    @property
    def least_memory(self) -> int:
        """What is kept of all samples, which are looked at together."""
        return self.samples * self.bytes_per_sample

    def inputs(self, selection: Selection) -> Tensor:
        """Return the perturbed inputs (S, n, d) of a selection."""
        return self._batched.inputs(selection)

    def edges_under(self, selection: Selection) -> EdgesOfSamples | None:
        """Return which edges the samples have under a selection, where they may differ."""
        return self._batched.edges_under(selection)

    def some(self, samples: range, selection: Selection) -> tuple[Perturbed, Tensor]:
        """Return some samples and their scores, which are known as a rule."""
        which = slice(samples.start, samples.stop)
        noise = self._draws.matrices(torch.arange(samples.start, samples.stop, device=self.device))
        edges = self.edges_under(selection)
        perturbed = Perturbed(
            torch.where(selection.mask, self._x, noise),
            None if edges is None else edges.part(which),
        )
        return perturbed, self.scores(selection)[which]

    def is_unlike_the_model(self, selection: Selection) -> bool:
        """Whether the model scores some of the samples in another way, as many as are cheap."""
        cheap = min(_MOST_COMPARED, _NUMBERS_COMPARED // self.graph.x.numel())
        inputs, scores = self.some(range(min(self.samples, cheap)), selection)
        again = self._batched.run(inputs.x, inputs.edges) if scores.size(0) else scores
        if self._predictor.close(scores, again):
            return False
        off = int((scores - again).abs().nan_to_num(torch.inf).amax(-1).argmax())
        self.reject(scores[off], again[off])
        return True

    def run_alone(self, inputs: Perturbed) -> Tensor:
        """Return the model's scores (b, C) on inputs of which each is run by itself."""
        return self._batched.run_alone(inputs)

    def reject(self, scores: Tensor, alone: Tensor) -> None:
        """Take note that an input with such scores (C,) had others when it was run by itself."""
        self._program.refuted = in_what_they_differ(scores, alone)

    def _scores_toggling_columns(self, selection: Selection, columns: Tensor) -> Tensor:
        base = self._base(selection, recorded=True)
        scores = base.scores.expand(columns.numel(), -1, -1).clone()  # (k, S, C)
        ran = torch.zeros_like(scores[:, :, 0], dtype=torch.bool)  # (k, S)
        at_once = max(1, self._noise_numbers // max(1, selection.rows.numel() * self.samples))
        for first in range(0, columns.numel(), at_once):
            part = slice(first, first + at_once)
            toggled = together(
                [
                    terms.toggling_features(base.states, selection, columns[part])
                    for terms in self._terms
                ]
            )
            pairs = toggled.differs.nonzero()  # (p, 2): candidate, sample
            # Of each pair a change of all selected rows is made.
            most = self._noise_numbers // max(1, selection.rows.numel())
            self._run_pairs(pairs, toggled.changes, base, scores[part], ran[part], most=most)
        return self._settled(scores, ran, selection, columns=columns)

    def _scores_toggling_rows(self, selection: Selection, rows: Tensor) -> Tensor:
        base = self._base(selection, recorded=True)
        scores = base.scores.expand(rows.numel(), -1, -1).clone()  # (k, S, C)
        ran = torch.zeros_like(scores[:, :, 0], dtype=torch.bool)  # (k, S)
        width = sum(state.size(2) for state in base.states.values())
        at_once = max(1, self._noise_numbers // max(1, width * self.samples))
        for first in range(0, rows.numel(), at_once):
            part = slice(first, first + at_once)
            toggled = together(
                [terms.toggling_nodes(base.states, selection, rows[part]) for terms in self._terms]
            )
            pairs = toggled.differs.nonzero()  # (p, 2): candidate, sample
            self._run_pairs(pairs, toggled.changes, base, scores[part], ran[part])
        return self._settled(scores, ran, selection, rows=rows)

    def _scores_toggling_edges(self, selection: Selection, edges: Tensor) -> Tensor:
        base = self._base(selection)
        assert base.edges is not None
        scores = base.scores.expand(edges.numel(), -1, -1).clone()  # (k, S, C)
        now = base.edges.present[:, edges].t()  # (k, S)
        wanted = self._edge_draws.toggled(selection, edges)  # (k, S)
        ran = now != wanted
        at_once = self._pairs_at_once * (1 if self._seen is None else _LOOKED_UP)
        for some in _chunks(ran.nonzero(), at_once):
            candidate, sample = some.t()
            present = base.edges.present[sample]  # (b, m)
            each = torch.arange(sample.numel(), device=self.device)
            present[each, edges[candidate]] = wanted[candidate, sample]
            scores[candidate, sample] = self._scores_with(present, base.states, sample)
        return self._settled(scores, ran, selection, edges=(edges, wanted))

    def _scores_with(
        self, present: Tensor, states: Mapping[fx.Node, Tensor], sample: Tensor
    ) -> Tensor:
        """Return the scores (b, C) of samples (b,) that have such edges (b, m) and states."""

        def run(places: Tensor) -> Tensor:
            parts: list[Tensor] = []
            for some in _chunks(places, self._pairs_at_once):
                tables = self._tables
                known = None if tables is None else Known(tables, present[some])
                few = {
                    node: state[:, sample[some]]
                    for node, state in states.items()
                    if tables is None or node not in tables
                }
                with self._running(some.numel()):
                    output = self._program.run(few, None, self._presence(present[some]), known)
                    parts.append(self._read(output))
            return torch.cat(parts)

        if self._seen is None:
            return run(torch.arange(sample.numel(), device=self.device))
        return self._seen.scores(self._seen.numbers_of(present), run)

    @property
    def _seen(self) -> SeenInputs | None:
        """The inputs that were run before, where only their edges tell them apart."""
        edges = self.graph.edges.count if self._program.edges_vary else MOST_EDGES + 1
        if self._features_vary or edges > MOST_EDGES:
            return None
        return self._program.kept("seen", lambda: SeenInputs(edges, self.device))

    def _tables_of_program(self) -> Tables | None:
        """Return tables of the program's first layers, where inputs differ in their edges alone."""
        if self._seen is None or self.samples == 0:
            return None

        def presence_of(present: Tensor) -> Presence:
            presence = self._presence(present)
            assert presence is not None
            return presence

        return self._program.kept(
            "tables",
            lambda: tables_of(
                self._program,
                self._predictor,
                {node: state[:, 0] for node, state in self._noise_states.items()},
                presence_of,
                self._read,
                edges=self.graph.edges.count,
                memory=self._memory // 32,
            ),
        )

    def _scores_toggling_edge_attributes(self, selection: Selection, edges: Tensor) -> Tensor:
        return self._batched.scores_toggling(selection, EDGE_ATTRIBUTES, edges)

    @property
    def _edge_draws(self) -> EdgeDraws:
        """The noise of edges; a traced model follows no other."""
        assert isinstance(self._batched.edges, EdgeDraws)
        return self._batched.edges

    def _presence(self, present: Tensor | None, *, differentiable: bool = False) -> Presence | None:
        """Return the edges of inputs (b, m) as the program takes them, if they vary."""
        if present is None:
            return None
        columns = present[:, self.graph.edges.of_column].t().to(self._x.dtype)  # (e, b)
        return Presence(columns.requires_grad_(differentiable))

    def gains(self, selection: Selection) -> Gains | None:
        """Return what each element would add, from a backward pass through the traced model."""
        base = self._base(selection, recorded=self._features_vary)  # the best are tested next
        known = None
        if self._may_have_gradient:
            try:
                known = try_twice(lambda: self._gradients(base))
            except RepeatedFailure:
                self._may_have_gradient = False
        if known is None:
            return self._batched.gains(selection)  # which tells what is to be tested
        gradients, of_edges = known  # of each entry, (q, S, h)
        found: dict[Kind, Tensor] = {}
        if self._features_vary:
            nodes, features = torch.zeros_like(self._x[:, 0]), torch.zeros_like(self._x[0])
            for terms in self._terms:
                nodes += terms.node_gains(gradients, selection)
                features += terms.feature_gains(gradients, selection)
            found.update(self.space.by_kind(nodes / self.samples, features / self.samples))
        if of_edges is not None:
            found.update(self.space.by_kind_of_edges(of_edges / self.samples))
        return found

    def _gradients(self, base: _Base) -> tuple[dict[fx.Node, Tensor], Tensor | None] | None:
        """Return the gradient of the event's log-probability for each entry's states.

        And what each edge (m,) would add to it, over the samples in which it is missing by chance.
        None where the scores have no gradient, as those of a model that gives the class alone; a
        `ModelError` where its backward pass fails.
        """
        parts: list[tuple[Tensor, ...]] = []
        total: Tensor | None = None
        for some in self._some_samples():
            few = {node: state[:, some] for node, state in base.states.items()}
            if self._features_vary:
                few = {node: state.detach().requires_grad_() for node, state in few.items()}
            watched = list(few.values()) if self._features_vary else []
            self._on_batch()
            self._runs += some.stop - some.start
            with undisturbed(self._predictor.model), torch.enable_grad():
                given = {node: state.clone() for node, state in few.items()}  # may be written to
                presence = self._presence(base.present_in(some), differentiable=True)
                if presence is not None:
                    watched.append(presence.columns)
                scores = self._read(self._program.run(given, presence=presence))
                if not scores.requires_grad:
                    return None
                aim = self.event.log_probability(scores).sum()
                # A model may take no notice of its edges.
                found = tuple(
                    torch.zeros_like(each) if gradient is None else gradient
                    for each, gradient in zip(
                        watched, self._predictor.gradients(aim, watched), strict=True
                    )
                )
            if self._features_vary:
                parts.append(found[: len(few)])
            if presence is not None:
                gained = self._gained_by_edges(found[-1], some)
                total = gained if total is None else total + gained
        joined = [torch.cat(gradients, dim=1) for gradients in zip(*parts, strict=True)]
        return dict(zip(base.states, joined, strict=bool(joined))), total

    def _gained_by_edges(self, gradient: Tensor, samples: slice) -> Tensor:
        """Return what edges (m,) add where they are missing by chance, of a gradient (e, b)."""
        drawn = self._edge_draws
        by_edge = gradient.new_zeros(drawn.edges.count, gradient.size(1))
        by_edge.index_add_(0, drawn.edges.of_column, gradient)
        return (by_edge * ~drawn.present[samples].t()).sum(1)

    def _run_pairs(
        self,
        pairs: Tensor,
        changes_of: Changes,
        base: _Base,
        scores: Tensor,
        ran: Tensor,
        *,
        most: int | None = None,
    ) -> None:
        """Run some pairs (p, 2) of candidates and samples, into scores (k, S, C) and ran (k, S).

        Args:
            pairs: candidates and samples.
            changes_of: what candidates (p,) change in samples (p,), for each entry.
            base: what they change.
            scores: get the pairs' scores.
            ran: gets true at the pairs.
            most: pairs whose changes may be made at a time.
        """
        at_once = self._changes_at_once if most is None else min(self._changes_at_once, most)
        for some in _chunks(pairs, max(1, at_once)):
            candidate, sample = some.t()
            changes = changes_of(candidate, sample)
            share = max(self._share_changed(change) for change in changes.values())
            step = int(self._pairs_at_once / share) + 1
            for first in range(0, some.size(0), step):
                part = slice(first, first + step)
                few = {node: change.part(part) for node, change in changes.items()}
                with self._running(sample[part].numel()):
                    output = self._program.run_changes(
                        few,
                        base.activations,
                        self._presence(base.present_in(sample[part])),
                        always_by_row=self._always_by_row,
                    )
                scores[candidate[part], sample[part]] = self._read(output)
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
        self._last = last = None  # it may be large, and so is the next one
        states = self._noise_states
        if self._features_vary and not selection.keeps_no_feature:
            states = _summed([states, *(terms.added(selection) for terms in self._terms)])
        edges = self.edges_under(selection)
        if self._seen is not None and edges is not None:
            every = torch.arange(self.samples, device=self.device)
            scores = self._scores_with(edges.present, states, every)
            return self._settled_base(selection, states, scores, Activations(), recorded, edges)
        of_parts: list[Activations] = []
        parts: list[Tensor] = []
        for some in self._some_samples():
            # Copies: a layer may write to what it is given.
            few = {node: state[:, some].clone() for node, state in states.items()}
            activations = Activations() if recorded else None
            with self._running(some.stop - some.start):
                presence = self._presence(None if edges is None else edges.present[some])
                parts.append(self._read(self._program.run(few, activations, presence)))
            of_parts.extend([] if activations is None else [activations])
        activations = Activations.joined(of_parts) if recorded else Activations()
        return self._settled_base(selection, states, torch.cat(parts), activations, recorded, edges)

    def _settled_base(
        self,
        selection: Selection,
        states: dict[fx.Node, Tensor],
        scores: Tensor,
        activations: Activations,
        recorded: bool,
        edges: EdgesOfSamples | None,
    ) -> _Base:
        """Keep what the samples give under a selection, scores (S, C) settled."""
        ran = torch.ones_like(scores[:, 0], dtype=torch.bool)
        scores = self._settled(scores.unsqueeze(0), ran.unsqueeze(0), selection)[0]
        self._last = _Base(selection, states, scores, activations, recorded, edges)
        return self._last

    def _read(self, output: Tensor) -> Tensor:
        """Return the query's scores (B, C) of a program's output (r, B, K)."""
        if output.size(0) == 1:
            return self._predictor.read(output[0])
        # Links that are compared stand side by side, input by input.
        inputs = output.size(1)
        scores = self._predictor.read(output.transpose(0, 1).flatten(0, 1))
        return self.graph.readout.rows(scores, inputs)

    def _some_samples(self) -> Iterator[slice]:
        """Yield samples that run at once."""
        for first in range(0, self.samples, self._pairs_at_once):
            yield slice(first, min(first + self._pairs_at_once, self.samples))

    @contextmanager
    def _running(self, inputs: int) -> Iterator[None]:
        self._on_batch()
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
        edges: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Replace scores that are too close to call by the model's own.

        Args:
            scores: (k, S, C) of candidates and samples.
            ran: (k, S), those that are not the selection's own.
            selection: what the candidates are added to.
            rows: (k,) the candidates, if they are nodes;
            columns: (k,) if they are features;
            edges: (k,) if they are edges, and whether they are there then, (k, S).
        """
        clear = self.event.gap(scores) > self._close * (1 + scores.abs().amax(-1))
        unsure = (ran & ~clear).nonzero()  # (u, 2): candidate, sample
        if unsure.numel() == 0:
            return scores
        base, under = selection.mask, self.edges_under(selection)  # (n, d)
        for some in _chunks(unsure, max(1, self._noise_numbers // max(1, self._x.numel()))):
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
            there = None if under is None else under.part(sample)
            if edges is not None and there is not None:
                members, wanted = edges
                there.present[each, members[candidate]] = wanted[candidate, sample]
            scores[candidate, sample] = self._batched.run(torch.where(mask, self._x, noise), there)
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


def _looked_up(program: Program, graph: ComputationalGraph) -> dict[fx.Node, LookedUpEntry]:
    """Return the program's entries that look numbers up."""
    return {
        node: LookedUpEntry.of(plan.looked_up, plan.needs, graph)
        for node, plan in program.entries.items()
        if plan.looked_up is not None
    }


def _summed(parts: Sequence[Mapping[fx.Node, Tensor]]) -> dict[fx.Node, Tensor]:
    """Return the sum of states of the same entries; none of them is written to."""
    total = dict(parts[0])
    for part in parts[1:]:
        for node, state in part.items():
            total[node] = total[node] + state if node in total else state
    return total


def _chunks(values: Tensor, size: int) -> list[Tensor]:
    return [values[start : start + size] for start in range(0, values.size(0), size)]
