"""What is to be explained, as the user says it: nodes, links or graphs, and which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import typer

from zorro.cli.levels import Told, agreed
from zorro.data.pairs import parse_pair
from zorro.errors import InputError
from zorro.question import LEVELS, Level

T = TypeVar("T")
One: TypeAlias = int | tuple[int, int]  # as `Zorro.explain` takes it
_LEVELS: dict[str, Level] = {"--nodes": "node", "--links": "link", "--graphs": "graph"}


@dataclass(frozen=True)
class Asked:
    """Which queries are meant.

    Args:
        told: the options that tell whether nodes, links or graphs are; none if the data set must.
        spec: which of them, in the notation of `zorro.data.parse_nodes`, or of links `parse_links`.
    """

    told: tuple[Told, ...]
    spec: str


def asked(
    *,
    nodes: str | None,
    links: str | None,
    graphs: str | None,
    queries: str | None,
    level: str | None,
) -> Asked:
    """Return what is asked, of options of which one must be given.

    Args:
        nodes: of `--nodes`.
        links: of `--links`.
        graphs: of `--graphs`.
        queries: of `--queries`, where each part may begin with its level.
        level: of `--level`, which must not contradict.
    """
    option, text = _only(
        {"--nodes": nodes, "--links": links, "--graphs": graphs, "--queries": queries}
    )
    spec, told = text, [] if level is None else [Told("--level", level, _level("--level", level))]
    if option == "--queries":
        spec, levels = _without_levels(text)
        told += [Told(option, text, each) for each in levels]
    else:
        told.append(Told(option, text, _LEVELS[option]))
    if told:
        agreed(told)
    return Asked(tuple(told), spec)


def one_asked(*, node: int | None, link: str | None, graph: int | None) -> tuple[Told, One]:
    """Return which level is meant, and the number of the node or graph, or the ends of the link.

    Args:
        node: of `--node`.
        link: of `--link`.
        graph: of `--graph`.
    """
    ends = None if link is None else parse_pair(link, name="--link")
    every: dict[str, One | None] = {"--node": node, "--link": ends, "--graph": graph}
    found: tuple[str, One] = _only(every)
    option, asked = found
    return Told(option, link or str(asked), _LEVELS[f"{option}s"]), asked


def _only(every: Mapping[str, T | None]) -> tuple[str, T]:
    """Return the one option that is given, with its value."""
    given = [(option, value) for option, value in every.items() if value is not None]
    if len(given) != 1:
        came = " and ".join(option for option, _ in given) or "none"
        raise typer.BadParameter(f"expected one of them, got {came}", param_hint=" / ".join(every))
    return given[0]


def _without_levels(text: str) -> tuple[str, list[Level]]:
    """Return the parts without their levels, and the levels.

    >>> _without_levels("graph:5,9,graph:12"), _without_levels("random:20")
    (('5,9,12', ['graph', 'graph']), ('random:20', []))
    """
    parts: list[str] = []
    levels: list[Level] = []
    for part in text.split(","):
        prefix, colon, rest = part.strip().partition(":")
        if colon and prefix != "random":
            levels.append(_level("--queries", prefix))
        parts.append(rest if colon and prefix != "random" else part)
    return ",".join(parts), levels


def _level(option: str, text: str) -> Level:
    for level in LEVELS:
        if text.strip().lower() == level:
            return level
    raise InputError(f"{option}: expected one of {', '.join(LEVELS)}, got {text!r}")
