import doctest
import importlib
import pkgutil

import pytest

import zorro.metrics

MODULES = [module.name for module in pkgutil.iter_modules(zorro.metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name):
    module = importlib.import_module(f"zorro.metrics.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", zorro.metrics.__all__)
def test_every_public_function_has_an_example(name):
    assert ">>> " in getattr(zorro.metrics, name).__doc__


def test_the_public_names_are_sorted():
    assert zorro.metrics.__all__ == sorted(zorro.metrics.__all__)
