"""The predictions of one model, on one graph or for many, made ready to be explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.arguments import check_seed
from zorro.cut import Check, Extractor, WholeGraphs
from zorro.cut.source import Source
from zorro.data.graph_validation import listed_graphs
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, features_of
from zorro.graph.graph import Graph
from zorro.graph.validation import check_graph
from zorro.methods.subject import Subject
from zorro.model.predictor import Predictor
from zorro.noise import Noise, NoiseFunction, resolve
from zorro.question.reading import Classes


class Subjects:
    """Cuts out the computational graph of one query after the other; `of_graphs` takes whole ones.

    >>> import torch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.explainers import Subjects, build
    >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> subjects = Subjects(SimpleConv(), 2 * torch.eye(3), edge_index)
    >>> build("grad-input").explain(subjects.of(1)).nodes
    tensor([0.4260, 0.0000])

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`, returns class scores (N, C).
        x: (N, d).
        edge_index: (2, E).
        noise: what `evaluate` and some methods refill unselected entries with: a name of
            `zorro.noise.NOISES`, a noise or a function.
        seed: of whatever is random about a method.
        hops: how far away a node can matter; inferred from the model when None.
        halo: hops of context around the candidates.
        check: how the cut's output is compared with the whole graph's, as in `zorro.Zorro`.
        threshold: where a one-column model separates class 0 from class 1, as in `zorro.Zorro`.
        model_kwargs: further arguments of the model; node- and edge-level tensors follow.
    """

    def __init__(
        self,
        model: nn.Module,
        x: Tensor | Features,
        edge_index: Tensor | Edges,
        *,
        noise: str | Noise | NoiseFunction = "column-marginals",
        seed: int = 0,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        threshold: float | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        check_graph(x, edge_index, sparse=True)
        check_seed(seed)
        features = features_of(x)

        def source(predictor: Predictor, noise: Noise) -> Extractor:
            return Extractor(
                predictor,
                Graph(features, edge_index, model_kwargs or {}),
                hops=hops,
                halo=halo,
                check=check,
                noise=noise,
                seed=seed,
            )

        self._begin(model, features, source, noise, seed, threshold)

    @classmethod
    def of_graphs(
        cls,
        model: nn.Module,
        graphs: Sequence[Data],
        *,
        noise: str | Noise | NoiseFunction = "column-marginals",
        seed: int = 0,
        threshold: float | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
    ) -> Subjects:
        """Return a model's answers for whole graphs, as `zorro.Zorro.of_graphs` takes them.

        Args:
            model: called as `model(x, edge_index, batch=batch, **model_kwargs)`, returns class
                scores (B, C) of the graphs in a batch.
            graphs: PyG's `Data`, each with `x` (n, d) and `edge_index`: a list, a data set.
            noise: what `evaluate` and some methods refill unselected entries with, drawn from the
                nodes of all graphs: a name, a noise or a function.
            seed: of whatever is random about a method.
            threshold: where a one-column model separates class 0 from class 1.
            model_kwargs: further arguments of the model; a text names an attribute of the graphs.
        """
        listed = listed_graphs(graphs)
        check_seed(seed)
        pool = features_of(torch.cat([graph.x for graph in listed]))

        def source(predictor: Predictor, noise: Noise) -> WholeGraphs:
            return WholeGraphs(predictor, listed, model_kwargs=model_kwargs)

        subjects = cls.__new__(cls)
        subjects._begin(model, pool, source, noise, seed, threshold)
        return subjects

    def _begin(
        self,
        model: nn.Module,
        features: Features,
        source: Callable[[Predictor, Noise], Source],
        noise: str | Noise | NoiseFunction,
        seed: int,
        threshold: float | None,
    ) -> None:
        """Make ready what all queries share; noise is drawn from `features`."""
        self.noise = resolve(noise, features)
        self._predictor = Predictor(model, reading=Classes(threshold), num_nodes=features.shape[0])
        self._source = source(self._predictor, self.noise)
        self._seed = seed

    def of(self, query: int | Data) -> Subject:
        """Return the model's prediction for a node or a graph, ready to be explained.

        Args:
            query: a node's number; of `of_graphs` a graph's, or a `Data` of its own.
        """
        return Subject(self._predictor, next(self._source.cuts(query)), self._seed)
