"""GNNExplainer: soft edge and feature masks that keep the predicted class's probability high."""

from __future__ import annotations

from typing import Any

from torch_geometric.explain import GNNExplainer as PygGNNExplainer

from zorro.methods.masks import Masks
from zorro.methods.pyg_algorithm import PygAlgorithm
from zorro.methods.registry import method
from zorro.methods.subject import Subject


@method("gnnexplainer")
class GNNExplainer:
    """PyG's GNNExplainer (Ying et al., 2019) with its default coefficients.

    One mask over features, shared by all nodes, and one over edges; the node mask is derived from
    the edges. PyG sets to zero what the prediction does not depend on, such as features that no
    candidate has. The feature mask is therefore smaller than in the paper, which reports the size
    of one spread evenly over all features.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import GNNExplainer, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> masks = GNNExplainer(epochs=50).explain(subject)
    >>> masks.features.argmax()  # friends are of community 1
    tensor(1)
    >>> masks.nodes.argmin()  # it does not hear itself
    tensor(1)

    Args:
        epochs: of gradient descent on the masks.
        lr: its learning rate.
        coefficients: of PyG's algorithm (`edge_size`, `node_feat_ent`, …).
    """

    def __init__(self, *, epochs: int = 200, lr: float = 0.01, **coefficients: Any) -> None:
        self._method = PygAlgorithm(
            PygGNNExplainer(epochs=epochs, lr=lr, **coefficients),
            node_mask_type="common_attributes",
            edge_mask_type="object",
        )

    def explain(self, subject: Subject) -> Masks:
        """Return the masks after the last epoch."""
        return self._method.explain(subject)
