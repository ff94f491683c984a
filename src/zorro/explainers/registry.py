"""The methods by name: ours, and a user's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib.metadata import entry_points
from inspect import Parameter, signature
from typing import Any, Protocol, TypeVar

from zorro.errors import InputError
from zorro.explainers.masks import Masks
from zorro.explainers.subject import Subject

ENTRY_POINTS = "zorro.explainers"


class Method(Protocol):
    """Explains one prediction after the other of one model."""

    def explain(self, subject: Subject) -> Masks:
        """Return what matters for a prediction."""
        ...


Factory = Callable[..., Method]
F = TypeVar("F", bound=Factory)
_METHODS: dict[str, Factory] = {}


def method(name: str) -> Callable[[F], F]:
    """Register a class (or a function that returns a method) under a name.

    >>> import torch
    >>> @method("constant")
    ... class Constant:
    ...     def explain(self, subject):
    ...         return Masks(nodes=torch.ones(subject.candidates))
    """

    def register(factory: F) -> F:
        if name in _METHODS and _METHODS[name] is not factory:
            raise InputError(f"name: a method {name!r} is there already, choose another name")
        _METHODS[name] = factory
        return factory

    return register


def methods() -> tuple[str, ...]:
    """Return the names of all methods, those of installed packages too."""
    return tuple(sorted({*_METHODS, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def methods_with(context: Collection[str]) -> tuple[str, ...]:
    """Return the names of the methods that need no other arguments than those of `context`.

    >>> "grad" in methods_with(()), "pgexplainer" in methods_with(["subjects", "noise"])
    (True, False)
    """
    return tuple(name for name in methods() if _needed(_factory(name)) <= set(context))


def _needed(factory: Factory) -> set[str]:
    every = signature(factory).parameters.values()
    optional = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {p.name for p in every if p.default is Parameter.empty and p.kind not in optional}


def build(name: str, **options: Any) -> Method:
    """Return the method of that name.

    Args:
        name: one of `methods()`.
        options: of the method itself.
    """
    return _factory(name)(**options)


def build_with(name: str, context: Mapping[str, Any], **options: Any) -> Method:
    """Return the method of that name, with those parts of `context` that it has arguments for.

    Args:
        name: one of `methods()`.
        context: what some methods need and others do not: `subjects`, `noise`,
            `training_nodes`.
        options: of the method itself.
    """
    factory = _factory(name)
    taken = signature(factory).parameters
    return factory(**{key: context[key] for key in context if key in taken}, **options)


def _factory(name: str) -> Factory:
    factory = _METHODS.get(name)
    if factory is None:
        for point in entry_points(group=ENTRY_POINTS):
            if point.name == name:
                factory = point.load()
    if factory is None:
        raise InputError(f"method: expected one of {', '.join(methods())}, got {name!r}")
    return factory
