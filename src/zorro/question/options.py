"""Validate Zorro's settings, once, at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from zorro.arguments import check_at_least, check_choice, check_seed
from zorro.elements import (
    COARSE,
    EDGE_ATTRIBUTES,
    EDGES,
    KEPT,
    KINDS,
    NODES,
    RELATIONS,
    TYPES,
    drops_edges,
)
from zorro.errors import InputError
from zorro.question.parameters import Parameters

Search = Literal["guided", "paper"]
SEARCHES: tuple[Search, ...] = ("guided", "paper")
EdgeNoiseName = Literal["presence", "rewire"]
EDGE_NOISES: tuple[EdgeNoiseName, ...] = ("presence", "rewire")
EdgeEffect = Literal["structure", "message"]
EDGE_EFFECTS: tuple[EdgeEffect, ...] = ("structure", "message")


def check_parameters(asked: Parameters, *, typed: bool = False) -> None:
    """Refuse what cannot be answered, naming the argument.

    Args:
        asked: what is.
        typed: whether there are several types of nodes.
    """
    check_choice("search", asked.search, SEARCHES)
    if not _is_number(asked.tau) or not 0 < asked.tau <= 1:
        raise InputError(f"tau: expected a number above 0 and at most 1, got {asked.tau!r}")
    if not _is_number(asked.confidence) or not 0 < asked.confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, got {asked.confidence!r}")
    _check_claim(asked)
    _check_limits(asked)
    check_kinds(asked.keep, [kind for kind in KINDS if typed or kind not in COARSE])
    for coarse, fine in ((TYPES, NODES), (RELATIONS, EDGES)):
        if coarse in asked.keep and fine in asked.keep:
            raise InputError(f"keep: expected {coarse!r} or {fine!r}, got both")
    _check_edges(asked)
    if not isinstance(asked.beyond_chance, bool):
        raise InputError(f"beyond_chance: expected True or False, got {asked.beyond_chance!r}")
    if asked.beyond_chance and asked.search != "guided":
        raise InputError(
            f"beyond_chance: expected the guided search with it, got search={asked.search!r}"
        )
    check_seed(asked.seed)
    check_at_least("samples", asked.samples, 1)
    if asked.fresh_samples is not None:
        check_at_least("fresh_samples", asked.fresh_samples, 1)
    if asked.k is not None:
        check_at_least("k", asked.k, 1)


def _check_claim(asked: Parameters) -> None:
    delta = asked.delta
    if delta is None:
        return
    if not _is_number(delta) or not 0 < delta < 1:
        raise InputError(f"delta: expected a number between 0 and 1, or None, got {delta!r}")
    if asked.search == "guided" and asked.tau == 1:
        raise InputError(
            f"tau: expected less than 1, got {asked.tau}: a fidelity of 1 cannot be certified from "
            "samples; pass delta=None to go without"
        )


def check_kinds(keep: Sequence[str], kinds: Sequence[str] = KINDS) -> None:
    """Refuse what names no kinds of elements, or one twice."""
    expected = f"keep: expected some of {', '.join(map(repr, kinds))}, each once"
    if not keep:
        raise InputError(f"{expected}, got nothing")
    for kind in keep:
        if kind not in kinds:
            raise InputError(f"{expected}, got {kind!r}")
    if len(set(keep)) != len(keep):
        raise InputError(f"{expected}, got {', '.join(map(repr, keep))}")


def _check_edges(asked: Parameters) -> None:
    """Refuse what is said of edges that are not selectable, and what the paper's search cannot."""
    presence = asked.edge_presence
    check_choice("edge_noise", asked.edge_noise, EDGE_NOISES)
    check_choice("edge_effect", asked.edge_effect, EDGE_EFFECTS)
    if not isinstance(asked.connected, bool):
        raise InputError(f"connected: expected True or False, got {asked.connected!r}")
    if EDGE_ATTRIBUTES in asked.keep and EDGES not in asked.keep:
        raise InputError("keep: expected 'edges' with 'edge_attributes', got none")
    if not drops_edges(asked.keep):
        usual = {
            "edge_presence": (presence, None),
            "edge_noise": (asked.edge_noise, "presence"),
            "edge_effect": (asked.edge_effect, "structure"),
            "connected": (asked.connected, False),
        }
        for name, (came, default) in usual.items():
            if came != default:
                raise InputError(
                    f"{name}: expected 'edges' in keep where it is given, got {came!r}"
                )
        return
    if asked.connected and EDGES not in asked.keep:
        raise InputError("connected: expected 'edges' in keep, got 'relations'")
    if asked.connected and asked.search != "guided":
        raise InputError(
            f"connected: expected the guided search with it, got search={asked.search!r}"
        )
    if asked.edge_noise == "rewire":
        others = {"edge_presence": presence, "edge_effect": asked.edge_effect}
        for name, came in others.items():
            if came not in (None, "structure"):
                raise InputError(
                    f"{name}: expected nothing else with edge_noise='rewire', got {came!r}"
                )
        if EDGE_ATTRIBUTES in asked.keep:
            raise InputError(
                "keep: expected no 'edge_attributes' with edge_noise='rewire', which moves edges "
                f"with their attributes, got {asked.keep}"
            )
        return
    if presence is None or not _is_number(presence) or not 0 <= presence < 1:
        raise InputError(
            f"edge_presence: expected a number of at least 0 and below 1, got {presence!r}"
        )
    if asked.search == "paper" and set(KEPT) <= set(asked.keep):
        raise InputError(
            "search: expected 'guided' for edges beside nodes and features, for which the paper's "
            "search has no rule, got 'paper': use 'guided', or keep edges alone or with one of the "
            "two"
        )


def _check_limits(asked: Parameters) -> None:
    limits = {
        "max_seconds": asked.max_seconds,
        "max_elements": asked.max_elements,
        "max_evaluations": asked.max_evaluations,
    }
    for name, value in limits.items():
        if value is None:
            continue
        if asked.search != "guided":
            raise InputError(
                f"{name}: expected the guided search with limits, got search={asked.search!r}"
            )
        if name != "max_seconds":
            check_at_least(name, value, 1)
        elif not _is_number(value) or not value > 0:
            raise InputError(f"{name}: expected a number above 0, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
