"""Packages that people import by the names that they had first."""

from __future__ import annotations

import importlib

import pytest

import zorro


@pytest.mark.parametrize(("first", "now"), [("plot", "show.plot"), ("explainers", "methods")])
def test_the_first_name_gives_the_same(first, now):
    kept, package = (importlib.import_module(f"zorro.{name}") for name in (first, now))
    assert kept.__all__ == package.__all__
    assert all(getattr(kept, name) is getattr(package, name) for name in package.__all__)
    assert getattr(zorro, first) is kept


@pytest.mark.parametrize("package", ["data", "explainers", "metrics", "models", "noise", "plot"])
def test_what_the_documents_import_from_is_there(package):
    module = importlib.import_module(f"zorro.{package}")
    assert all(hasattr(module, name) for name in module.__all__)


def test_parts_of_the_result_come_from_where_it_does():
    import zorro.explanation as result

    assert set(result.__all__) >= {"Explanation", "GraphSummary", "Parameters", "Step", "Versus"}
    assert zorro.Explanation is result.Explanation


def test_graphs_on_disk_are_opened_where_data_sets_are():
    from zorro import data
    from zorro.graph import stored, validation

    assert (data.open_stored, data.store) == (stored.open_stored, stored.store)
    assert data.check_graph is validation.check_graph
