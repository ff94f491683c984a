"""How large and how good a method's masks are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.evaluation import BatchedEvaluator
from zorro.methods.masks import Masks
from zorro.methods.subject import Subject
from zorro.metrics import effective_size, validity
from zorro.model.memory import default_budget
from zorro.noise import Noise, draws_of

FIRST_SAMPLE = 100  # those before it are what a search with default settings has seen


@dataclass(frozen=True)
class Evaluation:
    """The measures of Section 6.1 for one explanation.

    >>> import torch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Masks, Subjects, evaluate
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> subject = subjects.of(12)  # its friends are 0 and 3, both of community 1
    >>> found = evaluate(subject, Masks(nodes=torch.tensor([1.0, 1.0, 0.0])), subjects.noise)
    >>> found.fidelity, found.validity
    (1.0, 1.0)
    >>> round(found.node_entropy, 3), found.feature_entropy  # log 2; features are not ranked
    (0.693, None)

    Args:
        node_entropy: of the normalised node mask; None for a method that does not rank nodes.
        feature_entropy: of the normalised feature mask; None for a method that does not rank
            features.
        fidelity: RDT-fidelity, the share of noise samples on which the prediction stays.
        validity: 1 if the prediction stays when what is not selected is zero, otherwise 0.
    """

    node_entropy: float | None
    feature_entropy: float | None
    fidelity: float
    validity: float


def evaluate(
    subject: Subject,
    masks: Masks,
    noise: Noise,
    *,
    samples: int | range = 100,
    seed: int | None = None,
    memory: int | None = None,
) -> Evaluation:
    """Measure the masks that a method gives for a prediction.

    Masks are used as they are, except that values above 1 count as 1: the input is
    X ⊙ M + Z ⊙ (1 − M), M = nodes ⊗ features, and a mask that is left out is one of ones. The
    entropies are of the values as they came.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Masks, Subjects, evaluate
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> subject = subjects.of(12)  # its friends are 0 and 3, both of community 1
    >>> friends = Masks(nodes=(subject.graph.candidates != 12).float())
    >>> evaluate(subject, friends, subjects.noise)
    Evaluation(node_entropy=0.6931471805599453, feature_entropy=None, fidelity=1.0, validity=1.0)

    Args:
        subject: the prediction.
        masks: of its candidates and features.
        noise: Z; that of `Subjects` is its `noise`.
        samples: how many, or which. A number means those after the first 100, on which
            `zorro.Zorro(…).fidelity` measures as well: no search with default settings sees them.
        seed: of the noise; the subject's when None.
        memory: bytes that the evaluation may take; a quarter of what is free when None.
    """
    if isinstance(samples, int):
        samples = range(FIRST_SAMPLE, FIRST_SAMPLE + samples)
    if len(samples) < 1:
        raise InputError("samples: expected at least 1 noise sample, got none")
    x = subject.graph.candidate_x  # (n, d)
    nodes = _share("nodes", masks.nodes, x.size(0), like=x)
    features = _share("features", masks.features, x.size(1), like=x)
    context = subject.graph.x[x.size(0) :]  # (c, d)
    memory = default_budget(x.device) if memory is None else memory
    return Evaluation(
        node_entropy=None if masks.nodes is None else effective_size(masks.nodes),
        feature_entropy=None if masks.features is None else effective_size(masks.features),
        fidelity=_fidelity(
            subject,
            torch.outer(nodes, features),
            noise,
            samples,
            seed=subject.seed if seed is None else seed,
            memory=memory,
        ),
        validity=validity(
            lambda kept: subject.scores(torch.cat([kept, context])),
            x,
            nodes=nodes,
            features=features,
        ),
    )


def _fidelity(
    subject: Subject, mask: Tensor, noise: Noise, samples: range, *, seed: int, memory: int
) -> float:
    """Return the share of samples on which the input under a mask (n, d) keeps its class."""
    graph = subject.graph
    x = graph.candidate_x  # (n, d)
    draws = draws_of(noise, x, seed=seed, query=graph.query, samples=samples, memory=memory)
    evaluator = BatchedEvaluator(subject.predictor, graph, draws, memory=memory)
    at_once = max(1, memory // (8 * max(1, x.numel()) * x.element_size()))
    hits = 0
    for start in range(0, len(samples), at_once):
        stop = min(start + at_once, len(samples))
        values = draws.matrices(torch.arange(start, stop, device=x.device))  # (s, n, d)
        inputs = x * mask + values * (1 - mask)
        hits += int(evaluator.event.happens(evaluator.run(inputs)).sum())
    return hits / len(samples)


def _share(name: str, mask: Tensor | None, size: int, *, like: Tensor) -> Tensor:
    """Return what is kept of each element, (size,), between 0 and 1."""
    if mask is None:
        return like.new_ones(size)
    if mask.numel() != size:
        raise InputError(f"{name}: expected a mask of {size} values, got {mask.numel()}")
    return mask.detach().to(like).clamp(max=1)
