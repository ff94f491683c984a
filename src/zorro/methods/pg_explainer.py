"""PGExplainer: one network for all predictions that says which edges matter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer
from torch_geometric.explain import PGExplainer as PygPGExplainer
from torch_geometric.utils import k_hop_subgraph

from zorro.errors import InputError
from zorro.methods.masks import Masks
from zorro.methods.pyg_algorithm import (
    LogProbabilities,
    PygAlgorithm,
    model_config,
    predicted_classes,
)
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.methods.subjects import Subjects
from zorro.model.failures import backward_passes
from zorro.model.model_state import undisturbed
from zorro.model.randomness import seeded
from zorro.model.receptive_field import flow_of, hops_of


@method("pgexplainer")
class PGExplainer:
    """PyG's PGExplainer (Luo et al., 2020), trained once for a model.

    A small network maps the last layer's embeddings of an edge's ends, and of the query if it is a
    node, to the edge's importance. It is trained on some predictions, each on its computational
    graph, and then applied to any other. The node mask is derived from the edges; features are not
    ranked.

    >>> from zorro.data import karate_club
    >>> from zorro.explainers import PGExplainer, Subjects
    >>> from zorro.models import build
    >>> club = karate_club()
    >>> model = build("gcn", 4, 4, seed=0)
    >>> subjects = Subjects(model, club.x, club.edge_index)
    >>> trained = PGExplainer(subjects, training_queries=[0, 33], epochs=3)
    >>> masks = trained.explain(subjects.of(12))
    >>> masks.edges.numel() == subjects.of(12).graph.edge_index.size(1), masks.features
    (True, None)

    Args:
        subjects: the model's predictions, to be trained on.
        training_queries: on which of them: numbers of nodes, or of graphs.
        epochs: passes over these.
        lr: learning rate.
        seed: of the training.
        coefficients: of PyG's algorithm (`edge_size`, `temp`, …).
    """

    def __init__(
        self,
        subjects: Subjects,
        training_queries: Iterable[int],
        *,
        epochs: int = 30,
        lr: float = 0.003,
        seed: int = 0,
        **coefficients: Any,
    ) -> None:
        training = [subjects.of(int(query)) for query in training_queries]
        if not training:
            raise InputError("training_queries: expected at least one, got none")
        with seeded(seed, training[0].graph.x.device):
            self._algorithm = _WithinReach(epochs=epochs, lr=lr, **coefficients)
            _train(self._algorithm, training)
        self._method = PygAlgorithm(
            self._algorithm, explanation_type="phenomenon", edge_mask_type="object"
        )

    def explain(self, subject: Subject) -> Masks:
        """Return what the trained network says about the query's edges."""
        return self._method.explain(subject)


class _WithinReach(PygPGExplainer):  # type: ignore[misc]  # PyG ships no types
    """PyG's algorithm with coefficients of its own and with every edge that the model reaches.

    PyG writes coefficients into the class, for all later instances, and counts one hop a layer,
    which is too few for layers such as APPNP's.
    """

    def __init__(self, epochs: int, lr: float, **coefficients: Any) -> None:
        self.coeffs = dict(PygPGExplainer.coeffs)
        super().__init__(epochs, lr, **coefficients)

    @staticmethod
    def _get_hard_masks(
        model: nn.Module, node_index: int | Tensor | None, edge_index: Tensor, num_nodes: int
    ) -> tuple[Tensor | None, Tensor | None]:
        if node_index is None:
            return None, None
        nodes, _, _, edges = k_hop_subgraph(
            node_index,
            num_hops=hops_of(model),
            edge_index=edge_index,
            num_nodes=num_nodes,
            flow=flow_of(model),
        )
        reached = torch.zeros(num_nodes, dtype=torch.bool, device=edge_index.device)
        reached[nodes] = True
        return reached, edges


def _train(algorithm: _WithinReach, training: list[Subject]) -> None:
    """Train the network on some predictions, one step a prediction and epoch."""
    model = LogProbabilities(training[0])
    device = training[0].graph.x.device
    algorithm.to(device)
    # Connects the algorithm to the configuration.
    Explainer(
        model,
        algorithm,
        explanation_type="phenomenon",
        edge_mask_type="object",
        model_config=model_config(training[0]),
    )
    targets = [predicted_classes(subject) for subject in training]
    with undisturbed(model), backward_passes():
        for epoch in range(algorithm.epochs):
            for subject, target in zip(training, targets, strict=True):
                algorithm.train(
                    epoch,
                    model,
                    subject.graph.x,
                    subject.graph.edge_index,
                    target=target,
                    index=subject.query_row,
                    **subject.graph.further_inputs,
                )
