"""The predictions of one model on one graph, made ready to be explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from zorro.arguments import check_seed
from zorro.cut import Check, Extractor
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, features_of
from zorro.graph.graph import Graph
from zorro.graph.validation import check_graph
from zorro.methods.subject import Subject
from zorro.model.predictor import Predictor
from zorro.noise import Noise, NoiseFunction, resolve


class Subjects:
    """Cuts out the computational graph of one query after the other.

    >>> import torch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.explainers import build
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
        self.noise = resolve(noise, features)
        self._predictor = Predictor(model, threshold=threshold, num_nodes=features.shape[0])
        self._extractor = Extractor(
            self._predictor,
            Graph(features, edge_index, model_kwargs or {}),
            hops=hops,
            halo=halo,
            check=check,
            noise=self.noise,
            seed=seed,
        )
        self._seed = seed

    def of(self, node: int) -> Subject:
        """Return the model's prediction for `node`, ready to be explained."""
        return Subject(self._predictor, self._extractor.extract(node), self._seed)
