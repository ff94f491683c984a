"""The front door: explain a model's predictions, or measure the fidelity of a given set."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zorro.computational_graph import CHECKS, Check, ComputationalGraph, Extractor
from zorro.data.validation import check_graph, check_seed
from zorro.errors import InputError
from zorro.explanation import Explanation, GraphSummary, Parameters, Status, Step
from zorro.fidelity import (
    EVALUATORS,
    Evaluator,
    EvaluatorChoice,
    EvaluatorName,
    FidelityEstimate,
)
from zorro.memory import default_budget
from zorro.noise import Noise, NoiseFunction, draws_of, resolve
from zorro.predictor import Predictor, probabilities
from zorro.search.multiple import search_multiple
from zorro.search.paper import Found, search
from zorro.selection import Selection
from zorro.version import __version__


class Zorro:
    """Explains the predictions of a trained node classifier.

    >>> zorro = Zorro(model, data.x, data.edge_index, tau=0.85)    # doctest: +SKIP
    >>> zorro.explain(2521)                                        # doctest: +SKIP
    Explanation(node 2521 → class 3: 1 nodes × 10 features, fidelity 0.86 [0.83, 0.88], reached)

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`, returns class scores (N, C).
        x: (N, d) features; dense, sparse COO or sparse CSR.
        edge_index: (2, E).
        tau: the search ends when the fidelity on its samples is greater than this.
        search: `"paper"`, the greedy search of algorithm 1.
        k: elements of each kind tried per step; None tries all.
        samples: noise samples that the search sees.
        fresh_samples: further samples, unseen by the search, on which the fidelity is measured.
        confidence: of the fidelity's interval.
        noise: what refills unselected entries: a name of `zorro.noise.NOISES` or a function
            `(candidates (n, d), samples, torch.Generator) -> (samples, n, d)`.
        seed: of the noise. Results do not depend on the order in which nodes are explained.
        hops: how far away a node can matter; inferred from the model when None.
        halo: hops of context added so that the outermost candidates keep their neighbours.
        check: how to make sure that the extracted graph gives the whole graph's output; the halo
            is widened until it does. `"whole"` runs the model on the whole graph, once for all
            queries. `"local"` never does: it tests for each query that nothing beyond the
            extracted graph moves the output. `"none"` takes the cut as it is. `"auto"` is local
            for sparse features, which many models cannot take whole, and whole for dense ones.
        evaluator: `"auto"` traces the model where it can, which is much faster, and runs it where
            it cannot; `"any-model"` always runs it; `"traced"` raises where it cannot trace.
        memory: bytes that an evaluation may take; a quarter of what is free when None.
        threshold: where a one-column model separates class 0 from class 1.
        model_kwargs: further arguments of the model; node- and edge-level tensors are cut and
            repeated along with the graph.
    """

    def __init__(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        tau: float = 0.85,
        search: Literal["paper"] = "paper",
        k: int | None = 10,
        samples: int = 100,
        fresh_samples: int = 1000,
        confidence: float = 0.95,
        noise: str | Noise | NoiseFunction = "column-marginals",
        seed: int = 0,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
        threshold: float = 0.0,
        model_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        check_graph(x, edge_index, sparse=True)
        if search != "paper":
            raise InputError(f"search: expected 'paper', got {search!r}")
        if evaluator not in EVALUATORS:
            raise InputError(
                f"evaluator: expected one of {', '.join(EVALUATORS)}, got {evaluator!r}"
            )
        if check not in CHECKS:
            raise InputError(f"check: expected one of {', '.join(CHECKS)}, got {check!r}")
        if not _is_number(tau) or not 0 < tau <= 1:
            raise InputError(f"tau: expected a number above 0 and at most 1, got {tau!r}")
        if not _is_number(confidence) or not 0 < confidence < 1:
            raise InputError(f"confidence: expected a number between 0 and 1, got {confidence!r}")
        check_seed(seed)
        _at_least("samples", samples, 1)
        _at_least("fresh_samples", fresh_samples, 1)
        _at_least("halo", halo, 0)
        memory = default_budget(x.device) if memory is None else memory
        _at_least("memory", memory, 1)
        if k is not None:
            _at_least("k", k, 1)
        if hops is not None:
            _at_least("hops", hops, 0)
        if x.is_sparse:
            x = x.coalesce()  # once for all who read it
        self._noise = resolve(noise, x)
        self._predictor = Predictor(model, threshold=threshold)
        self._extractor = Extractor(
            self._predictor,
            x,
            edge_index,
            model_kwargs=model_kwargs,
            hops=hops,
            halo=halo,
            check=check,
        )
        self._memory = memory
        self._choice = EvaluatorChoice(self._predictor, wanted=evaluator, memory=memory)
        self._size = (x.size(0), x.size(1))
        self.parameters = Parameters(
            search=search,
            tau=tau,
            k=k,
            samples=samples,
            fresh_samples=fresh_samples,
            confidence=confidence,
            noise=self._noise.name,
            seed=seed,
        )

    def explain(self, node: int) -> Explanation:
        """Return one explanation of the model's prediction for `node`."""
        started = time.perf_counter()
        graph = self._extractor.extract(node)
        evaluator = self._evaluator(graph, range(self.parameters.samples))
        found = search(evaluator, tau=self.parameters.tau, k=self.parameters.k)
        return self._explanation(graph, found, evaluator, started)

    def explain_multiple(
        self, node: int, *, max_explanations: int = 10, max_depth: int = 10, distinct: bool = True
    ) -> list[Explanation]:
        """Return explanations found by the paper's recursion, the first one first.

        Each is disjoint (in nodes or in features) from those it descends from.

        Args:
            node: the query.
            max_explanations: stop after this many.
            max_depth: how many may descend from one another.
            distinct: leave out a set that another branch has found already.
        """
        _at_least("max_explanations", max_explanations, 1)
        _at_least("max_depth", max_depth, 1)
        started = time.perf_counter()
        graph = self._extractor.extract(node)
        evaluator = self._evaluator(graph, range(self.parameters.samples))
        results: dict[Any, Explanation] = {}
        every = search_multiple(
            evaluator, tau=self.parameters.tau, k=self.parameters.k, max_depth=max_depth
        )
        for found in every:
            sets = (tuple(found.selection.rows.tolist()), tuple(found.selection.columns.tolist()))
            key = sets if distinct else len(results)
            if key not in results:
                results[key] = self._explanation(graph, found, evaluator, started)
                started, evaluator.evaluations = time.perf_counter(), 0
            if len(results) == max_explanations:
                break
        return list(results.values())

    def fidelity(
        self,
        node: int,
        *,
        nodes: Iterable[int] | None = None,
        features: Iterable[int] | None = None,
        samples: int | None = None,
    ) -> FidelityEstimate:
        """Measure the RDT-fidelity of a given set of nodes and features for `node`.

        The samples are those on which `explain` measures: none that its search has seen.

        Args:
            node: the query.
            nodes: V_s, ids in the whole graph; all candidates when None. Nodes that the
                prediction cannot see make no difference.
            features: F_s; all when None.
            samples: how many; `fresh_samples` when None.
        """
        count = self.parameters.fresh_samples if samples is None else samples
        _at_least("samples", count, 1)
        graph = self._extractor.extract(node)
        selection = self._selection(graph, nodes, features)
        first = self.parameters.samples  # those before it are the search's
        return self._estimate(graph, selection, range(first, first + count))

    def _selection(
        self,
        graph: ComputationalGraph,
        nodes: Iterable[int] | None,
        features: Iterable[int] | None,
    ) -> Selection:
        num_nodes, num_features = self._size
        columns = torch.arange(num_features, device=graph.x.device)
        return Selection(
            _chosen("nodes", nodes, num_nodes, of=graph.candidates),
            _chosen("features", features, num_features, of=columns),
        )

    def _evaluator(self, graph: ComputationalGraph, samples: range) -> Evaluator:
        draws = draws_of(
            self._noise,
            graph.candidate_x,
            seed=self.parameters.seed,
            query=graph.query,
            samples=samples,
            memory=self._memory,
        )
        return self._choice.evaluator(graph, draws)

    def _estimate(
        self, graph: ComputationalGraph, selection: Selection, samples: range
    ) -> FidelityEstimate:
        hits = self._evaluator(graph, samples).hits(selection)
        return FidelityEstimate(int(hits.sum()), len(samples), self.parameters.confidence)

    def _explanation(
        self,
        graph: ComputationalGraph,
        found: Found,
        evaluator: Evaluator,
        started: float,
    ) -> Explanation:
        p = self.parameters
        ids = graph.candidates.tolist()
        fresh = range(p.samples, p.samples + p.fresh_samples)
        fidelity = self._estimate(graph, found.selection, fresh)
        return Explanation(
            node=graph.query,
            predicted_class=graph.predicted_class,
            probabilities=tuple(probabilities(graph.scores).tolist()),
            nodes=tuple(ids[row] for row in found.selection.rows.tolist()),
            features=tuple(found.selection.columns.tolist()),
            steps=tuple(
                Step(
                    None if move.row is None else ids[move.row], move.column, move.hits / p.samples
                )
                for move in found.moves
            ),
            fidelity=fidelity,
            search_fidelity=FidelityEstimate(found.hits, p.samples, p.confidence),
            status=_status(found.selection),
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
                num_nodes=self._size[0],
                num_features=self._size[1],
            ),
            evaluator=evaluator.name,
            evaluations=evaluator.evaluations,
            seconds=time.perf_counter() - started,
            version=__version__,
        )


def rdt_fidelity(
    model: nn.Module,
    x: Tensor,
    edge_index: Tensor,
    node: int,
    *,
    nodes: Iterable[int] | None = None,
    features: Iterable[int] | None = None,
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


def _status(selection: Selection) -> Status:
    if selection.is_blank:
        return "nothing needed"
    if selection.nodes.all() and selection.features.all():
        return "everything needed"
    return "reached"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at_least(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r}")


def _chosen(name: str, members: Iterable[int] | None, size: int, *, of: Tensor) -> Tensor:
    """Return which of the ids `of` are among `members`, which lie below `size`; None is all."""
    if members is None:
        return torch.ones_like(of, dtype=torch.bool)
    indices = torch.as_tensor(list(members))
    if indices.numel() > 0 and (
        indices.dtype != torch.long or indices.min() < 0 or indices.max() >= size
    ):
        raise InputError(
            f"{name}: expected whole numbers from 0 to {size - 1}, got {indices.tolist()[:10]}"
        )
    return torch.isin(of, indices.to(of))
