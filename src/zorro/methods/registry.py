"""The methods by name: ours, and a user's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol, TypeVar

from zorro.errors import InputError
from zorro.methods.masks import Masks
from zorro.methods.subject import Subject

ENTRY_POINTS = "zorro.explainers"


class Method(Protocol):
    """Explains one prediction after the other of one model.

    >>> import torch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Masks, Subjects, evaluate
    >>> club = karate_club()
    >>> class OneFriend:
    ...     def explain(self, subject):
    ...         nodes = torch.zeros(subject.candidates)
    ...         nodes[0] = 1
    ...         return Masks(nodes=nodes)
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> subject = subjects.of(12)
    >>> evaluate(subject, OneFriend().explain(subject), subjects.noise).validity
    1.0
    """

    def explain(self, subject: Subject) -> Masks:
        """Return what matters for a prediction."""
        ...


Factory = Callable[..., Method]
F = TypeVar("F", bound=Factory)
_METHODS: dict[str, Factory] = {}
_FILES: dict[Path, tuple[str, ...]] = {}  # those that were run, and what they registered


def method(name: str) -> Callable[[F], F]:
    """Register a class (or a function that returns a method) under a name.

    >>> import torch
    >>> from zorro.explainers import Masks, method, methods
    >>> @method("constant")
    ... class Constant:
    ...     def explain(self, subject):
    ...         return Masks(nodes=torch.ones(subject.candidates))
    >>> "constant" in methods()
    True

    Args:
        name: by which `build` and the command line know it.
    """

    def register(factory: F) -> F:
        if name in _METHODS and _METHODS[name] is not factory:
            raise InputError(
                f"name: expected one that no method has yet, got {name!r}: choose another"
            )
        _METHODS[name] = factory
        return factory

    return register


def methods_in(path: str | Path) -> tuple[str, ...]:
    """Run a Python file of one's own and return the names of the methods that it registers.

    >>> from pathlib import Path
    >>> from zorro.explainers import methods, methods_in
    >>> _ = Path("mine.py").write_text('''
    ... import torch
    ... from zorro.explainers import Masks, method
    ...
    ... @method("mine")
    ... class Mine:
    ...     def explain(self, subject):
    ...         return Masks(nodes=torch.ones(subject.candidates))
    ... ''')
    >>> methods_in("mine.py")
    ('mine',)
    >>> "mine" in methods()
    True

    Args:
        path: of the file, which is run once.
    """
    path = Path(path).absolute()
    if path not in _FILES:
        before = set(_METHODS)
        spec = spec_from_file_location(f"zorro_own_{path.stem}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise InputError(f"path: expected a Python file, got {path}")
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        _FILES[path] = tuple(sorted(set(_METHODS) - before))
    if not _FILES[path]:
        raise InputError(
            f"path: expected a file with methods, got {path}: put @method(name) above a class"
        )
    return _FILES[path]


def methods() -> tuple[str, ...]:
    """Return the names of all methods, those of installed packages too.

    >>> from zorro.explainers import methods
    >>> len(methods()) >= 13
    True
    >>> [name for name in methods() if name.startswith("zorro")]
    ['zorro', 'zorro-paper']
    """
    return tuple(sorted({*_METHODS, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def methods_with(context: Collection[str]) -> tuple[str, ...]:
    """Return the names of the methods that need no other arguments than those of `context`.

    >>> from zorro.explainers import methods_with
    >>> "grad" in methods_with(()), "pgexplainer" in methods_with(["subjects", "noise"])
    (True, False)

    Args:
        context: names of arguments that are at hand, such as `noise`.
    """
    return tuple(name for name in methods() if _needed(_factory(name)) <= set(context))


def _needed(factory: Factory) -> set[str]:
    every = signature(factory).parameters.values()
    optional = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {p.name for p in every if p.default is Parameter.empty and p.kind not in optional}


def build(name: str, **options: Any) -> Method:
    """Return the method of that name.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Subjects, build
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)
    >>> build("random", sizes=(1, 1)).explain(subject).nodes.sum()
    tensor(1)

    Args:
        name: one of `methods()`.
        options: of the method itself.
    """
    return _factory(name)(**options)


def build_with(name: str, context: Mapping[str, Any], **options: Any) -> Method:
    """Return the method of that name, with those parts of `context` that it has arguments for.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Subjects, build_with
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> context = {"subjects": subjects, "noise": subjects.noise, "training_queries": [0, 33]}
    >>> subject = subjects.of(12)
    >>> found = {n: build_with(n, context).explain(subject) for n in ("grad", "zorro")}
    >>> found["zorro"].nodes
    tensor([ True,  True, False])

    Args:
        name: one of `methods()`.
        context: what some methods need and others do not: `subjects`, `noise`,
            `training_queries`.
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
