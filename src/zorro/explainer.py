"""The front door: explain a model's predictions, or measure the fidelity of a given set."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any, SupportsIndex, TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.arguments import check_at_least, check_choice, whole_number
from zorro.cut import CHECKS, Check, ComputationalGraph, Extractor, WholeGraphs
from zorro.cut.source import Source
from zorro.data.graph_validation import listed_graphs
from zorro.elements import FEATURES, KINDS, NODES, Kind, Selection, Space
from zorro.elements.groups import group_of_each, propose_groups
from zorro.errors import InputError, ModelError
from zorro.evaluation import EVALUATORS, EvaluatorChoice, EvaluatorName, FidelityEstimate
from zorro.evaluation.evaluator import Evaluator, do_nothing
from zorro.explanation import Explanation, GraphSummary, Parameters, Status, Step, Versus
from zorro.explanation.meter import Meter
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, features_of
from zorro.graph.validation import check_graph
from zorro.model.agreement import close
from zorro.model.inference_mode import ordinary, outside_inference_mode
from zorro.model.memory import default_budget
from zorro.model.predictor import Model, Predictor, probabilities
from zorro.noise import Noise, NoiseFunction, draws_of, resolve
from zorro.noise.streams import BLOCK
from zorro.question.event import CONTRASTS, Contrast, Event, event_of
from zorro.question.options import Search, check_parameters
from zorro.question.parameters import parameters_of
from zorro.search import (
    Budget,
    BudgetSpent,
    Certified,
    Laboratory,
    Move,
    OnStep,
    search,
    search_beyond_chance,
    search_certified,
    search_multiple,
    unwatched,
)
from zorro.version import __version__

logger = logging.getLogger(__name__)

T = TypeVar("T")
_GUARDED = 2  # samples that are evaluated again where all else is redrawn too
_DOUBTFUL = 8  # where it is not clear that nothing else matters
_LARGE = 1 << 20  # numbers of a cut on which one is enough, if it is known what is read
_FRESH = 1000  # samples on which fidelity is measured where nobody says, and no certificate has
_SMALL = 1 << 18  # entries of the candidates' features: all of a search's samples are drawn at once
_FEWEST = 8  # measured even if there is no time
_OF_ONE_GRAPH = ("hops", "halo", "check", "model_kwargs")  # options that graphs have no use for


class _MoreMattersError(Exception):
    """Nodes matter that are no candidates."""


class Zorro:
    """Explains the predictions of a trained node classifier.

    >>> zorro = Zorro(model, data.x, data.edge_index, tau=0.85)    # doctest: +SKIP
    >>> zorro.explain(2521)                                        # doctest: +SKIP
    Explanation(node 2521 → class 3: 2 nodes × 10 features, fidelity 0.91 [0.89, 0.93], certified)

    Args:
        model: a module or a function, called as `model(x, edge_index, **model_kwargs)`; returns
            class scores (N, C), or one number per node (see `threshold`). Its weights may change
            between two calls of a method, not during one.
        x: (N, d) features; dense, sparse COO or sparse CSR, or those of a stored graph. Integers
            (categories) and truth values are refilled with the column's own values.
        edge_index: (2, E), or the edges of a stored graph.
        tau: the fidelity that the explanation is to have.
        search: `"guided"` ranks by first-order gains, tests the best exactly, prunes, and
            certifies; `"paper"` is the greedy search of algorithm 1, which ends when the fidelity
            on its samples is greater than τ.
        delta: the probability with which a certified fidelity may be below τ after all; None
            certifies nothing, and the guided search too ends on its own samples. The paper's
            search never certifies.
        k: elements tried per step: of each kind in the paper's search, of both kinds together in
            the guided one; None tries all.
        samples: noise samples that the search sees.
        fresh_samples: further samples, unseen by the search, on which the fidelity is measured.
            When None it is told from the certificate's own samples, which are unseen too and as
            many as the proof took; without a certificate from 1,000.
        confidence: of the fidelity's interval.
        beyond_chance: ask for a set that adds something where random inputs get the answer
            often enough: F(S) ≥ F(∅) + τ (1 − F(∅)), certified in the same way. The guided
            search's.
        max_seconds: time for one explanation, all of it; then the best so far is returned, and
            said to be that.
        max_elements: most nodes and features together.
        max_evaluations: most perturbed inputs that a search runs. These limits are the guided
            search's.
        noise: what refills unselected entries: a name of `zorro.noise.NOISES` or a function
            `(candidates (n, d), samples, torch.Generator) -> (samples, n, d)`.
        seed: of the noise. Results do not depend on the order in which nodes are explained.
        hops: how far away a node can matter; inferred from the model when None.
        halo: hops of context added so that the outermost candidates keep their neighbours.
        check: how to make sure that the extracted graph gives the whole graph's output; the halo
            is widened until it does. `"whole"` runs the model on the whole graph, once for all
            queries. `"local"` never does: it tests for each query that nothing beyond the
            extracted graph moves the output. `"none"` takes the cut as it is. `"auto"` is local
            for sparse features, which many models cannot take whole, and for stored graphs, on
            which `"whole"` is refused; for dense features it is whole.
        evaluator: `"auto"` traces the model where it can, which is much faster, and runs it where
            it cannot; `"any-model"` always runs it; `"traced"` raises where it cannot trace.
        memory: bytes that an evaluation may take; a quarter of what is free when None.
        threshold: where a one-column model separates class 0 from class 1: 0.0 for the logit of
            class 1, 0.5 for its probability. Such a model is refused without it.
        model_kwargs: further arguments of the model; node- and edge-level tensors are cut and
            repeated along with the graph.
        keep: what a set may be of, `("nodes", "features")` or one of them; what is not selectable
            stays as it is.
        feature_groups: lists of columns that are one element together, such as a one-hot
            category: kept together, and redrawn together from one row.
    """

    @outside_inference_mode
    def __init__(
        self,
        model: Model,
        x: Tensor | Features,
        edge_index: Tensor | Edges,
        *,
        tau: float = 0.85,
        search: Search = "guided",
        delta: float | None = 0.05,
        k: int | None = 10,
        samples: int = 100,
        fresh_samples: int | None = None,
        confidence: float = 0.95,
        beyond_chance: bool = False,
        max_seconds: float | None = None,
        max_elements: int | None = None,
        max_evaluations: int | None = None,
        noise: str | Noise | NoiseFunction = "column-marginals",
        seed: int = 0,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
        threshold: float | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        keep: Sequence[Kind] = KINDS,
        feature_groups: Iterable[Iterable[SupportsIndex]] | None = None,
    ) -> None:
        check_graph(x, edge_index, sparse=True, integers=True)
        check_choice("check", check, CHECKS)
        check_at_least("halo", halo, 0)
        if hops is not None:
            check_at_least("hops", hops, 0)
        features, edge_index = features_of(ordinary(x)), ordinary(edge_index)
        asked = parameters_of(locals())

        def source(predictor: Predictor, noise: Noise) -> Extractor:
            return Extractor(
                predictor,
                features,
                edge_index,
                model_kwargs=model_kwargs,
                hops=hops,
                halo=halo,
                check=check,
                noise=noise,
                seed=seed,
            )

        self._begin(model, features, source, asked, noise, evaluator, memory, threshold)

    @classmethod
    @outside_inference_mode
    def of_graphs(
        cls,
        model: Model,
        graphs: Sequence[Data],
        *,
        model_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Zorro:
        """Return what explains a model's answers for whole graphs.

        All nodes of a graph are candidates. Noise is drawn from the nodes of all graphs.

        >>> zorro = Zorro.of_graphs(model, dataset, keep=("nodes",))    # doctest: +SKIP
        >>> zorro.explain(5)                                            # doctest: +SKIP

        Args:
            model: called as `model(x, edge_index, batch=batch, **model_kwargs)`; returns class
                scores (B, C) of the graphs in a batch, or one number each (see `threshold`).
            graphs: PyG's `Data`, each with `x` (n, d) and `edge_index`: a list, a data set.
            model_kwargs: further arguments of the model; a text names an attribute of the graphs:
                `{"edge_weight": "edge_attr"}`.
            options: those of `Zorro`, except `hops`, `halo` and `check`.
        """
        listed = listed_graphs(graphs)
        known = {
            name: parameter.default
            for name, parameter in signature(cls.__init__).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in _OF_ONE_GRAPH
        }
        for name in options:
            if name not in known:
                raise InputError(
                    f"{name}: expected an option of Zorro for graphs ({', '.join(known)})"
                )
        given = {**known, **options}
        pool = features_of(torch.cat([graph.x for graph in listed]))
        if isinstance(given["noise"], str) and given["feature_groups"] is None:
            propose_groups(pool.in_memory, given["noise"])

        def source(predictor: Predictor, noise: Noise) -> WholeGraphs:
            return WholeGraphs(predictor, listed, model_kwargs=model_kwargs)

        zorro = cls.__new__(cls)
        zorro._begin(
            model,
            pool,
            source,
            parameters_of(given),
            given["noise"],
            given["evaluator"],
            given["memory"],
            given["threshold"],
        )
        return zorro

    def _begin(
        self,
        model: Model,
        features: Features,
        source: Callable[[Predictor, Noise], Source],
        asked: Parameters,
        noise: str | Noise | NoiseFunction,
        evaluator: EvaluatorName,
        memory: int | None,
        threshold: float | None,
    ) -> None:
        """Make ready what all queries share.

        Args:
            model: that is explained.
            features: from which noise is drawn.
            source: gives the queries' computational graphs.
            asked: what is asked of every query.
            noise: its name, an object or a function.
            evaluator: by which name.
            memory: bytes that an evaluation may take.
            threshold: of a model with one column.
        """
        check_parameters(asked)
        check_choice("evaluator", evaluator, EVALUATORS)
        memory = default_budget(features.device) if memory is None else memory
        check_at_least("memory", memory, 1)
        self._groups: Tensor | None = None
        if asked.feature_groups:
            self._groups = group_of_each(asked.feature_groups, features.shape[1])
            self._groups = self._groups.to(features.device)
        self._noise = resolve(noise, features, groups=self._groups)
        self.parameters = dataclasses.replace(
            asked,
            noise=self._noise.name,
            delta=asked.delta if asked.search == "guided" else None,
            keep=tuple(kind for kind in KINDS if kind in asked.keep),
        )
        self._predictor = Predictor(model, threshold=threshold, num_nodes=features.shape[0])
        self._source = source(self._predictor, self._noise)
        self._features_shape = features.shape
        self._memory = memory
        self._choice = EvaluatorChoice(self._predictor, wanted=evaluator, memory=memory)

    def asking(
        self,
        *,
        tau: float | None = None,
        max_seconds: float | None = None,
    ) -> Zorro:
        """Return an explainer of the same model and graph that asks for something else.

        It costs nothing to make; what this one has prepared is shared.

        Args:
            tau: the fidelity that explanations are to have; as it is when None.
            max_seconds: time for one search; as it is when None.
        """
        given = {"tau": tau, "max_seconds": max_seconds}
        changes: dict[str, Any] = {name: it for name, it in given.items() if it is not None}
        p = dataclasses.replace(self.parameters, **changes)
        check_parameters(p)
        other = copy.copy(self)
        other.parameters = p
        return other

    @outside_inference_mode
    def explain(
        self,
        node: SupportsIndex | Data,
        *,
        why_not: SupportsIndex | None = None,
        contrast: Contrast = "beats",
        on_step: OnStep = unwatched,
    ) -> Explanation:
        """Return one explanation of the model's prediction for a node, or for a graph of several.

        Args:
            node: the query: a node's number; of `of_graphs` a graph's, or a `Data`, which need not
                be one of the graphs.
            why_not: explain why it is the predicted class and not this one.
            contrast: in what sense. `"beats"`: what makes the model prefer the predicted class to
                the other, whatever it thinks of third ones; `"not"`: what keeps it from
                predicting the other.
            on_step: told of each step of the search; what it raises ends the search.
        """
        budget = self._budget()

        def on(graph: ComputationalGraph) -> Explanation:
            versus = _versus(graph, why_not, contrast)
            laboratory = self._laboratory(graph, versus, budget)
            result = self._search(laboratory, budget, None, on_step)
            with budget.unheeded():
                guarded = self._guarded(graph, laboratory, result.found.selection)
            return self._explanation(guarded, versus, result, laboratory, budget)

        return self._on_a_sufficient_cut(node, on)

    @outside_inference_mode
    def explain_multiple(
        self,
        node: SupportsIndex | Data,
        *,
        max_explanations: int = 10,
        max_depth: int = 10,
        distinct: bool = True,
        alternatives: int | None = None,
    ) -> list[Explanation]:
        """Return several explanations, found by the paper's recursion, the first one first.

        Each is disjoint (in nodes or in features) from those it descends from; those of the
        guided search are from all others too, and each has a certificate of its own.

        Args:
            node: the query.
            max_explanations: stop after this many.
            max_depth: how many may descend from one another.
            distinct: leave out a set that another branch has found already.
            alternatives: return only this many of those found, the smallest ones, smallest first.
        """
        check_at_least("max_explanations", max_explanations, 1)
        check_at_least("max_depth", max_depth, 1)
        if alternatives is not None:
            check_at_least("alternatives", alternatives, 1)
        results = self._on_a_sufficient_cut(
            node, lambda graph: self._several(graph, max_explanations, max_depth, distinct)
        )
        if alternatives is None:
            return results
        results.sort(key=lambda e: (e.node_entropy + e.feature_entropy, len(e.nodes)))
        return results[:alternatives]

    def _several(
        self, graph: ComputationalGraph, max_explanations: int, max_depth: int, distinct: bool
    ) -> list[Explanation]:
        """Return several explanations found on one cut."""
        whole = budget = self._budget()
        laboratory = self._laboratory(graph, None, whole)
        results: list[Explanation] = []
        selections: list[Selection] = []

        def find(allowed: Selection) -> Certified:
            return self._search(laboratory, budget, allowed)

        every = search_multiple(
            laboratory.seen(range(self.parameters.samples)),
            find,
            tau=self.parameters.tau,
            max_depth=max_depth,
        )
        with contextlib.suppress(BudgetSpent):
            for result in every:
                selection = result.found.selection
                if not any(self._repeats(selection, other, distinct) for other in selections):
                    selections.append(selection)
                    with whole.unheeded(), budget.unheeded():
                        guarded = self._guarded(graph, laboratory, selection)
                    results.append(self._explanation(guarded, None, result, laboratory, budget))
                    budget = dataclasses.replace(budget, started=time.perf_counter())
                    laboratory.restart()
                if len(results) == max_explanations or whole.is_spent(laboratory.evaluations):
                    break
        return results

    def _on_a_sufficient_cut(
        self, asked: SupportsIndex | Data, explain: Callable[[ComputationalGraph], T]
    ) -> T:
        """Return what `explain` gives on the first cut that turns out to hold all that matters."""
        for graph in self._source.cuts(asked):
            try:
                return explain(graph)
            except _MoreMattersError as told:
                logger.info("%s: %s", graph.asked, told)
        raise ModelError(
            f"the model's output at node {asked} is another on the whole graph than on any part of "
            "it, even with all nodes for candidates: it depends on more than x and edge_index"
        )

    def _guarded(
        self, graph: ComputationalGraph, laboratory: Laboratory, selection: Selection
    ) -> ComputationalGraph:
        """Evaluate some of the samples that the claim rests on where all else is redrawn too.

        Raises `_MoreMattersError` unless the same comes out. Where there can be no more candidates
        than the user wants, the graph that is returned tells that its context matters.
        """
        if graph.checked == "none" or graph.context_matters or graph.holds_all:
            return graph
        if self._agrees(graph, laboratory, selection):
            return graph
        if self._source.can_widen:
            raise _MoreMattersError(
                f"more than {graph.candidates.numel()} candidates matter, so there are more now"
            )
        return dataclasses.replace(graph, context_matters=True)

    def _agrees(
        self, graph: ComputationalGraph, laboratory: Laboratory, selection: Selection
    ) -> bool:
        """Whether some samples that were evaluated last give the same with all else redrawn."""
        evaluator = laboratory.last
        is_doubtful = self._source.reach.doubtful
        is_known = evaluator.reads_candidates_only and not is_doubtful
        on_the_cut = is_known and graph.x.numel() > _LARGE
        count = _DOUBTFUL if is_doubtful else 1 if on_the_cut else _GUARDED
        inputs, scores = evaluator.first(min(count, evaluator.samples), selection)  # (s, n, d)
        guarded = self._source.with_all_else_redrawn(graph, inputs, on_the_cut=on_the_cut)
        return close(guarded, scores)

    def _repeats(self, selection: Selection, other: Selection, distinct: bool) -> bool:
        """Whether a set says what another one said: in part, for the guided search."""
        if self.parameters.search == "paper":
            return distinct and selection.is_same_as(other)
        return selection.overlaps(other)

    def _search(
        self,
        laboratory: Laboratory,
        budget: Budget,
        allowed: Selection | None,
        on_step: OnStep = unwatched,
    ) -> Certified:
        p = self.parameters
        if p.search == "paper":
            evaluator = laboratory.seen(range(p.samples))
            return Certified(search(evaluator, tau=p.tau, k=p.k, allowed=allowed, on_step=on_step))
        find = partial(
            search_certified,
            laboratory,
            samples=p.samples,
            k=p.k,
            budget=budget,
            allowed=allowed,
            on_step=on_step,
        )
        if p.beyond_chance:
            return search_beyond_chance(
                laboratory, find, tau=p.tau, delta=p.delta, confidence=p.confidence
            )
        return find(tau=p.tau, delta=p.delta)

    def _budget(self) -> Budget:
        p = self.parameters
        return Budget(p.max_seconds, p.max_elements, p.max_evaluations)

    @outside_inference_mode
    def fidelity(
        self,
        node: SupportsIndex | Data,
        *,
        nodes: Iterable[SupportsIndex] | None = None,
        features: Iterable[SupportsIndex] | None = None,
        samples: int | None = None,
        why_not: SupportsIndex | None = None,
        contrast: Contrast = "beats",
    ) -> FidelityEstimate:
        """Measure the RDT-fidelity of a given set of nodes and features for `node`.

        The samples are those on which `explain` measures: none that its search has seen.

        Args:
            node: the query.
            nodes: V_s, ids in the whole graph; all candidates when None. Nodes that the
                prediction cannot see make no difference.
            features: F_s; all when None.
            samples: how many; `fresh_samples` when None.
            why_not: measure against this class, as `explain` does, and
            contrast: in what sense.
        """
        meter = self.meter(node, samples=samples, why_not=why_not, contrast=contrast)
        return meter.fidelity(nodes=nodes, features=features)

    @outside_inference_mode
    def meter(
        self,
        node: SupportsIndex | Data,
        *,
        samples: int | None = None,
        why_not: SupportsIndex | None = None,
        contrast: Contrast = "beats",
    ) -> Meter:
        """Return what measures one set after the other for `node`, as `fidelity` measures one.

        Args:
            node: the query.
            samples: how many; `fresh_samples` when None.
            why_not: measure against this class, as `explain` does, and
            contrast: in what sense.
        """
        count = self.fresh_samples if samples is None else samples
        check_at_least("samples", count, 1)
        graph = self._on_a_sufficient_cut(node, self._guarded_with_nothing_kept)
        versus = _versus(graph, why_not, contrast)
        first = self.parameters.samples  # those before it are the search's
        fresh = range(first, first + count)
        return Meter(
            graph,
            lambda: self._evaluator(graph, versus, fresh),
            num_nodes=self._whole_size(graph)[0],
            confidence=self.parameters.confidence,
        )

    @property
    def fresh_samples(self) -> int:
        """On how many samples fidelity is measured where no certificate has measured it."""
        given = self.parameters.fresh_samples
        return _FRESH if given is None else given

    def _guarded_with_nothing_kept(self, graph: ComputationalGraph) -> ComputationalGraph:
        laboratory = self._laboratory(graph, None, Budget())
        evaluator = laboratory.fixed(range(_DOUBTFUL))
        return self._guarded(graph, laboratory, evaluator.nothing)

    def _laboratory(
        self, graph: ComputationalGraph, versus: Versus | None, budget: Budget
    ) -> Laboratory:
        def evaluate(samples: range, searches: bool, limited: bool) -> Evaluator:
            return self._evaluator(
                graph,
                versus,
                samples,
                searches=searches,
                on_batch=budget.on_batch if limited else do_nothing,
            )

        samples = self.parameters.samples
        return Laboratory(
            evaluate,
            first=samples + self.fresh_samples,
            memory=self._memory // 4,
            step=samples if graph.candidate_x.numel() <= _SMALL else BLOCK,
        )

    def _evaluator(
        self,
        graph: ComputationalGraph,
        versus: Versus | None,
        samples: range,
        *,
        searches: bool = True,
        on_batch: Callable[[], None] = do_nothing,
    ) -> Evaluator:
        on_batch()
        draws = draws_of(
            self._noise,
            graph.candidate_x,
            seed=self.parameters.seed,
            query=graph.query,
            samples=samples,
            memory=self._memory,
        )
        event = _event(graph, versus)
        space = Space(
            graph.candidates.numel(),
            graph.x.size(1),
            kinds=self.parameters.keep,
            groups=self._groups,
            device=graph.x.device,
        )
        evaluator = self._choice.evaluator(
            graph, draws, event, space=space, on_batch=on_batch, searches=searches
        )
        if self._memory < evaluator.least_memory:
            raise InputError(
                f"memory: expected at least {evaluator.least_memory:,} bytes for "
                f"{graph.asked}, which has {graph.candidates.numel():,} candidates, got "
                f"{self._memory:,}"
            )
        return evaluator

    def _whole_size(self, graph: ComputationalGraph) -> tuple[int, int]:
        """Return how many nodes and features the graph has that the query is about."""
        nodes, features = self._features_shape
        return (nodes if graph.level == "node" else graph.x.size(0)), features

    def _fidelity(self, result: Certified, laboratory: Laboratory) -> FidelityEstimate:
        """Return the fidelity on a certificate's samples, or on fresh ones as far as there is time.

        Some are looked at even if there is none.
        """
        p, certificate = self.parameters, result.certificate
        if p.fresh_samples is None and result.is_tested and certificate is not None:
            return FidelityEstimate(
                certificate.hits, certificate.samples, p.confidence, certificate.attempts
            )
        hits = samples = 0
        with contextlib.suppress(BudgetSpent):
            for part in _parts(range(p.samples, p.samples + self.fresh_samples), p.max_seconds):
                evaluator = laboratory.fixed(part, limited=samples > 0)
                hits += int(evaluator.hits(result.found.selection).sum())
                samples += len(part)
        return FidelityEstimate(hits, samples, p.confidence)

    def _explanation(
        self,
        graph: ComputationalGraph,
        versus: Versus | None,
        result: Certified,
        laboratory: Laboratory,
        budget: Budget,
    ) -> Explanation:
        p = self.parameters
        found = result.found
        ids = graph.candidates.tolist()
        return Explanation(
            query=graph.asked,
            predicted_class=graph.predicted_class,
            probabilities=tuple(probabilities(graph.scores).tolist()),
            selected=_selected(found.selection, ids),
            steps=tuple(_step(move, found.selection.space, ids) for move in found.moves),
            fidelity=self._fidelity(result, laboratory),
            search_fidelity=FidelityEstimate(found.hits, found.samples, p.confidence),
            status=_status(result, graph),
            parameters=p,
            graph=GraphSummary(
                candidates=graph.candidates.numel(),
                context=graph.context.numel(),
                edges=graph.edge_index.size(1),
                hops=graph.hops,
                halo=graph.halo,
                checked=graph.checked,
                whole=graph.whole,
                context_matters=graph.context_matters,
                num_nodes=self._whole_size(graph)[0],
                num_features=self._whole_size(graph)[1],
                both_ways=graph.both_ways,
            ),
            evaluator=laboratory.last.name,
            evaluator_reason=laboratory.last.reason,
            evaluations=laboratory.evaluations,
            seconds=time.perf_counter() - budget.started,
            version=__version__,
            certificate=result.certificate,
            versus=versus,
            chance=result.chance,
        )


def rdt_fidelity(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    node: SupportsIndex,
    *,
    nodes: Iterable[SupportsIndex] | None = None,
    features: Iterable[SupportsIndex] | None = None,
    samples: int = 1000,
    seed: int = 0,
    **options: Any,
) -> FidelityEstimate:
    """Measure how often the prediction for `node` stays when all but a set is noise.

    F(S) = P over Z of Φ(X ⊙ M + Z ⊙ (1 − M)) = Φ(X), with M the outer product of the indicators
    of `nodes` and `features` (definition of RDT-fidelity in the paper).

    Args:
        model: called as `model(x, edge_index)`.
        x: (N, d).
        edge_index: (2, E).
        node: the query.
        nodes: ids that keep their true features; all when None.
        features: columns that are kept on those nodes; all when None.
        samples: number of noise samples.
        seed: of the noise.
        options: any further option of `Zorro` (`noise`, `hops`, `model_kwargs`, …).
    """
    zorro = Zorro(model, x, edge_index, seed=seed, **options)
    return zorro.fidelity(node, nodes=nodes, features=features, samples=samples)


def _parts(samples: range, max_seconds: float | None) -> Iterator[range]:
    """Return samples some at a time: few at first and more later, where time is limited."""
    first, size = samples.start, len(samples) if max_seconds is None else _FEWEST
    while first < samples.stop:
        yield range(first, min(first + size, samples.stop))
        first, size = first + size, 2 * size


def _selected(selection: Selection, ids: list[int]) -> dict[str, tuple[int, ...]]:
    """Return what is selected of each kind: nodes by their ids, features by their columns."""
    every: dict[str, tuple[int, ...]] = {
        NODES: tuple(ids[row] for row in selection.rows.tolist()),
        FEATURES: tuple(selection.columns.tolist()),
    }
    return {kind: every[kind] for kind in selection.space.kinds}


def _step(move: Move, space: Space, ids: list[int]) -> Step:
    if move.element is None:
        return Step(None, (), move.fidelity, move.added)
    kind, place = move.element
    columns = space.members_of_group(place).tolist() if kind == FEATURES else []
    members = (ids[place],) if kind == NODES else tuple(columns)
    return Step(kind, members, move.fidelity, move.added)


def _status(result: Certified, graph: ComputationalGraph) -> Status:
    selection = result.found.selection
    if not result.in_budget:
        return "budget exhausted"
    if graph.context_matters or (graph.checked == "none" and result.certificate is not None):
        return "conditional"
    if selection.is_blank:
        return "nothing needed"
    if selection.is_everything:
        return "everything needed"
    return "reached" if result.certificate is None else "certified"


def _versus(
    graph: ComputationalGraph, why_not: SupportsIndex | None, contrast: Contrast
) -> Versus | None:
    check_choice("contrast", contrast, CONTRASTS)
    if why_not is None:
        return None
    classes = graph.scores.numel()
    why_not = whole_number("why_not", why_not, classes, what="a class")
    if why_not == graph.predicted_class:
        raise InputError(
            f"why_not: expected another class than the prediction of {graph.asked}, which is "
            f"{why_not}"
        )
    return Versus(why_not, contrast)


def _event(graph: ComputationalGraph, versus: Versus | None) -> Event:
    if versus is None:
        return event_of(graph.predicted_class)
    return event_of(graph.predicted_class, versus.other, versus.contrast)
