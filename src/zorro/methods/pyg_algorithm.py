"""Any algorithm of torch_geometric.explain as a method."""

from __future__ import annotations

import copy
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer

from zorro.methods.aggregation import masks_of_edges, rows_and_columns
from zorro.methods.masks import Masks
from zorro.methods.subject import Subject
from zorro.model.failures import backward_passes
from zorro.model.model_state import undisturbed
from zorro.model.predictor import Predictor, log_probabilities
from zorro.model.randomness import seeded


def model_config(subject: Subject) -> dict[str, str]:
    """Return what PyG is told about the model of `LogProbabilities`."""
    return {
        "mode": "multiclass_classification",
        "task_level": subject.graph.asked.level,
        "return_type": "log_probs",
    }


class PygAlgorithm:
    """Runs an explanation algorithm of PyG on the computational graph of a query.

    A node mask of type `attributes` is aggregated by rows and columns, one of type `object` is a
    node mask, one of type `common_attributes` a feature mask. An edge mask becomes `edges`, and
    where no node mask says more, half of each edge's value goes to either endpoint (Section 6.1).
    Signed values count by their magnitude.

    PyG writes masks and gradients onto the model that it explains, and draws from torch's global
    generator: it gets a copy of the model, and the generator is put back.

    >>> from torch_geometric.explain import GNNExplainer
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import PygAlgorithm, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)
    >>> method = PygAlgorithm(GNNExplainer(epochs=50), node_mask_type="attributes")
    >>> method.explain(subject).nodes.shape
    torch.Size([3])

    Args:
        algorithm: an `ExplainerAlgorithm`, used for one query after the other.
        explanation_type: `"phenomenon"` for algorithms that explain nothing else; it is the
            predicted class that is explained either way.
        node_mask_type: `"attributes"`, `"object"`, `"common_attributes"` or None.
        edge_mask_type: `"object"` or None.
    """

    def __init__(
        self,
        algorithm: Any,
        *,
        explanation_type: Literal["model", "phenomenon"] = "model",
        node_mask_type: str | None = None,
        edge_mask_type: str | None = None,
    ) -> None:
        self._algorithm = algorithm
        self._explanation_type = explanation_type
        self._mask_types = {"node_mask_type": node_mask_type, "edge_mask_type": edge_mask_type}

    def explain(self, subject: Subject) -> Masks:
        """Return the algorithm's masks."""
        graph = subject.graph
        model = LogProbabilities(subject)
        explainer = Explainer(
            model,
            self._algorithm,
            explanation_type=self._explanation_type,
            model_config=model_config(subject),
            **self._mask_types,
        )
        is_phenomenon = self._explanation_type == "phenomenon"
        target = predicted_classes(subject) if is_phenomenon else None
        random = seeded(subject.generator().initial_seed(), graph.x.device)
        with random, undisturbed(model), backward_passes():
            explanation = explainer(
                graph.x,
                graph.edge_index,
                target=target,
                index=subject.query_row,
                **graph.further_inputs,
            )
        return self._masks(subject, explanation.get("node_mask"), explanation.get("edge_mask"))

    def _masks(self, subject: Subject, node_mask: Tensor | None, edges: Tensor | None) -> Masks:
        nodes = features = None
        rows = subject.candidates
        if edges is not None:
            edges = edges.detach().abs()  # (e,)
            nodes = masks_of_edges(subject, edges).nodes
        if node_mask is not None:
            kind = self._mask_types["node_mask_type"]
            both = rows_and_columns(node_mask if kind == "common_attributes" else node_mask[:rows])
            nodes = nodes if kind == "common_attributes" else both.nodes
            features = None if kind == "object" else both.features
        return Masks(nodes=nodes, features=features, edges=edges)


class LogProbabilities(nn.Module):
    """A copy of a subject's model that returns log-probabilities, whatever it returns.

    The copy's parameters need no gradient, and it is in eval mode. It takes any other subject of
    the same model as well.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        predictor = subject.predictor
        self._predictor = Predictor(copy.deepcopy(predictor.model), reading=predictor.reading)
        self._readout = subject.graph.readout
        self.model = self._predictor.model
        self.requires_grad_(False).eval()

    def forward(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Tensor:
        """Return the log-probabilities of the classes, (N, C), or (1, C) of a whole graph."""
        scores = self._predictor.scores(
            x,
            edge_index,
            kwargs,
            rows=self._readout.count(1, x.size(0)),
            differentiable=torch.is_grad_enabled(),
        )
        return log_probabilities(scores)


def predicted_classes(subject: Subject) -> Tensor:
    """Return the classes of all nodes (n + c,), or of the one graph (1,).

    The query's is that which is explained.
    """
    classes = subject.every_score(subject.graph.x).argmax(-1)
    classes[subject.graph.target] = subject.predicted_class
    return classes
