"""What is measured where edges are known: rankings of edges, sets of them, and the truth itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zorro.elements.edges import Member
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.methods.edge_removal import scores_with_edges
from zorro.methods.pyg_fidelity import pyg_fidelity
from zorro.methods.subject import Subject
from zorro.metrics import (
    UndirectedEdges,
    edge_fidelity,
    robust_fidelity_minus_acc,
    robust_fidelity_minus_prob,
    robust_fidelity_plus_acc,
    robust_fidelity_plus_prob,
    top_k,
)
from zorro.model.memory import default_budget
from zorro.model.predictor import log_probabilities
from zorro.paper.cells import NodeCell
from zorro.paper.graph_cells import GraphCell
from zorro.paper.jobs import Measured, Place, Variant
from zorro.paper.molecules import best_auroc, best_match
from zorro.paper.structure_cases import Case, Truth

PRESENCE = 0.5  # of every edge that is not kept
SAMPLES = 200  # on which sets are measured
TAU = 0.85  # of certified sets
RANKED_ON = (150, 1000)  # samples on which it is measured how far an edge moves the answer:
_RANKED = 30_000  # so many edges and samples, within these bounds
TRUTH_SAMPLES = 1000  # on which the truth is
ROBUST_SAMPLES = 50
_SEED = 1  # of chance edges, beyond that of methods


@dataclass(frozen=True)
class EdgeMethodJob:
    """How a method ranks edges, and the set of those that it ranks highest.

    Args:
        case: model, data and truth.
        variant: the method.
        nodes: the queries.
        selects_nodes: whether it selects nodes, so that its set is all edges between these; that of
            any other method is as many edges as the truth has, of those that it ranks highest.
    """

    case: Case
    variant: Variant
    nodes: tuple[int, ...]
    selects_nodes: bool = False

    @property
    def name(self) -> str:
        """Names its run."""
        return f"{self.variant.name} edges"

    @property
    def cell(self) -> NodeCell | GraphCell:
        """Model and data."""
        return self.case.cell

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {
            "method": self.variant.method,
            **self.variant.options,
            "presence": PRESENCE,
            "samples": SAMPLES,
        }

    def open(self, place: Place) -> Measured:
        """Return what measures a query."""
        subjects = self.case.subjects(place)
        context: dict[str, Any] = {
            "subjects": subjects,
            "noise": subjects.noise,
            "training_queries": self.case.training_queries(),
            "memory": default_budget(torch.device(place.device)) // place.workers,
        }
        method = self.variant.built(context)

        def measured(query: int) -> dict[str, Any]:
            subject = subjects.of(query)
            started = time.perf_counter()
            masks = method.explain(subject)
            seconds = time.perf_counter() - started
            if masks.edges is None:
                raise InputError(
                    f"method: expected one that ranks edges, got {self.variant.method!r}"
                )
            edges = UndirectedEdges.of(subject.graph.edge_index)
            truth = self.case.truth(subject, edges)
            scores = edges.total(masks.edges).cpu()  # (m,)
            kept = (
                edges_between(subject, edges, masks.nodes)
                if self.selects_nodes
                else first_edges(subject, edges, scores, truth)
            )
            return {
                "node": query,
                "on": place.hardware,
                "seconds": seconds,
                **of_ranking(subject, edges, scores, truth),
                **of_set(subject, edges, kept, truth, seed=place.seed + _SEED),
            }

        return measured


@dataclass(frozen=True)
class CertifiedJob:
    """The certified set of edges, and the order in which edges change the answer.

    Args:
        case: model, data and truth.
        nodes: the queries.
        connected: whether the edges are to hang together.
    """

    case: Case
    nodes: tuple[int, ...]
    connected: bool = False

    @property
    def name(self) -> str:
        """Names its run."""
        return "zorro connected edges" if self.connected else "zorro edges"

    @property
    def cell(self) -> NodeCell | GraphCell:
        """Model and data."""
        return self.case.cell

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {
            **self._options,
            "presence": PRESENCE,
            "samples": SAMPLES,
            "ranked on": list(RANKED_ON),
            "ranked in": ["chance", "all"],
        }

    @property
    def _options(self) -> dict[str, Any]:
        return {"keep": ["edges"], "tau": TAU, "connected": self.connected}

    def open(self, place: Place) -> Measured:
        """Return what measures a query."""
        subjects = self.case.subjects(place)
        zorro = self.case.zorro(place, **self._options, seed=place.seed)
        without = self.case.zorro(place, **self._options, seed=place.seed, edge_presence=0.0)

        def measured(query: int) -> dict[str, Any]:
            subject = subjects.of(query)
            edges = UndirectedEdges.of(subject.graph.edge_index)
            truth = self.case.truth(subject, edges)
            ids = torch.cat([subject.graph.candidates, subject.graph.context])
            ends = ids[edges.ends].sort(1).values.cpu()  # (m, 2)
            started = time.perf_counter()
            found = zorro.explain(query)
            seconds = time.perf_counter() - started
            ranking: dict[str, Any] = {}
            if not self.connected:  # which ranks edges as without
                moved = movement(zorro, without, query, samples=ranked_on(edges.count))
                ranking["ranking seconds"] = time.perf_counter() - started - seconds
                scores = torch.tensor([moved[u, v] for u, v in ends.tolist()])
                ranking.update(of_ranking(subject, edges, scores, truth))
            kept = torch.tensor([(u, v) in found.edges for u, v in ends.tolist()])
            return {
                "node": query,
                "on": place.hardware,
                "seconds": seconds,
                "certified": found.certified,
                "empty": not found.edges,
                "evaluator": found.evaluator,
                **ranking,
                **of_set(subject, edges, kept, truth, seed=place.seed + _SEED),
            }

        return measured


@dataclass(frozen=True)
class TruthJob:
    """The truth as a set of edges, beside nothing at all.

    Args:
        case: model, data and truth.
        nodes: the queries.
    """

    case: Case
    nodes: tuple[int, ...]
    name = "truth edges"

    @property
    def cell(self) -> NodeCell | GraphCell:
        """Model and data."""
        return self.case.cell

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {"presence": PRESENCE, "samples": TRUTH_SAMPLES}

    def open(self, place: Place) -> Measured:
        """Return what measures a query."""
        subjects = self.case.subjects(place)

        def measured(query: int) -> dict[str, Any]:
            subject = subjects.of(query)
            edges = UndirectedEdges.of(subject.graph.edge_index)
            truth = self.case.truth(subject, edges)
            kept = truth.own[0]  # of several rings the first
            options = {"seed": place.seed + _SEED, "samples": TRUTH_SAMPLES}
            nothing = edge_fidelity(
                scores_with_edges(subject, edges),
                torch.zeros_like(kept),
                presence=PRESENCE,
                **options,
            )
            return {
                "node": query,
                "on": place.hardware,
                "chance": nothing,
                "edges": edges.count,
                "candidates": int(between_candidates(subject, edges).sum()),
                **of_set(subject, edges, kept, truth, **options),
            }

        return measured


def ranked_on(edges: int) -> int:
    """Return the samples on which it is measured how far each of some edges moves the answer."""
    least, most = RANKED_ON
    return max(least, min(most, _RANKED // edges))


def movement(by_chance: Zorro, without: Zorro, query: int, *, samples: int) -> dict[Member, float]:
    """Return how far the answer moves with each edge, in two worlds added up.

    Those in which all other edges are there by chance, and in which all others are there.

    Args:
        by_chance: an edge that is not kept is there with the probability `PRESENCE`.
        without: one that is not kept is gone, so that a single sample tells what it was worth.
        query: which prediction.
        samples: of chance.
    """
    alone = by_chance.importance(query, samples=samples, beside="nothing").moved("edges")
    last = without.importance(query, samples=1, beside="everything").moved("edges")
    gone = 1 - PRESENCE  # the share of samples in which an edge makes a difference by chance
    return {edge: moved + gone * last[edge] for edge, moved in alone.items()}


def between_candidates(subject: Subject, edges: UndirectedEdges) -> Tensor:
    """Return the edges (m,) that are ranked: those between nodes that the model looks at.

    Edges to the context around them only tell degrees.
    """
    return (edges.ends < subject.candidates).all(1).cpu()


def of_ranking(
    subject: Subject, edges: UndirectedEdges, scores: Tensor, truth: Truth
) -> dict[str, Any]:
    """Return how well scores (m,) tell the edges of the query's motif, and of any, from others."""
    ranked = between_candidates(subject, edges)
    return {
        name: best_auroc(scores[ranked], _telling(truths[:, ranked]))
        for name, truths in (("auroc", truth.own), ("auroc any motif", truth.any))
    }


