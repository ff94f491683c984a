"""The gradient of the prediction with respect to its input, alone and times the input."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from zorro.errors import InputError, ModelError
from zorro.methods.aggregation import masks_of_edges, rows_and_columns
from zorro.methods.edge_gradient import edge_gradient
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.model.predictor import log_probabilities


@method("grad")
class Grad:
    """How much the log-probability of the predicted class moves with each row and each column.

    With A = ∂ log p_class / ∂X, `"masks"` takes the gradient with respect to a factor on each row
    and on each column of X, at factors of 1:

    `nodes(i) = |Σ_j X_ij A_ij|` and `features(j) = |Σ_i X_ij A_ij|`,

    a reading of "the gradient of the rows and columns" (Section 6.4), chosen because its sizes are
    nearest to the published ones for GCN, GAT and APPNP; GIN's are larger than published.

    `"entries"` takes that of single entries, `Σ_j |A_ij|` and `Σ_i |A_ij|`; it ranks features that
    no node has, too. Values are left as they are: as soft masks the first are so small that they
    keep next to nothing of the input.

    `"edges"` takes that of weights on edges (see `edge_gradient`) and ranks these by its magnitude,
    and nodes by their edges.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Grad, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> Grad().explain(subject).nodes  # of 0, 3 and 12 itself
    tensor([0.2888, 0.2888, 0.0000])
    >>> Grad(of="edges").explain(subject).edges.count_nonzero()  # its two friendships
    tensor(2)

    Args:
        of: `"masks"`, `"entries"` or `"edges"`.
    """

    def __init__(self, *, of: Literal["masks", "entries", "edges"] = "masks") -> None:
        if of not in ("masks", "entries", "edges"):
            raise InputError(f"of: expected 'masks', 'entries' or 'edges', got {of!r}")
        self._of = of

    def explain(self, subject: Subject) -> Masks:
        """Return the gradient's rows and columns, or that of edges."""
        if self._of == "edges":
            return masks_of_edges(subject, edge_gradient(subject).abs())
        slope = gradient(subject)  # (n, d)
        if self._of == "entries":
            return rows_and_columns(slope)
        change = subject.graph.candidate_x * slope  # (n, d)
        return Masks(nodes=change.sum(1).abs(), features=change.sum(0).abs())


@method("grad-input")
class GradInput:
    """The gradient times the input, entry by entry, summed by rows and by columns.

    `nodes(i) = Σ_j |X_ij A_ij|` and `features(j) = Σ_i |X_ij A_ij|`, A = ∂ log p_class / ∂X
    (Section 6.4). Unlike in `"grad"`, what speaks for the class and what speaks against it do not
    cancel out.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import GradInput, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> masks = GradInput().explain(subject)
    >>> masks.nodes, masks.features
    (tensor([0.2888, 0.2888, 0.0000]), tensor([0.0000, 0.5775, 0.0000, 0.0000]))
    """

    def explain(self, subject: Subject) -> Masks:
        """Return the product's rows and columns."""
        return rows_and_columns(gradient(subject) * subject.graph.candidate_x)


def gradient(subject: Subject) -> Tensor:
    """Return ∂ log p_class / ∂X at the candidates, (n, d)."""
    x = subject.graph.x.detach().clone().requires_grad_()  # (n + c, d)
    scores = subject.scores(x, differentiable=True)  # (C,)
    if not scores.requires_grad:
        raise ModelError("the model's output has no gradient: it must not run under no_grad")
    aim = log_probabilities(scores)[subject.predicted_class]
    (result,) = subject.predictor.gradients(aim, [x])
    if result is None:
        raise ModelError("the model's output has no gradient with respect to x")
    return result[: subject.candidates]
