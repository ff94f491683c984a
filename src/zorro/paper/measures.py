"""What is measured of a method's masks, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from zorro.methods.evaluation import evaluate
from zorro.methods.masks import Masks
from zorro.methods.subject import Subject
from zorro.metrics import (
    fidelity_minus_acc,
    fidelity_minus_prob,
    fidelity_plus_acc,
    fidelity_plus_prob,
    nodes_of_top_edges,
    normalise_and_threshold,
    top_fraction,
    top_k,
)
from zorro.noise import Noise

TOP = 5  # nodes that a mask is cut down to, the size of a house
_TRANSFORMS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "S-0.5": lambda mask: top_fraction(mask, fraction=0.5),
    "S-0.7": lambda mask: top_fraction(mask, fraction=0.3),
    "NT": normalise_and_threshold,
}
_VARIANTS: Mapping[str, Callable[..., float]] = {
    "fidelity_plus_acc": fidelity_plus_acc,
    "fidelity_minus_acc": fidelity_minus_acc,
    "fidelity_plus_prob": fidelity_plus_prob,
    "fidelity_minus_prob": fidelity_minus_prob,
}
Values = dict[str, Any]


@dataclass(frozen=True)
class Worlds:
    """What sets are measured on.

    Args:
        noise: that refills what is not selected.
        samples: which of its samples.
        seed: of the noise.
        memory: bytes that measuring may take; a quarter of what is free when None.
    """

    noise: Noise
    samples: range
    seed: int
    memory: int | None = None

    def of(self, subject: Subject, masks: Masks) -> Values:
        """Return the measures of the paper's main table."""
        return asdict(
            evaluate(
                subject,
                masks,
                self.noise,
                samples=self.samples,
                seed=self.seed,
                memory=self.memory,
            )
        )


def as_given(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    """Measure the masks as they are; tell which nodes are in them."""
    values = worlds.of(subject, masks)
    return {**values, "chosen": _ids(subject, first_nodes(subject, masks))}


def nodes_alone(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    """Measure the node mask as it is, with all features of what it keeps."""
    return as_given(subject, Masks(nodes=masks.nodes), worlds)


def cut(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    """Measure after the node mask was cut down to the five that count most."""
    chosen = first_nodes(subject, masks)
    few = Masks(nodes=None if chosen is None else chosen.float(), features=masks.features)
    values = worlds.of(subject, few)
    return {**values, "chosen": _ids(subject, chosen)}


def hardened(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    """Measure soft masks after each of the paper's transforms, hard masks as they are.

    The names of the values begin with the transform's. A mask of so few elements that half (or
    three tenths) of them is none is left out of the paper's means, and has no values here.
    """
    if all(mask is None or is_hard(mask) for mask in (masks.nodes, masks.features)):
        return {f"HM {key}": value for key, value in _of_hard(subject, masks, worlds).items()}
    values: Values = {}
    for name, transform in _TRANSFORMS.items():
        hard = Masks(
            nodes=None if masks.nodes is None else transform(masks.nodes).float(),
            features=None if masks.features is None else transform(masks.features).float(),
        )
        if name != "NT" and subject.candidates * (0.5 if name == "S-0.5" else 0.3) < 1:
            continue
        found = _of_hard(subject, hard, worlds)
        values |= {f"{name} {key}": value for key, value in found.items()}
    return values


def features(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    """Keep the feature mask itself, without its zeros."""
    mask = masks.features
    if mask is None:
        return {"feature_mask": None}
    places = mask.nonzero().flatten()
    return {"feature_mask": [places.tolist(), mask[places].tolist()]}


def _of_hard(subject: Subject, masks: Masks, worlds: Worlds) -> Values:
    values = worlds.of(subject, masks)
    x = subject.graph.candidate_x  # (n, d)
    context = subject.graph.x[x.size(0) :]
    nodes = x.new_ones(x.size(0)) if masks.nodes is None else masks.nodes.to(x)
    feats = x.new_ones(x.size(1)) if masks.features is None else masks.features.to(x)
    for name, variant in _VARIANTS.items():
        options: dict[str, Any] = {"return_type": "log_probs"} if name.endswith("prob") else {}
        values[name] = variant(
            lambda kept: subject.scores(torch.cat([kept, context])),
            x,
            nodes=nodes,
            features=feats,
            **options,
        )
    return values


def first_nodes(subject: Subject, masks: Masks) -> Tensor | None:
    """Return the selected candidates (n,), of soft masks the five that count most.

    Of a mask over edges they are the nodes of the first edges, at least five.
    """
    if masks.edges is not None:
        graph = subject.graph
        every = nodes_of_top_edges(
            masks.edges, edge_index=graph.edge_index, num_nodes=graph.x.size(0), at_least=TOP
        )
        return every[: subject.candidates]
    if masks.nodes is None:
        return None
    return masks.nodes.bool() if is_hard(masks.nodes) else top_k(masks.nodes, k=TOP)


def is_hard(mask: Tensor) -> bool:
    """Whether a mask selects or does not, with nothing between."""
    return bool(((mask == 0) | (mask == 1)).all())


def _ids(subject: Subject, chosen: Tensor | None) -> list[int] | None:
    return None if chosen is None else subject.graph.candidates[chosen].tolist()


Measure = Callable[[Subject, Masks, Worlds], Values]
MEASURES: Mapping[str, Measure] = {
    "as given": as_given,
    "nodes alone": nodes_alone,
    "cut": cut,
    "hard": hardened,
    "features": features,
}
