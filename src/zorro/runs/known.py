"""What is known of a run's data besides what was asked: names, and what is true."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zorro.errors import RunError
from zorro.files.plain_file import other_than_file
from zorro.files.plain_json import parse
from zorro.files.whole_file import whole_file
from zorro.graph.names import Labels, LabelsByType, Names

KNOWN = "known.json"
_NOUNS = ("node", "feature", "graph")
_NAMED = ("classes", "nodes", "features")
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Known:
    """What things are called, and what is true of the queries.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.graph.names import Names
    >>> from zorro.runs import Known
    >>> club = karate_club()
    >>> known = Known(Names(node="member", nodes={33: "John A."}), truth={9: 1, 11: 1})
    >>> run = explain_many(
    ...     SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/votes", known=known
    ... )
    >>> [run.known.names.of_node(node) for node in run.explanation(9).nodes]
    ['member John A.']
    >>> run.audit().right
    Share(0.50 [0.01, 0.99], 1/2)

    Args:
        names: of nodes, features and classes.
        truth: the true classes or values by the queries' keys; None if none are known.
    """

    names: Names = field(default_factory=Names)
    truth: Mapping[int, float] | None = None

    def write(self, folder: Path) -> None:
        """Keep it in a run's folder."""
        told = {
            **{noun: getattr(self.names, noun) for noun in _NOUNS},
            **{kind: _told(getattr(self.names, kind)) for kind in _NAMED},
            "truth": None if self.truth is None else {str(k): v for k, v in self.truth.items()},
        }
        try:
            with whole_file(folder / KNOWN) as file:
                file.write(json.dumps(told, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            raise RunError(f"{folder / KNOWN} could not be written: {error}") from error

    @classmethod
    def read(cls, folder: Path) -> Known:
        """Return what a run's folder holds of it, which may be nothing."""
        path = folder / KNOWN
        if not path.is_file():
            return cls()
        if (found := other_than_file(path)) is not None:
            raise RunError(f"{path}: expected a file, got {found}: this is not a run's")
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
            told = parse(path.read_bytes())
            if not isinstance(told, dict):
                raise ValueError(f"expected an object, got {type(told).__name__}")
            given: dict[str, Any] = {
                **{noun: _text(noun, told[noun]) for noun in _NOUNS if noun in told},
                **{kind: _labels(kind, told.get(kind)) for kind in _NAMED},
            }
            return cls(Names(**given), _truth(told.get("truth")))
        except OSError as error:
            raise RunError(f"{path} cannot be read: {error}") from error
        except ValueError as error:
            raise RunError(f"{path} is damaged ({error}): restore it, or remove it") from error


def _told(labels: Labels) -> Any:
    if isinstance(labels, LabelsByType):
        return None  # which the types tell
    if isinstance(labels, Mapping):
        return {str(number): text for number, text in labels.items()}
    return list(labels)


def _labels(kind: str, told: Any) -> Labels:
    if told is None:
        return {}
    if isinstance(told, dict):
        return {_whole(kind, number): _text(kind, text) for number, text in told.items()}
    if not isinstance(told, list):
        raise ValueError(f"{kind}: expected a list or an object, got {type(told).__name__}")
    return [_text(kind, text) for text in told]


def _truth(told: Any) -> dict[int, float] | None:
    if told is None:
        return None
    if not isinstance(told, dict):
        raise ValueError(f"truth: expected an object, got {type(told).__name__}")
    for value in told.values():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"truth: expected numbers, got {value!r:.40}")
    return {_whole("truth", key): value for key, value in told.items()}


def _text(kind: str, text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{kind}: expected a text, got {text!r:.40}")
    return text


def _whole(kind: str, number: str) -> int:
    try:
        return int(number)
    except ValueError:
        raise ValueError(f"{kind}: expected whole numbers, got {number!r:.40}") from None
