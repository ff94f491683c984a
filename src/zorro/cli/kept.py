"""Elements that are kept, as the user writes them: by numbers, or by type and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import typer

from zorro.elements import EDGES, FEATURES, KEPT, NODES, RELATIONS, TYPES
from zorro.question import About

T = TypeVar("T")
_NUMBERS = "numbers such as 1,2, or by type author:1,2;paper:7, or all or none"
_PAIRS = (
    "pairs of nodes such as 3-7,4-9, or by relation author/writes/paper:3-7,4-9, or all or none"
)


@dataclass(frozen=True)
class KeptElements:
    """What `zorro fidelity` measures.

    Args:
        members: of each kind, None for all of them.
        written: the same as the user wrote them, by kind.
    """

    members: dict[str, Any]
    written: dict[str, str]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of what the set is, as `keep` takes it; all that is usual if nothing else is named."""
        kinds = tuple(self.written)
        return KEPT if kinds == KEPT else kinds

    def asked(self, about: About) -> dict[str, Any]:
        """Return the members as `Zorro.fidelity` takes them: by type where there are several."""
        if not about.types:
            return self.members
        by_type = (NODES, FEATURES, EDGES)
        return {
            kind: {} if kind in by_type and members == [] else members
            for kind, members in self.members.items()
        }

    def told(self, noise: str, others: str) -> str:
        """Say what is kept, and what happens to all else.

        Args:
            noise: by which features are redrawn.
            others: what happens to other edges, if any are redrawn.
        """
        values = [f"{kind} {self.written[kind]}" for kind in _VALUES if kind in self.written]
        edges = [f"{kind} {self.written[kind]}" for kind in _EDGES if kind in self.written]
        first = [f"{' × '.join(values)}; {noise} noise elsewhere"] if values else []
        return "; ".join([*first, *(f"{each}, {others}" for each in edges)])


_VALUES, _EDGES = (NODES, FEATURES, TYPES), (EDGES, RELATIONS)


def kept_elements(
    *, nodes: str, features: str, edges: str | None, types: str | None, relations: str | None
) -> KeptElements:
    """Return what is kept, of options as the user writes them.

    Args:
        nodes: of `--keep-nodes`.
        features: of `--keep-features`.
        edges: of `--keep-edges`; edges stay when None.
        types: of `--keep-types`; nodes and features are kept one by one when None.
        relations: of `--keep-relations`.
    """
    if types is not None and (nodes, features) != ("all", "all"):
        raise typer.BadParameter(
            "expected no --keep-nodes and --keep-features beside it, got "
            f"{nodes!r} and {features!r}",
            param_hint="--keep-types",
        )
    if relations is not None and edges is not None:
        raise typer.BadParameter(
            f"expected no --keep-edges beside it, got {edges!r}", param_hint="--keep-relations"
        )
    written: dict[str, str] = {} if types is None else {TYPES: types}
    if types is None:
        written |= {NODES: nodes, FEATURES: features}
    members: dict[str, Any] = {
        NODES: _listed("--keep-nodes", nodes, int, _NUMBERS),
        FEATURES: _listed("--keep-features", features, int, _NUMBERS),
    }
    if types is not None:
        members[TYPES] = _names(types)
    if edges is not None:
        written[EDGES] = edges
        members[EDGES] = _listed("--keep-edges", edges, _pair, _PAIRS)
    if relations is not None:
        written[RELATIONS] = relations
        members[RELATIONS] = [tuple(name.split("/")) for name in _names(relations)]
    return KeptElements(members, written)


def _names(text: str) -> list[str]:
    return [] if text == "none" else [name.strip() for name in text.split(",")]


def _listed(
    option: str, text: str, read: Callable[[str], T], forms: str
) -> list[T] | dict[Any, list[T]] | None:
    """Return the elements that are listed, by type or relation if they are so; None for all."""
    if text in ("all", "none"):
        return None if text == "all" else []
    try:
        if ":" not in text:
            return [read(part) for part in text.split(",")]
        found: dict[Any, list[T]] = {}
        for part in text.split(";"):
            name, _, members = part.strip().partition(":")
            key = tuple(name.split("/")) if "/" in name else name
            found.setdefault(key, []).extend(read(member) for member in members.split(","))
    except ValueError:
        raise typer.BadParameter(f"expected {forms}, got {text!r}", param_hint=option) from None
    return found


def _pair(text: str) -> tuple[int, ...]:
    ends = tuple(int(end) for end in text.split("-"))
    if len(ends) not in (2, 3):
        raise ValueError(text)
    return ends
