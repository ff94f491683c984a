"""Fidelity of one set after the other for one prediction, on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from reprlib import repr as short
from typing import Any, SupportsIndex

import torch
from torch import Tensor

from zorro.arguments import whole_numbers
from zorro.cut import ComputationalGraph
from zorro.elements import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    NODES,
    RELATIONS,
    TYPES,
    Kind,
    Selection,
    redraws_features,
)
from zorro.elements.types import Relation
from zorro.errors import InputError
from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evaluator import Evaluator
from zorro.explanation.typed import (
    Numbers,
    Pairs,
    chosen_coarse,
    global_edges,
    global_features,
    global_nodes,
)
from zorro.model.inference_mode import outside_inference_mode
from zorro.search.guarding import SufficientCut, UnlikeTheModelError


class Meter:
    """Measures sets of nodes and features for one query.

    What costs most, to cut out the computational graph and to draw the noise, is done once, and
    sets are compared on the same noise. Where more turns out to matter beside a set than was cut
    out, more is.

    Args:
        cut: of the query.
        evaluator: gives what evaluates on a cut; asked when the first set is measured.
        scores: gives the scores (S, C) of a set, some of which were compared with those that the
            model's owner would get; raises where these differ.
        confidence: of the intervals.
        edges_between: how many edges of the whole graph lead from a node of a cut to another.
    """

    def __init__(
        self,
        cut: SufficientCut,
        evaluator: Callable[[ComputationalGraph], Evaluator],
        scores: Callable[[ComputationalGraph, Evaluator, Selection], Tensor],
        *,
        confidence: float,
        edges_between: Callable[[ComputationalGraph, int, int], int],
    ) -> None:
        self._cut = cut
        self._make_evaluator = evaluator
        self._scores_of = scores
        self._confidence = confidence
        self._all_edges_between = edges_between
        self._made: tuple[ComputationalGraph, Evaluator] | None = None

    @property
    def graph(self) -> ComputationalGraph:
        """What was cut out for the query."""
        return self._cut.graph

    @outside_inference_mode
    def fidelity(
        self,
        *,
        nodes: Numbers | None = None,
        features: Numbers | None = None,
        edges: Pairs | None = None,
        edge_attributes: Iterable[Sequence[SupportsIndex]] | None = None,
        types: Iterable[str] | None = None,
        relations: Iterable[Relation] | None = None,
    ) -> FidelityEstimate:
        """Measure the RDT-fidelity of a set.

        Args:
            nodes: V_s, ids in the whole graph or a mask (N,); all candidates when None. Nodes
                that the prediction cannot see make no difference.
            features: F_s, columns or a mask (d,); all when None.
            edges: pairs of nodes; all when None. Only where edges are selectable. Edges that the
                prediction cannot see make no difference.
            edge_attributes: edges that keep their attributes; all when None. Only where attributes
                are selectable.
            types: names of types whose nodes are kept; all when None. Where there are several
                types, nodes and features are given by type, and edges by relation.
            relations: whose edges are kept; all when None.
        """
        scores = self.scores(
            nodes=nodes,
            features=features,
            edges=edges,
            edge_attributes=edge_attributes,
            types=types,
            relations=relations,
        )
        return self.judged(scores)

    @outside_inference_mode
    def scores(self, **chosen: Any) -> Tensor:
        """Return the model's scores (S, C), sample by sample, with all but a set redrawn.

        Args:
            **chosen: the set, given as `fidelity` takes it.
        """
        kept = {kind: _readable_again(members) for kind, members in chosen.items()}
        return self._cut.answered(lambda graph: self._guarded_scores(self.selection(**kept)))

    def _guarded_scores(self, selection: Selection) -> Tensor:
        try:
            return self._scores_of(self.graph, self.evaluator, selection)
        except UnlikeTheModelError:
            self._made = None
            raise

    def judged(self, scores: Tensor) -> FidelityEstimate:
        """Return in how many of the samples the answer stays, by their scores (S, C)."""
        hits = self.evaluator.event.happens(scores)
        return FidelityEstimate(int(hits.sum()), hits.numel(), self._confidence)

    def selection(
        self,
        *,
        nodes: Numbers | None = None,
        features: Numbers | None = None,
        edges: Pairs | None = None,
        edge_attributes: Iterable[Sequence[SupportsIndex]] | None = None,
        types: Iterable[str] | None = None,
        relations: Iterable[Relation] | None = None,
    ) -> Selection:
        """Return a set as a selection, given as `fidelity` takes it."""
        graph, space = self.graph, self.evaluator.space
        kinds = space.kinds
        known = graph.types
        if known is not None:
            nodes = None if nodes is None else global_nodes("nodes", nodes, known)
            features = None if features is None else global_features("features", features, known)
            if edges is not None and EDGES in kinds:
                labels = graph.edges.labels
                edges = global_edges("edges", edges, known, labels, self._edges_between)
        named = graph.x.size(1) - (0 if space.types is None else space.types.unnamed)
        columns = torch.arange(named, device=graph.x.device)
        masks: dict[Kind, Tensor] = {
            NODES: _chosen("nodes", nodes, graph.num_nodes, of=graph.candidates),
            FEATURES: _chosen("features", features, max(1, named), of=columns),
        }
        for coarse, given in ((TYPES, types), (RELATIONS, relations)):
            if coarse in kinds and known is not None:
                names = known.names if coarse == TYPES else known.relations
                wanted = names if given is None else given
                masks[coarse] = chosen_coarse(coarse, wanted, known, graph.x.device)
            elif given is not None:
                raise InputError(
                    f"{coarse}: expected None unless keep has {coarse!r}, got {short(given)}"
                )
        if TYPES in kinds:
            if nodes is not None:
                raise InputError(f"nodes: expected None where keep has 'types', got {short(nodes)}")
            del masks[NODES]
        for kind, members in ((NODES, nodes), (FEATURES, features)):
            if members is not None and not redraws_features(kinds):
                raise InputError(
                    f"{kind}: expected None where keep has no nodes and no features, got "
                    f"{short(members)}"
                )
        for kind, pairs in ((EDGES, edges), (EDGE_ATTRIBUTES, edge_attributes)):
            if kind in kinds:
                every = torch.ones_like(graph.edges.number, dtype=torch.bool)
                if pairs is None:
                    masks[kind] = every
                else:
                    masks[kind] = graph.edges.chosen(kind, pairs, elsewhere=self._edges_between)
            elif pairs is not None:
                raise InputError(
                    f"{kind}: expected None unless keep has {kind!r}, got {short(pairs)}"
                )
        return Selection(replace(space, kinds=tuple(masks), groups=None), masks)

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates sets on the samples."""
        if self._made is None or self._made[0] is not self.graph:
            self._made = (self.graph, self._make_evaluator(self.graph))
        return self._made[1]

    def _edges_between(self, sender: int, receiver: int) -> int:
        return self._all_edges_between(self.graph, sender, receiver)


def _readable_again(members: Any) -> Any:
    """Return what may be read more than once."""
    if isinstance(members, Mapping):
        return {name: _readable_again(each) for name, each in members.items()}
    return list(members) if isinstance(members, Iterator) else members


def _chosen(name: str, members: Numbers | None, size: int, *, of: Tensor) -> Tensor:
    """Return which of the ids `of` are among `members`, which lie below `size`; None is all."""
    if members is None:
        return torch.ones_like(of, dtype=torch.bool)
    if isinstance(members, Mapping):  # its keys may be numbers, and would be taken for members
        raise InputError(
            f"{name}: expected whole numbers where there is one type, got {short(members)}"
        )
    indices = torch.tensor(whole_numbers(name, members, size), dtype=of.dtype, device=of.device)
    return torch.isin(of, indices)
