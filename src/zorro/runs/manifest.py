"""What a run was asked: by it a run is recognised when it is resumed."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch
import torch_geometric
from torch import nn

from zorro.elements import KEPT, TYPES
from zorro.elements.types import NodeType, Types
from zorro.errors import RunError
from zorro.explanation import Parameters
from zorro.graph.stored.verification import OnProgress
from zorro.question import LEVELS, About, Level
from zorro.question.reading import READINGS
from zorro.runs.digests import model_digest
from zorro.runs.task import LoadedTask
from zorro.version import __version__

FORMAT = 1
# What must be the same for a run to be resumed. Who made it, when and where may differ.
_COMPARED = ("format", "data", "model", "parameters", "queries", "versions")
# What every manifest has, parents before what they hold.
_PARTS: dict[str, type] = {
    "format": int,
    "asked": dict,
    "data": dict,
    "data.sha256": str,
    "model": dict,
    "model.class": str,
    "model.sha256": str,
    "parameters": dict,
    "queries": dict,
    "queries.count": int,
    "queries.sha256": str,
    "versions": dict,
    "made": dict,
    "made.at": str,
}
_OPTIONS = ("hops", "halo", "check", "evaluator", "carries_messages", "directed", *READINGS)
# Options that say nothing while nobody sets them: said or not, the same is asked.
_ALWAYS = object()
_UNSAID = {
    "label": None,
    "tolerance": None,
    "tolerance_share": None,
    "side": "both",
    "output": None,
    "carries_messages": False,
    "directed": None,
}
# The same of parameters.
_USUAL = {
    "keep": list(KEPT),
    "feature_groups": [],
    "edge_presence": None,
    "edge_noise": "presence",
    "edge_effect": "structure",
    "connected": False,
}
_MAY_DIFFER = ("max_seconds",)  # a search that ended by itself finds the same without
_MOST_SHOWN = 60  # characters of a value

Manifest = dict[str, Any]


def describe(
    task: LoadedTask,
    keys: Sequence[int],
    *,
    asked: Mapping[str, Any] | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> Manifest:
    """Return what a run is asked, with digests of data and model.

    Args:
        task: what is asked of every query.
        keys: of the queries, in order.
        asked: how the user put it, for people to read.
        on_progress: told how many bytes of a stored graph are verified, and of how many.
    """
    zorro = task.zorro()
    options = {
        name: task.options[name]
        for name in _OPTIONS
        if name in task.options and task.options[name] != _UNSAID.get(name, _ALWAYS)
    }
    return assembled(
        keys,
        asked=asked or {},
        data=task.data.described(task.options.get("model_kwargs") or {}, on_progress),
        model={
            "class": f"{type(task.model).__module__}.{type(task.model).__qualname__}",
            "sha256": model_digest(task.model),
        },
        parameters={
            **as_told(zorro.parameters),
            **options,
            **_part_told(task.options.get("output")),
            **{name: value for name, value in task.question.items() if value is not None},
        },
    )


def _part_told(output: object) -> dict[str, str]:
    """Return what picks the scores of what the model returns, if anything does."""
    if isinstance(output, nn.Module):
        return {"output": f"function {model_digest(output)}"}
    return {"output": output} if isinstance(output, str) else {}


def as_told(parameters: Parameters) -> dict[str, Any]:
    """Return parameters as JSON gives them back; what is usual is left out."""
    return {
        name: value
        for name, value in _plain(parameters).items()
        if name not in _USUAL or _USUAL[name] != value
    }


def other_settings(manifest: Manifest, parameters: Parameters) -> Iterator[tuple[str, str, str]]:
    """Yield the settings in which an explanation differs from its run: the run's, and its own."""
    kept = {**_USUAL, **manifest["parameters"]}
    for name, value in _plain(parameters).items():
        if name in kept and name not in _MAY_DIFFER and kept[name] != value:
            yield name, _shown(kept[name]), _shown(value)


@functools.lru_cache(maxsize=16)  # all rows of a run have the same
def _plain(parameters: Parameters) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(parameters)))
    return plain


