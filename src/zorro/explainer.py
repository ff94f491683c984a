"""The front door: explain a model's predictions, or measure the fidelity of a given set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, SupportsIndex, TypeAlias

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from zorro.arguments import check_at_least
from zorro.cut import Check, ComputationalGraph
from zorro.cut.usable import refuse_within_rounding
from zorro.elements import KEPT, Kind
from zorro.evaluation import EvaluatorName, FidelityEstimate
from zorro.evaluation.evaluator import Evaluator
from zorro.explanation import Explanation, Importance, Parameters
from zorro.explanation.finding import find_one, find_several
from zorro.explanation.importance import Beside, importance_of
from zorro.explanation.meter import Meter
from zorro.explanation.typed import Numbers, Pairs
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.model.inference_mode import outside_inference_mode
from zorro.model.predictor import Model
from zorro.noise import Noise, NoiseFunction
from zorro.preparing.cutting import Cutting
from zorro.preparing.graphs import of_checked_graphs, of_graphs
from zorro.preparing.one_graph import of_links, of_nodes
from zorro.preparing.ready import Ready
from zorro.preparing.settings import settings_of, with_defaults
from zorro.preparing.several_types import TypedNoise, of_hetero, of_hetero_outputs
from zorro.question.decision import Comparison, Contrast, Side
from zorro.question.options import EdgeEffect, EdgeNoiseName, Search, check_parameters
from zorro.question.reading import Output
from zorro.question.readout import Readout
from zorro.search import OnStep, unwatched
from zorro.search.guarding import (
    SufficientCut,
    guarded,
    guarded_scores,
    most_guarded,
    on_a_sufficient_cut,
)
from zorro.search.inquiry import budget_of, fresh_samples

Asked: TypeAlias = SupportsIndex | tuple[SupportsIndex, SupportsIndex] | Data | HeteroData


class Zorro:
    """Explains a model's predictions: for nodes, and by `of_graphs`, `of_links` and `of_hetero`.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> zorro = Zorro(SimpleConv(), club.x, club.edge_index, tau=0.85)
    >>> found = zorro.explain(11)
    >>> found
    Explanation(node 11 → class 1: 1 nodes × 2 features, fidelity ≥ 0.97, certified)
    >>> found.nodes, found.certified, found.fidelity
    ((0,), True, FidelityEstimate(1.000 [0.982, 1.000], 200/200))

    Args:
        model: a module or a function, called as `model(x, edge_index, **model_kwargs)`, or, if it
            takes one argument, as `model(data)` with a `Data` of these; returns class scores
            (N, C), or one number per node (see `threshold`), or more than that (see `output`). Its
            weights may change between two calls of a method, not during one.
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
            the guided one, which tries all edges where at most four times as many are left; None
            tries all.
        samples: noise samples that the search sees.
        fresh_samples: held-out samples on which the fidelity is measured: neither the search nor
            the certificate has seen them. When None 200 beside a certificate, 100 if the set is
            empty; without one 1,000.
        confidence: of the fidelity's interval.
        beyond_chance: ask for a set that adds something where random inputs get the answer
            often enough: F(S) ≥ F(∅) + τ (1 − F(∅)), certified in the same way. The guided
            search's.
        max_seconds: time for one explanation, all of it; then the best so far is returned, and
            said to be that.
        max_elements: most nodes and features together.
        max_evaluations: most perturbed inputs that a search runs. Only the guided search has
            limits.
        noise: what refills unselected entries: a name of `zorro.noise.NOISES` or a function
            `(candidates (n, d), torch.Generator) -> (n, d)`, which is called once for each sample.
        seed: of the noise. Results do not depend on the order in which nodes are explained.
        hops: how far away a node can matter; inferred from the model when None.
        halo: hops of context added so that the outermost candidates keep their neighbours.
        check: how to make sure that the extracted graph gives the whole graph's output; the halo
            is widened until it does. `"whole"` runs the model on the whole graph, once for all
            queries. `"local"` never does: it tests for each query that nothing beyond the
            extracted graph moves the output. `"none"` takes the cut as it is. `"auto"` is local
            for sparse features, which many models cannot take whole, and for stored graphs, on
            which `"whole"` is refused; for dense features it is whole.
        evaluator: `"auto"` traces the model where it can, or evaluates a recording of its
            operations, both of which are much faster, and runs it where it can do neither;
            `"any-model"` always runs it; `"traced"` raises where it cannot trace.
        memory: bytes that an evaluation may take; a quarter of what is free when None. On a CPU it
            takes no more than 512 MB where it can do with less.
        threshold: where a one-column model separates class 0 from class 1: 0.0 for the logit of
            class 1, 0.5 for its probability. Class 1 lies above it, and the threshold itself is
            class 0's. Such a model is refused without it.
        label: of a model with several labels, each there or not: the column of the one that is
            explained, with its `threshold`.
        tolerance: of a model whose output is a value (regression): how far it may move and still
            be the same answer, this distance included.
        tolerance_share: the tolerance as a share of the standard deviation of the model's outputs
            over all nodes, or graphs; instead of `tolerance`.
        side: what may not happen to a value: `"both"`, that it moves by more than the tolerance;
            `"up"`, a value that is to stay up, that it falls by more; `"down"`, that it rises by
            more.
        output: of a model with several values: the column of the one that is explained. Of a model
            that returns a tuple or a dictionary, whatever is asked: what picks the scores, as
            `lambda out: out[0]` or `"logits"`.
        model_kwargs: further arguments of the model; node- and edge-level tensors are cut and
            repeated along with the graph.
        keep: what a set may be of: `"nodes"`, `"features"`, `"edges"`, `"edge_attributes"`; what is
            not selectable stays as it is.
        feature_groups: lists of columns that are one element together, such as a one-hot
            category: kept together, and redrawn together from one row.
        edge_presence: where edges are selectable, the probability with which an edge that is not
            kept is there, at least 0 and below 1; 0.5 when None. One that is not there is missing
            from `edge_index` and from all that the model gets for its edges. Attributes that are
            not kept are those of a random edge of the graph.
        edge_noise: `"presence"`, or `"rewire"`: edges that are not kept are all there, and exchange
            ends in random pairs, so that every node keeps its degree. The model runs on the whole
            graph then.
        edge_effect: `"structure"`, or `"message"`: an edge that is not there counts in degrees and
            sends nothing, as with the edge masks of PyG's explainers, for comparison with these.
        connected: ask for edges that are all joined to the query, and of a graph to one another.
        directed: whether an edge is another element than its reverse; when None, it is where some
            edge of the graph has no reverse.
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
        label: SupportsIndex | None = None,
        tolerance: float | None = None,
        tolerance_share: float | None = None,
        side: Side = "both",
        output: Output | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        keep: Sequence[Kind] = KEPT,
        feature_groups: Iterable[Iterable[SupportsIndex]] | None = None,
        edge_presence: float | None = None,
        edge_noise: EdgeNoiseName = "presence",
        edge_effect: EdgeEffect = "structure",
        connected: bool = False,
        directed: bool | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "tau": tau,
            "search": search,
            "delta": delta,
            "k": k,
            "samples": samples,
            "fresh_samples": fresh_samples,
            "confidence": confidence,
            "beyond_chance": beyond_chance,
            "max_seconds": max_seconds,
            "max_elements": max_elements,
            "max_evaluations": max_evaluations,
            "noise": noise,
            "seed": seed,
            "evaluator": evaluator,
            "memory": memory,
            "threshold": threshold,
            "label": label,
            "tolerance": tolerance,
            "tolerance_share": tolerance_share,
            "side": side,
            "output": output,
            "keep": keep,
            "feature_groups": feature_groups,
            "edge_presence": edge_presence,
            "edge_noise": edge_noise,
            "edge_effect": edge_effect,
            "connected": connected,
            "directed": directed,
        }
        self._ready = of_nodes(
            model,
            x,
            edge_index,
            cutting=Cutting(hops, halo, check),
            model_kwargs=model_kwargs,
            options=options,
        )

    @classmethod
    def _of(cls, ready: Ready) -> Zorro:
        """Return an explainer for which all that its queries share is ready."""
        zorro = cls.__new__(cls)
        zorro._ready = ready
        return zorro

    @property
    def parameters(self) -> Parameters:
        """What is asked of every query."""
        return self._ready.parameters

    @classmethod
    @outside_inference_mode
    def of_graphs(
        cls,
        model: Model,
        graphs: Sequence[Data] | Sequence[HeteroData],
        *,
        model_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Zorro:
        """Return what explains a model's answers for whole graphs.

        All nodes of a graph are candidates. Noise is drawn from the nodes of all graphs. Graphs of
        several types are explained as `of_hetero` does it.

        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torch_geometric.nn import global_add_pool
        >>> from zorro import Zorro
        >>> bond = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> atoms = torch.eye(2)
        >>> molecules = [Data(x=atoms[kinds], edge_index=bond) for kinds in ([0, 0, 1], [1, 0, 1])]
        >>> def most_frequent(x, edge_index, batch):
        ...     return global_add_pool(x, batch)
        >>> zorro = Zorro.of_graphs(most_frequent, molecules, keep=("nodes",))
        >>> zorro.explain(1)
        Explanation(graph 1 → class 1: 2 nodes, fidelity ≥ 0.97, certified)
        >>> zorro.explain(1).nodes
        (0, 2)

        Args:
            model: called as `model(x, edge_index, batch=batch, **model_kwargs)`, or, if it takes
                one argument, as `model(data)`; returns class scores (B, C) of the graphs in a
                batch, or one number each (see `threshold`). With several types it is called as
                `model(x_dict, edge_index_dict, batch_dict=batch_dict, **model_kwargs)`.
            graphs: PyG's `Data`, each with `x` (n, d) and `edge_index`, or its `HeteroData`: a
                list, a data set.
            model_kwargs: further arguments of the model; a text names an attribute of the graphs:
                `{"edge_weight": "edge_attr"}`. When None, a model of one argument gets all
                that the graphs have a row of for each node or edge.
            options: those of `Zorro`, except `hops`, `halo` and `check`.
        """
        given = _given(options)
        return cls._of(of_graphs(model, graphs, model_kwargs=model_kwargs, options=given))

    @classmethod
    def from_graphs(
        cls,
        model: Model,
        graphs: Sequence[Data],
        data_set: Sequence[Data],
        *,
        model_kwargs: Mapping[str, Any],
        options: Mapping[str, Any],
        readouts: Sequence[Readout] | None = None,
    ) -> Zorro:
        """Return what explains a model's answers for graphs that have been checked.

        Args:
            model: called as `model(x, edge_index, batch=batch, **model_kwargs)`.
            graphs: that are asked about, by their numbers.
            data_set: from whose nodes and edges noise is drawn.
            model_kwargs: further arguments of the model; a text names an attribute of the graphs.
            options: those of `Zorro` that do not depend on what is asked about.
            readouts: how each graph's answer is read off the model's; it is the whole output when
                None.
        """
        ready = of_checked_graphs(
            model,
            graphs,
            data_set,
            model_kwargs=model_kwargs,
            settings=settings_of(_given(options)),
            readouts=readouts,
        )
        return cls._of(ready)

    @classmethod
    @outside_inference_mode
    def of_links(
        cls,
        model: Model,
        x: Tensor | Features,
        edge_index: Tensor | Edges,
        *,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        model_kwargs: Mapping[str, Any] | None = None,
        carries_messages: bool = False,
        **options: Any,
    ) -> Zorro:
        """Return what explains a model's answers for links between the nodes of a graph.

        Candidates are the nodes that either end can see.

        >>> from torch_geometric.nn import SimpleConv
        >>> from zorro import Zorro
        >>> from zorro.data import karate_club
        >>> club = karate_club()
        >>> def friends_alike(x, edge_index, edge_label_index):
        ...     u, v = SimpleConv("mean")(x, edge_index)[edge_label_index]
        ...     return (u * v).sum(1)
        >>> zorro = Zorro.of_links(friends_alike, club.x, club.edge_index, threshold=0.5)
        >>> zorro.explain((14, 15)).nodes  # friends of both
        (32, 33)
        >>> zorro.explain((14, 15), why_not=(14, 11)).nodes
        (0, 33)

        Args:
            model: called as `model(x, edge_index, edge_label_index=links, **model_kwargs)`, or with
                `encode(x, edge_index)` and `decode(z, links)`; returns one number per link (see
                `threshold`), or class scores.
            x: (N, d), as of `Zorro`.
            edge_index: (2, E), the edges that carry messages.
            hops: how far away a node can matter; inferred from the model when None.
            halo: hops of context, as of `Zorro`.
            check: as of `Zorro`.
            model_kwargs: further arguments of the model; node- and edge-level tensors follow.
            carries_messages: whether a link that is asked about and is an edge of the graph stays
                one; else it is taken out, in both directions, while it is asked about.
            options: those of `Zorro`.
        """
        ready = of_links(
            model,
            x,
            edge_index,
            cutting=Cutting(hops, halo, check),
            model_kwargs=model_kwargs,
            carries_messages=carries_messages,
            options=_given(options),
        )
        return cls._of(ready)

    @classmethod
    @outside_inference_mode
    def of_hetero(
        cls,
        model: Model,
        data: HeteroData,
        target: str | tuple[str, str, str],
        *,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        model_kwargs: Mapping[str, Any] | None = None,
        carries_messages: bool = False,
        noise: TypedNoise = "column-marginals",
        feature_groups: Mapping[str, Iterable[Iterable[SupportsIndex]]] | None = None,
        **options: Any,
    ) -> Zorro:
        """Return what explains a model's answers in a graph of several types of nodes and edges.

        Elements are the nodes, the features and the edges of all types; with `keep=("types",)` or
        `keep=("relations",)` whole types of nodes, or whole relations. Noise is drawn within a
        type. A relation and the one that leads back along the same edges are one.

        >>> import torch
        >>> from torch_geometric.data import HeteroData
        >>> from torch_geometric.nn import SimpleConv
        >>> from zorro import Zorro
        >>> data = HeteroData()
        >>> data["paper"].x = torch.eye(2).repeat(6, 1)  # twelve papers of two fields
        >>> data["author"].x = torch.ones(2, 1)
        >>> by = torch.tensor([[0, 2, 1, 3, 5], [0, 0, 1, 1, 1]])
        >>> data["paper", "by", "author"].edge_index = by
        >>> def fields_of_papers(x_dict, edge_index_dict):
        ...     both = x_dict["paper"], x_dict["author"]
        ...     return SimpleConv()(both, edge_index_dict["paper", "by", "author"])
        >>> found = Zorro.of_hetero(fields_of_papers, data, "author").explain(1)
        >>> found.nodes["paper"], found.features["paper"]
        ((1, 3), (0, 1))

        Args:
            model: called as `model(x_dict, edge_index_dict, **model_kwargs)`, or, if it takes one
                argument, as `model(data)`, or, if it has an argument `edge_type`, as
                `model(x, edge_index, edge_type=…)`; returns scores of the target's nodes, or a
                dictionary of them by type.
            data: PyG's `HeteroData`. A type without features whose nodes the model looks up by
                their numbers has these as `x`: `torch.arange(n)`. They are redrawn as numbers of
                other nodes of the type, and are no features.
            target: the type whose nodes are asked about; or (source type, relation, target type),
                and links are: `model(…, edge_label_index=links)`.
            hops: how far away a node can matter; inferred from the model when None.
            halo: hops of context, as of `Zorro`.
            check: as of `Zorro`.
            model_kwargs: further arguments; dictionaries by type or by relation follow the nodes
                and the edges.
            carries_messages: as of `of_links`.
            noise: as of `Zorro`, or by type.
            feature_groups: lists of columns that are one element together, by type.
            options: those of `Zorro`.
        """
        ready = of_hetero(
            model,
            data,
            target,
            cutting=Cutting(hops, halo, check),
            model_kwargs=model_kwargs or {},
            carries_messages=carries_messages,
            noise=noise,
            feature_groups=feature_groups,
            options=_given(options),
        )
        return cls._of(ready)

    @classmethod
    def from_outputs(
        cls,
        model: Model,
        data: HeteroData,
        outputs: int,
        *,
        model_kwargs: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Zorro:
        """Return what explains each row of a model's output for one graph of several types.

        All nodes are candidates, and noise is drawn from them.

        Args:
            model: called as `model(x_dict, edge_index_dict, **model_kwargs)`.
            data: PyG's `HeteroData`.
            outputs: how many rows there are, by which they are asked about.
            model_kwargs: further arguments; dictionaries by type or by relation follow.
            options: those of `Zorro` that do not depend on what is asked about.
        """
        given = _given(options)
        return cls._of(
            of_hetero_outputs(model, data, outputs, model_kwargs=model_kwargs, options=given)
        )

    def with_settings(
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
        return self._of(dataclasses.replace(self._ready, parameters=p))

    @outside_inference_mode
    def explain(
        self,
        node: Asked,
        *,
        why_not: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        contrast: Contrast = "beats",
        among: Iterable[SupportsIndex] | None = None,
        top: int = 1,
        on_step: OnStep = unwatched,
    ) -> Explanation:
        """Return one explanation of the model's answer for a node, a link, or a graph of several.

        Args:
            node: the query: a node's number; of `of_graphs` a graph's, or a `Data`, which need not
                be one of the graphs; of `of_links` a pair of nodes.
            why_not: explain why it is the predicted class and not this one; of a link (u, v), why
                it scores higher than another one, (u, w).
            contrast: in what sense. `"beats"`: what makes the model prefer the predicted class to
                the other, whatever it thinks of third ones; `"not"`: what keeps it from
                predicting the other.
            among: of a link (u, v): nodes w; explain why it stays ahead of the links (u, w).
            top: among how many of the first a link is to stay, where `among` is given; 1 when it is
                to stay the first.
            on_step: told of each step of the search; what it raises ends the search.
        """
        budget = budget_of(self.parameters)
        comparison = Comparison(why_not, contrast, among, top)
        source = self._ready.source
        return on_a_sufficient_cut(
            source,
            source.question(node, comparison),
            lambda graph: find_one(self._ready, graph, comparison, budget, on_step),
        )

    @outside_inference_mode
    def explain_multiple(
        self,
        node: Asked,
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
        results = on_a_sufficient_cut(
            self._ready.source,
            node,
            partial(
                find_several,
                self._ready,
                max_explanations=max_explanations,
                max_depth=max_depth,
                distinct=distinct,
            ),
        )
        if alternatives is None:
            return results
        results.sort(key=lambda e: (e.entropy, len(e.nodes)))
        return results[:alternatives]

    @outside_inference_mode
    def fidelity(
        self,
        node: Asked,
        *,
        nodes: Numbers | None = None,
        features: Numbers | None = None,
        edges: Pairs | None = None,
        edge_attributes: Iterable[Sequence[SupportsIndex]] | None = None,
        types: Iterable[str] | None = None,
        relations: Iterable[tuple[str, str, str]] | None = None,
        samples: int | None = None,
        why_not: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        contrast: Contrast = "beats",
        among: Iterable[SupportsIndex] | None = None,
        top: int = 1,
    ) -> FidelityEstimate:
        """Measure the RDT-fidelity of a given set for `node`.

        The samples are those on which `explain` measures: none that its search has seen.

        >>> from torch_geometric.nn import SimpleConv
        >>> from zorro import Zorro
        >>> from zorro.data import karate_club
        >>> club = karate_club()
        >>> zorro = Zorro(SimpleConv(), club.x, club.edge_index)
        >>> zorro.fidelity(12, nodes=[0, 3])  # both of its friends
        FidelityEstimate(1.000 [0.996, 1.000], 1000/1000)
        >>> zorro.fidelity(12, nodes=[0])
        FidelityEstimate(0.728 [0.699, 0.755], 728/1000)
        >>> zorro.fidelity(12, nodes=[0, 3], features=[1])
        FidelityEstimate(0.851 [0.827, 0.873], 851/1000)

        Args:
            node: the query.
            nodes: V_s, ids in the whole graph; all candidates when None. Nodes that the
                prediction cannot see make no difference.
            features: F_s; all when None.
            edges: pairs of nodes, where edges are selectable; all when None. Of several between
                the same nodes (u, v, k) is one, and (u, v) all of them. Edges that the prediction
                cannot see make no difference.
            edge_attributes: edges that keep their attributes, where attributes are selectable; all
                when None.
            types: of nodes that are kept, where types are selectable; all when None. With several
                types nodes and features are given by type, `{"paper": [3]}`, edges by relation.
            relations: whose edges are kept, where relations are selectable; all when None.
            samples: how many; `fresh_samples` when None.
            why_not: measure how often the answer stays preferred to this class, or this link, as
                `explain` does; how often the prediction stays when None.
            contrast: in what sense a class is preferred, where `why_not` is given, as of `explain`.
            among: of a link (u, v): nodes w; measure how often it stays ahead of the links (u, w).
            top: among how many of the first a link is to stay, where `among` is given.
        """
        meter = self.meter(
            node, samples=samples, why_not=why_not, contrast=contrast, among=among, top=top
        )
        return meter.fidelity(
            nodes=nodes,
            features=features,
            edges=edges,
            edge_attributes=edge_attributes,
            types=types,
            relations=relations,
        )

    @outside_inference_mode
    def meter(
        self,
        node: Asked,
        *,
        samples: int | None = None,
        why_not: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        contrast: Contrast = "beats",
        among: Iterable[SupportsIndex] | None = None,
        top: int = 1,
    ) -> Meter:
        """Return what measures one set after the other for `node`, as `fidelity` measures one.

        Args:
            node: the query.
            samples: how many; `fresh_samples` when None.
            why_not: measure how often the answer stays preferred to this class, or this link, as
                `explain` does; how often the prediction stays when None.
            contrast: in what sense a class is preferred, where `why_not` is given, as of `explain`.
            among: of a link (u, v): nodes w; measure how often it stays ahead of the links (u, w).
            top: among how many of the first a link is to stay, where `among` is given.
        """
        source, first = self._ready.source, self.parameters.samples
        count = self.fresh_samples if samples is None else samples
        check_at_least("samples", count, 1)
        comparison = Comparison(why_not, contrast, among, top)
        cut = SufficientCut(source, source.question(node, comparison))
        cut.answered(partial(self._guard_with_nothing_kept, comparison))
        fresh = range(first, first + count)  # those before it are the search's
        return Meter(
            cut,
            partial(self._evaluator, comparison, fresh),
            partial(guarded_scores, source),
            confidence=self.parameters.confidence,
            edges_between=source.edges_between,
        )

    @outside_inference_mode
    def importance(
        self,
        node: SupportsIndex | Data,
        explanation: Explanation | None = None,
        *,
        samples: int | None = None,
        beside: Beside = "everything",
    ) -> Importance:
        """Return how much each element matters to a set, the one that matters most first.

        What is lost when a kept element is redrawn too, what is gained when another one is added,
        on samples that the search has not seen.

        >>> from torch_geometric.nn import SimpleConv
        >>> from zorro import Zorro
        >>> from zorro.data import karate_club
        >>> club = karate_club()
        >>> zorro = Zorro(SimpleConv(), club.x, club.edge_index)
        >>> importance = zorro.importance(11, zorro.explain(11))
        >>> importance.of("nodes")
        {0: 0.778, 11: 0.0}

        Args:
            node: the query.
            explanation: of the query, by this explainer, whose set it is.
            samples: how many; `fresh_samples` when None.
            beside: what is kept where there is no explanation: `"everything"`, and each element is
                redrawn alone, or `"nothing"`, and each is kept alone.
        """
        versus = None if explanation is None else explanation.versus
        against = {} if versus is None else dataclasses.asdict(versus)
        meter = self.meter(
            node,
            samples=samples,
            why_not=against.get("other"),
            contrast=against.get("contrast", "beats"),
        )
        return importance_of(meter.evaluator, explanation, beside=beside)

    @property
    def fresh_samples(self) -> int:
        """On how many samples fidelity is measured where no certificate has measured it."""
        return fresh_samples(self.parameters)

    def _evaluator(
        self,
        comparison: Comparison,
        samples: range,
        graph: ComputationalGraph,
        *,
        searches: bool = True,
    ) -> Evaluator:
        event = self._ready.source.decision(graph, comparison).event(graph.scores, graph.asked)
        refuse_within_rounding(event, graph.scores, graph.asked)
        return self._ready.bench.evaluator(graph, event, samples, searches=searches)

    def _guard_with_nothing_kept(self, comparison: Comparison, graph: ComputationalGraph) -> None:
        samples = range(most_guarded(graph))
        evaluator = self._evaluator(comparison, samples, graph, searches=False)
        guarded(self._ready.source, graph, evaluator, evaluator.nothing)


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

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import rdt_fidelity
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> rdt_fidelity(SimpleConv(), club.x, club.edge_index, 11, nodes=[0])  # its only friend
    FidelityEstimate(1.000 [0.996, 1.000], 1000/1000)
    >>> rdt_fidelity(SimpleConv(), club.x, club.edge_index, 11, nodes=[])  # all is noise
    FidelityEstimate(0.222 [0.197, 0.249], 222/1000)

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


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of `Zorro` that do not depend on what is asked about, by their names."""
    return with_defaults(options, Zorro.__init__)
