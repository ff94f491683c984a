"""GraphMask: gates on the messages of each layer that leave the predicted class probable."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.explain import GraphMaskExplainer
from torch_geometric.nn import MessagePassing

from zorro.methods.aggregation import masks_of_edges
from zorro.methods.masks import Masks
from zorro.methods.pyg_algorithm import PygAlgorithm
from zorro.methods.registry import method
from zorro.methods.subject import Subject


@method("graphmask")
class GraphMask:
    """PyG's GraphMaskExplainer (Schlichtkrull et al., 2021), trained for each prediction.

    A small network per layer opens or closes a gate for each message; an edge's value is the share
    of layers in which its gate is open, so that many edges are equal. PyG passes messages through a
    layer norm and a ReLU on the way, so that it explains a model that is not quite the given one.

    >>> from zorro.data import karate_club
    >>> from zorro.explainers import GraphMask, Subjects
    >>> from zorro.models import build
    >>> club = karate_club()
    >>> model = build("gcn", 4, 4, seed=0)
    >>> subject = Subjects(model, club.x, club.edge_index).of(12)
    >>> edges = GraphMask(epochs=5).explain(subject).edges
    >>> bool((2 * edges == (2 * edges).round()).all())  # open in none, one or both of two layers
    True

    Args:
        epochs: of gradient descent for each layer.
        lr: its learning rate.
        further: of PyG's algorithm (`penalty_scaling`, `allowance`, …).
    """

    def __init__(self, *, epochs: int = 100, lr: float = 0.01, **further: Any) -> None:
        self._method = PygAlgorithm(
            _Fitting(epochs=epochs, lr=lr, **further),
            node_mask_type="attributes",
            edge_mask_type="object",
        )

    def explain(self, subject: Subject) -> Masks:
        """Return the edges' values, and those of nodes from them."""
        edges = self._method.explain(subject).edges
        assert edges is not None  # it was asked for
        return masks_of_edges(subject, edges)  # PyG's mask of the features is not trained


class _Fitting(GraphMaskExplainer):  # type: ignore[misc]  # PyG ships no types
    """PyG's algorithm with as many gates, and of such sizes, as the model's messages ask for.

    PyG takes the sizes of a layer's input and output for those of what it sends. Where that is
    wrong, as for a layer that transforms and then sends, it makes the gates anew, after its
    optimiser was made, which then trains none of them.
    """

    def __init__(self, *, epochs: int, lr: float, **further: Any) -> None:
        super().__init__(0, epochs=epochs, lr=lr, log=False, **further)

    def _train_explainer(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> None:
        self._set_flags(model)
        with torch.no_grad():
            model(x, edge_index, **kwargs)
        layers = [layer for layer in model.modules() if isinstance(layer, MessagePassing)]
        self.num_layers = len(layers)
        ends = [layer.latest_source_embeddings.size(-1) for layer in layers]
        messages = [layer.latest_messages.size(-1) for layer in layers]
        self._sizes = ends, messages, messages
        for layer, width in zip(layers, messages, strict=True):
            # PyG asks for them though nothing comes of it; the model is a copy.
            layer.in_channels = getattr(layer, "in_channels", width)
            layer.out_channels = getattr(layer, "out_channels", width)
        super()._train_explainer(model, x, edge_index, target=target, index=index, **kwargs)

    def _set_masks(self, i_dim: list[int], j_dim: list[int], h_dim: list[int], x: Tensor) -> None:
        super()._set_masks(*self._sizes, x)
