"""Audits and comparisons of every kind of run: nodes, links, graphs, values, edges, types."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from made_edges import MODEL, OPTIONS, edge_run
from made_hetero import Convolved, library
from made_links import graph as linked_graph
from made_links import linked_run
from made_molecules import CountsNitrogen, molecule_run, molecules
from made_runs import ring
from made_values import summed_run, weighed_molecules, weighed_run

from zorro import Zorro, explain_hetero
from zorro.audit.crossing import MeasuredOn
from zorro.runs.comparing import compared
from zorro.show import audit_page


def typed_run(folder):
    data = library()
    options = {"max_seconds": 60, "samples": 50, "engine": "in-process"}
    return explain_hetero(Convolved(data), data, "paper", [3, 7, 11], out=folder, **options)


RUNS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "edges": (edge_run, ring),
    "links": (linked_run, linked_graph),
    "graphs": (
        lambda folder: molecule_run(folder, CountsNitrogen()),
        lambda: {"graphs": molecules().graphs},
    ),
    "values of graphs": (weighed_run, lambda: {"graphs": weighed_molecules().graphs}),
    "values of nodes": (summed_run, ring),
    "types": (typed_run, dict),
}


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_is_audited_and_compared_with_itself(kind, tmp_path):
    make, parts = RUNS[kind]
    run = make(tmp_path / "run")
    explained = sum(1 for _ in run.explanations())
    given: dict[str, Any]
    for given in ({}, parts()):
        audited = run.audit(**given)
        assert audited.explanations == explained
        assert sum(len(profile.keys) for profile in audited.classes) == explained
        told = json.loads(audited.to_json())
        assert told["has_graph"] is bool(given)
        assert audit_page.write(run, audited, tmp_path / "audit.html") > 1000
    result = compared(run, run)
    assert result.jaccard == 1
    assert result.changed_predictions.count == 0
    assert json.loads(result.to_json())["shared"] == explained


def test_sets_of_types_and_edges_are_measured_on_a_model(tmp_path):
    data = library()
    typed = Zorro.of_hetero(Convolved(data), data, "paper", samples=50)
    graph = ring()
    edges = Zorro(MODEL, graph["x"], graph["edge_index"], **OPTIONS)
    for run, zorro in (
        (typed_run(tmp_path / "types"), typed),
        (edge_run(tmp_path / "edges"), edges),
    ):
        measured_on = MeasuredOn(zorro, 300)
        result = compared(run, run, on_first=measured_on, on_second=measured_on)
        assert {pair.grounds for pair in result.pairs} == {"kept"}
        for pair, e in zip(result.pairs, run.explanations(), strict=True):
            assert pair.there is not None
            assert pair.there.value == pytest.approx(e.fidelity.value, abs=0.1)
