"""The API reference has every public class and function, says what each takes, and shows it."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import zorro

PAGES = Path(__file__).parents[1] / "docs" / "api"
MODULES = [
    "zorro",
    "zorro.audit",
    "zorro.data",
    "zorro.errors",
    "zorro.explainers",
    "zorro.metrics",
    "zorro.models",
    "zorro.noise",
    "zorro.plot",
    "zorro.runs",
]


def listed() -> dict[str, set[str]]:
    """Return the names that the pages list, by module."""
    found: dict[str, set[str]] = {}
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"currentmodule:: (\S+)\n(.*?)^```$", text, re.M | re.S):
            entries = re.findall(r"^   (\w+)$", names, re.M)
            found.setdefault(module, set()).update(entries)
    return found


def public(name: str) -> dict[str, object]:
    """Return a module's public classes and functions."""
    module = import_module(name)
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0].isupper()]
    every = {each: getattr(module, each) for each in names}
    return {n: o for n, o in every.items() if inspect.isclass(o) or inspect.isfunction(o)}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_listed_once(module):
    elsewhere = set() if module == "zorro" else set(zorro.__all__)
    assert listed()[module] == set(public(module)) - elsewhere


def test_no_other_module_is_listed():
    assert sorted(listed()) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_says_what_it_is(module):
    undocumented = [name for name, thing in public(module).items() if not inspect.getdoc(thing)]
    assert undocumented == []


def everything() -> dict[str, object]:
    """Return all public classes and functions, once each, by the name that a user imports."""
    found = {}
    for module in MODULES:
        elsewhere = set() if module == "zorro" else set(zorro.__all__)
        for name, thing in public(module).items():
            if name not in elsewhere:
                found[f"{module}.{name}"] = thing
    return found


def with_methods(things: dict[str, object]) -> dict[str, object]:
    """Return some classes and functions, and the classes' public methods."""
    found = dict(things)
    for name, thing in things.items():
        for own, member in vars(thing).items() if inspect.isclass(thing) else ():
            function = inspect.unwrap(getattr(member, "__func__", member))
            if not own.startswith("_") and inspect.isfunction(function):
                found[f"{name}.{own}"] = function
    return found


def examples(thing: object) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def is_run(example: doctest.Example) -> bool:
    return doctest.SKIP not in example.options


def undefined(code: str) -> set[str]:
    """Return the names that some code uses and nowhere defines or imports."""
    used, known = set(), set(dir(builtins))
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case (
                ast.Name(id=name)
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.ExceptHandler(name=str(name))
            ):
                known.add(name)
            case ast.alias(name=name, asname=other):
                known.add((other or name).split(".")[0])
    return used - known


def arguments(thing: Any) -> list[str]:
    """Return what a function, or the constructor of a class, can be called with."""
    if not inspect.isclass(thing):
        return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing) if field.init]
    nothing = thing.__init__ is object.__init__ or getattr(thing, "_is_protocol", False)
    return [] if nothing or issubclass(thing, BaseException) else arguments(thing.__init__)


def told(thing: object) -> dict[str, str]:
    """Return what a docstring says about each argument, on one line."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)*)", f"{inspect.getdoc(thing)}\n", re.M)
    entries = re.split(r"^    (\w+): ", section[1] if section else "", flags=re.M)[1:]
    texts = [" ".join(text.split()) for text in entries[1::2]]
    return dict(zip(entries[::2], texts, strict=True))


def test_every_public_name_has_an_example_that_runs():
    without = [name for name, it in everything().items() if not any(map(is_run, examples(it)))]
    assert without == []


def test_no_example_is_left_out():
    every = with_methods(everything()).items()
    assert [name for name, it in every if not all(map(is_run, examples(it)))] == []


def test_every_example_can_be_pasted_as_it_is():
    every = with_methods(everything()).items()
    code = {name: "".join(example.source for example in examples(it)) for name, it in every}
    assert {name: missing for name, it in code.items() if (missing := undefined(it))} == {}


def test_every_argument_is_told():
    """Of methods with one argument the sentence says what it is."""
    missing = {}
    public_names = everything()
    for name, thing in with_methods(public_names).items():
        needed = arguments(thing)
        if name in public_names or len(needed) > 1 or told(thing):
            missing[name] = sorted(set(needed) ^ set(told(thing)))
    assert {name: wrong for name, wrong in missing.items() if wrong} == {}


def test_no_sentence_runs_across_arguments():
    every = with_methods(everything()).items()
    ends = {f"{name}({one})": text[-1:] for name, it in every for one, text in told(it).items()}
    assert [one for one, end in ends.items() if end not in (".", "…")] == []


def test_what_is_not_defined_in_an_example_is_found():
    code = "from a import b as c\ndef f(x, *, y):\n    return x + y + z\nc.d(e)\n"
    assert undefined(code) == {"e", "z"}