def of_set(
    subject: Subject,
    edges: UndirectedEdges,
    kept: Tensor,
    truth: Truth,
    *,
    seed: int,
    samples: int = SAMPLES,
) -> dict[str, Any]:
    """Return what is measured of a set of edges (m,), all by plain loops.

    Args:
        subject: the prediction.
        edges: of its computational graph.
        kept: (m,) bool, the set.
        truth: what it should be.
        seed: of chance edges.
        samples: on which the fidelity is measured.
    """
    ranked = between_candidates(subject, edges)
    scores = scores_with_edges(subject, edges)
    draws = {"samples": ROBUST_SAMPLES, "seed": seed}

    def logs(there: Tensor) -> Tensor:
        return log_probabilities(scores(there))

    plus, minus = pyg_fidelity(subject, edges.columns(kept.to(edges.of_column.device)))
    return {
        "chosen": int(kept.sum()),
        **best_match(kept[ranked], _telling(truth.own[:, ranked])),
        "fidelity": edge_fidelity(scores, kept, presence=PRESENCE, samples=samples, seed=seed),
        "robust plus": robust_fidelity_plus_prob(logs, kept, return_type="log_probs", **draws),
        "robust minus": robust_fidelity_minus_prob(logs, kept, return_type="log_probs", **draws),
        "robust plus class": robust_fidelity_plus_acc(scores, kept, **draws),
        "robust minus class": robust_fidelity_minus_acc(scores, kept, **draws),
        "pyg plus": plus,
        "pyg minus": minus,
    }


def first_edges(subject: Subject, edges: UndirectedEdges, scores: Tensor, truth: Truth) -> Tensor:
    """Return as many edges as the truth has, of those with the highest scores (m,), (m,) bool."""
    ranked = between_candidates(subject, edges)
    chosen = torch.zeros(edges.count, dtype=torch.bool)
    chosen[ranked] = top_k(scores[ranked], k=max(1, int(truth.own[0, ranked].sum())))
    return chosen


def edges_between(subject: Subject, edges: UndirectedEdges, nodes: Tensor | None) -> Tensor:
    """Return the edges (m,) whose ends are both among selected candidates (n,)."""
    assert nodes is not None, "a method that selects nodes"
    selected = torch.zeros(subject.graph.x.size(0), dtype=torch.bool)
    selected[: subject.candidates] = nodes.bool().cpu()
    return selected[edges.ends.cpu()].all(1)


def _telling(truths: Tensor) -> Tensor:
    """Return the truths (t, m) that are some of the edges and not all."""
    return truths[truths.any(1) & ~truths.all(1)]