def assembled(
    keys: Sequence[int],
    *,
    asked: Mapping[str, Any],
    data: Mapping[str, Any],
    model: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Manifest:
    """Return a manifest of its parts; queries, versions and the time are added."""
    numbers = np.asarray(keys, dtype=np.int64)
    return {
        "format": FORMAT,
        "asked": dict(asked),
        "data": dict(data),
        "model": dict(model),
        "parameters": dict(parameters),
        "queries": {
            "count": len(keys),
            "sha256": hashlib.sha256(numbers.tobytes()).hexdigest(),
        },
        "versions": {
            "zorro": __version__,
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
            "numpy": np.__version__,
        },
        "made": {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
    }


def asked_for(manifest: Manifest) -> int:
    """Return how many queries a run was asked for when it was made."""
    return int(manifest["queries"]["count"])


def added_to(manifest: Manifest) -> int:
    """Return how many explanations were added to a run after it."""
    return int(manifest.get("added", 0))


def with_added(manifest: Manifest, added: int) -> Manifest:
    """Return the manifest of a run to which so many explanations were added, or more before."""
    return {**manifest, "added": added} if added > added_to(manifest) else manifest


def checked(values: object) -> Manifest:
    """Return what a file holds if it is a manifest: its parts, and what is read of any run.

    Raises `ValueError` that names the first part that is missing or of another type.
    """
    if not isinstance(values, dict):
        raise ValueError(f"expected an object, got {type(values).__name__}")
    for name, kind in _PARTS.items():
        *parents, last = name.split(".")
        place = values
        for parent in parents:
            place = place[parent]
        if last not in place:
            raise ValueError(f"{name} is missing")
        if not isinstance(place[last], kind) or isinstance(place[last], bool):
            raise ValueError(f"{name}: expected {kind.__name__}, got {type(place[last]).__name__}")
    for name in ("nodes", "features"):
        if type(values["data"].get(name, 0)) is not int:
            raise ValueError(f"data.{name}: expected int, got {values['data'][name]!r:.40}")
    if (level := about_of(values).level) not in LEVELS:
        raise ValueError(f"data.level: expected one of {', '.join(LEVELS)}, got {level!r:.40}")
    if type(values.get("added", 0)) is not int or values.get("added", 0) < 0:
        raise ValueError(f"added: expected a number from 0, got {values['added']!r:.40}")
    if values["queries"]["count"] < 0:
        raise ValueError(f"queries.count: expected at least 0, got {values['queries']['count']}")
    return values


def check_complete(manifest: Manifest, folder: object) -> None:
    """Raise `RunError` unless a manifest has all settings, which its rows are held against."""
    known = {**_USUAL, **manifest["parameters"]}
    for setting in dataclasses.fields(Parameters):
        if setting.name not in known:
            raise RunError(
                f"{folder}: manifest: parameters: expected {setting.name}, got none: it is not as "
                "zorro wrote it, and what the run was asked for is not known"
            )


def about_of(manifest: Manifest) -> About:
    """Return what a run's queries are; what tells no level is of nodes or of graphs."""
    data = manifest["data"]
    level: Level = data.get("level", "graph" if "graphs" in data else "node")
    if TYPES not in data:
        return About(level)
    firsts: dict[str, int] = {}
    total = 0
    try:
        for name, count in data[TYPES].items():
            firsts[name], total = total, total + int(count)
        types = tuple(data["target"])
        return About(level, types, tuple(firsts[name] for name in types))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"data.types, data.target: expected counts of nodes by type and some of these types "
            f"({error})"
        ) from None


def types_of(manifest: Manifest) -> Types:
    """Return the types of a run that is of one of several, or raise `RunError`."""
    data = manifest["data"]
    try:
        return Types(
            tuple(
                NodeType(name, int(count), int(data["features_of_types"][name]))
                for name, count in data[TYPES].items()
            ),
            tuple((str(a), str(b), str(c)) for a, b, c in data["relations"]),
            tuple(map(int, data["back"])),
            tuple(map(bool, data["one_way"])),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"manifest: data: expected types and relations ({error!r})") from None


def refuse_other(kept: Manifest, wanted: Manifest, folder: object) -> None:
    """Raise `RunError` unless a run that is kept was asked what is wanted now."""
    lines = list(_differences(kept, wanted))
    if lines:
        raise RunError(
            f"{folder} holds another run; it differs in "
            + "; ".join(lines)
            + ". Use another folder, or ask what that run was asked"
        )


def _differences(kept: Manifest, wanted: Manifest, path: str = "") -> Iterator[str]:
    for name in _COMPARED if not path else sorted({*kept, *wanted}):
        one, other = kept.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, f"{path}{name}.")
        elif one != other:
            yield f"{path}{name}: {_shown(one)} there, {_shown(other)} now"


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:12]}…"
