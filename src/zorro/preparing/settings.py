"""The options of `zorro.Zorro` that do not depend on what is asked about, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from zorro.errors import InputError
from zorro.evaluation import EvaluatorName
from zorro.question.options import check_parameters
from zorro.question.parameters import PARAMETERS, Parameters, parameters_of
from zorro.question.reading import READINGS, Output, Reading, reading_of

_OF_ONE_GRAPH = ("hops", "halo", "check", "model_kwargs")  # what others take in their own way


@dataclass(frozen=True)
class Settings:
    """What a user wants of every query, whatever it is about.

    Args:
        asked: of every search.
        reading: what the model's output means.
        output: which part of what the model returns that is, if it is a part.
        noise: what refills unselected entries: by name, an object or a function; by type where
            there are several.
        evaluator: by which name.
        memory: bytes that an evaluation may take; a share of what is free when None.
        directed: whether an edge is another than its reverse, if that is said.
        proposes_groups: whether the user may be told of columns that look like one element.
    """

    asked: Parameters
    reading: Reading
    output: Output | None
    noise: Any
    evaluator: EvaluatorName
    memory: int | None
    directed: bool | None
    proposes_groups: bool


def settings_of(options: Mapping[str, Any], *, typed: bool = False) -> Settings:
    """Return all options by their names as one value, or refuse what they ask.

    Args:
        options: all of them.
        typed: whether there are several types.
    """
    asked = parameters_of(**{name: options[name] for name in PARAMETERS})
    check_parameters(asked, typed=typed)
    return Settings(
        asked=asked,
        reading=reading_of(**{name: options[name] for name in READINGS}),
        output=options["output"],
        noise=options["noise"],
        evaluator=options["evaluator"],
        memory=options["memory"],
        directed=options["directed"],
        proposes_groups=isinstance(options["noise"], str) and options["feature_groups"] is None,
    )


def with_defaults(options: Mapping[str, Any], door: Callable[..., Any]) -> dict[str, Any]:
    """Return all options that do not depend on what is asked about, by their names.

    Args:
        options: those that are given.
        door: takes all of them; has the defaults of those that are not given.
    """
    known = {
        name: parameter.default
        for name, parameter in signature(door).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _OF_ONE_GRAPH
    }
    for name in options:
        if name not in known:
            raise InputError(
                f"{name}: expected one of the options {', '.join(known)}, got {name!r}"
            )
    return {**known, **options}
