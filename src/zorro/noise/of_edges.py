"""Which noise of edges is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor

from zorro.elements import EDGE_ATTRIBUTES, drops_edges
from zorro.errors import InputError
from zorro.noise.edges import EdgeDraws, EdgeNoise
from zorro.noise.rewiring import RewiredDraws, Rewiring
from zorro.question.parameters import Parameters

AnyEdgeNoise = EdgeNoise | Rewiring
AnyEdgeDraws = EdgeDraws | RewiredDraws


def edge_noise_of(
    asked: Parameters, attributes: Callable[[], Mapping[str, Tensor]]
) -> AnyEdgeNoise | None:
    """Return what happens to edges that are not kept; None where edges are not selectable.

    Args:
        asked: what is.
        attributes: gives those of all edges of the data set.
    """
    if not drops_edges(asked.keep):
        return None
    if asked.edge_presence is None:
        return Rewiring()
    scales_messages = asked.edge_effect == "message"
    if EDGE_ATTRIBUTES not in asked.keep:
        return EdgeNoise(asked.edge_presence, scales_messages=scales_messages)
    pool = attributes()
    if not pool:
        raise InputError(
            "keep: expected edges that have attributes, for 'edge_attributes', got none in "
            "model_kwargs"
        )
    return EdgeNoise(asked.edge_presence, pool, scales_messages)
