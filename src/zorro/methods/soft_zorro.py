"""RDT-fidelity for soft masks: continuous node and feature masks, optimised under noise."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import InputError, ModelError
from zorro.evaluation import BatchedEvaluator
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.model.predictor import log_probabilities
from zorro.noise import Noise
from zorro.noise.draws import DenseDraws

# Far from the samples on which searches look and explanations are measured.
_FIRST_SAMPLE = 1 << 20


@method("soft-zorro")
class SoftZorro:
    """Masks v in [0, 1]ⁿ and f in [0, 1]ᵈ that keep the class probable when the rest is noise.

    Adam minimises over the logits of v and f

    −E_Z log p_class(X ⊙ M + Z ⊙ (1 − M)) + size · (mean v + mean f) + entropy · (H(v) + H(f)),

    M = v ⊗ f and H the mean binary entropy, which drives values towards 0 and 1. Each epoch draws
    its own noise. Masks begin near ½, moved a little at random to break ties.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import SoftZorro, Subjects
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> masks = SoftZorro(subjects.noise, epochs=50).explain(subjects.of(12))
    >>> masks.nodes.argmin(), masks.features.argmax()
    (tensor(2), tensor(1))

    Args:
        noise: the distribution of Z; that of `Subjects` is its `noise`.
        epochs: steps of Adam.
        lr: its learning rate.
        samples: of noise in each epoch.
        size: weight of the masks' means.
        entropy: weight of their binary entropies.
        memory: bytes that one batch of inputs may take, roughly.
    """

    def __init__(
        self,
        noise: Noise,
        *,
        epochs: int = 200,
        lr: float = 0.3,
        samples: int = 10,
        size: float = 3.0,
        entropy: float = 0.1,
        memory: int = 1 << 30,
    ) -> None:
        for name, value in (("epochs", epochs), ("samples", samples)):
            if value < 1:
                raise InputError(f"{name}: expected at least 1, got {value}")
        self._noise = noise
        self._epochs, self._lr, self._samples = epochs, lr, samples
        self._size, self._entropy = size, entropy
        self._memory = memory

    def explain(self, subject: Subject) -> Masks:
        """Return the masks after the last epoch."""
        x = subject.graph.candidate_x  # (n, d)
        generator = subject.generator()
        nodes, features = (
            (0.1 * torch.randn(size, generator=generator)).to(x).requires_grad_()
            for size in x.shape
        )  # (n,) and (d,), logits
        evaluator = BatchedEvaluator(
            subject.predictor,
            subject.graph,
            DenseDraws(self._values(subject, 0)),
            memory=self._memory,
        )
        optimiser = torch.optim.Adam([nodes, features], lr=self._lr)
        for epoch in range(self._epochs):
            loss = self._loss(subject, evaluator, nodes.sigmoid(), features.sigmoid(), epoch)
            nodes.grad, features.grad = subject.predictor.gradients(loss, [nodes, features])
            optimiser.step()
        return Masks(nodes=nodes.detach().sigmoid(), features=features.detach().sigmoid())

    def _loss(
        self,
        subject: Subject,
        evaluator: BatchedEvaluator,
        nodes: Tensor,
        features: Tensor,
        epoch: int,
    ) -> Tensor:
        """Return what is minimised, for masks (n,) and (d,) under the epoch's noise."""
        x = subject.graph.candidate_x  # (n, d)
        mask = torch.outer(nodes, features)  # (n, d)
        inputs = x * mask + self._values(subject, epoch) * (1 - mask)  # (S, n, d)
        scores = evaluator.differentiable(inputs)  # (S, C)
        if not scores.requires_grad:
            raise ModelError("the model's output has no gradient: it must not run under no_grad")
        loss = -log_probabilities(scores)[:, subject.predicted_class].mean()
        for part in (nodes, features):
            loss = loss + self._size * part.mean() + self._entropy * _binary_entropy(part)
        return loss

    def _values(self, subject: Subject, epoch: int) -> Tensor:
        """Return an epoch's noise, (S, n, d)."""
        first = _FIRST_SAMPLE + epoch * self._samples
        return self._noise.draw(
            subject.graph.candidate_x,
            seed=subject.seed,
            query=subject.graph.query,
            samples=range(first, first + self._samples),
        )


def _binary_entropy(mask: Tensor) -> Tensor:
    """Return the mean of −m log m − (1 − m) log (1 − m)."""
    entropies: Tensor = torch.special.entr(mask) + torch.special.entr(1 - mask)
    return entropies.mean()
