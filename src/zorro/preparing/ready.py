"""What all queries of one explainer share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor

from zorro.arguments import check_at_least, check_choice
from zorro.cut.source import Source
from zorro.elements import KINDS
from zorro.elements.groups import group_of_each
from zorro.errors import ModelError
from zorro.evaluation import EVALUATORS
from zorro.evaluation.bench import Bench
from zorro.graph.features import Features
from zorro.model.memory import default_budget
from zorro.model.message_masks import passes_messages
from zorro.model.packing import Packing
from zorro.model.picked_output import picked
from zorro.model.predictor import Model, Predictor
from zorro.noise import Noise, resolve, resolve_by_type
from zorro.noise.of_edges import AnyEdgeNoise
from zorro.preparing.settings import Settings
from zorro.question.parameters import Parameters


@dataclass(frozen=True)
class Ready:
    """All that is needed to answer.

    Args:
        parameters: what is asked of every query.
        source: of the queries' computational graphs.
        bench: with which they are evaluated.
    """

    parameters: Parameters
    source: Source
    bench: Bench


def made_ready(
    model: Model,
    features: Features,
    source: Callable[[Predictor, Noise], Source],
    settings: Settings,
    edges: AnyEdgeNoise | None,
    packing: Packing | None = None,
) -> Ready:
    """Return what all queries share, whatever the source of their computational graphs is.

    Args:
        model: that is explained.
        features: from which noise is drawn.
        source: gives the queries' computational graphs.
        settings: of every query.
        edges: what happens to edges that are not kept, where they are selectable.
        packing: of the types, where there are several.
    """
    asked, memory, module = settings.asked, settings.memory, picked(model, settings.output)
    check_choice("evaluator", settings.evaluator, EVALUATORS)
    memory = default_budget(features.device) if memory is None else memory
    check_at_least("memory", memory, 1)
    groups: Tensor | None = None
    if asked.feature_groups:
        named = features.shape[1] - (0 if packing is None else packing.ids)
        groups = group_of_each(asked.feature_groups, named).to(features.device)
    if packing is None:
        noise = resolve(settings.noise, features, groups=groups)
    else:
        noise = resolve_by_type(settings.noise, features, packing, groups=groups)
    parameters = replace(
        asked,
        noise=noise.name,
        delta=asked.delta if asked.search == "guided" else None,
        keep=tuple(kind for kind in KINDS if kind in asked.keep),
    )
    predictor = Predictor(module, reading=settings.reading, num_nodes=features.shape[0])
    if asked.edge_effect == "message" and not passes_messages(predictor.model):
        raise ModelError(
            "edge_effect: 'message' scales the messages of PyG's layers, and the model has no "
            "such layers: use 'structure'"
        )
    bench = Bench(
        predictor,
        noise,
        seed=asked.seed,
        memory=memory,
        device=features.device,
        wanted=settings.evaluator,
        keep=parameters.keep,
        groups=groups,
        edges=edges,
        packing=packing,
    )
    return Ready(parameters, source(predictor, noise), bench)
