"""The API reference has every public class and function, and each of them a docstring."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

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
