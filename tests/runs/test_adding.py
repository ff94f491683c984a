"""Explanations that are added to a run after it."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from made_runs import made_explanation, made_run, ring, small_model

from zorro import Zorro, explain_many, open_run
from zorro.errors import InputError, RunError
from zorro.runs import Known
from zorro.runs.adding import add


@pytest.fixture
def graph():
    return ring()


@pytest.fixture
def made(graph, tmp_path):
    """A run of two nodes that names the truth, and the explainer that it was made with."""
    model = small_model()
    x, edge_index = graph["x"], graph["edge_index"]

    def explained(**further):
        return explain_many(
            model, x, edge_index, [9, 11], out=tmp_path / "run", engine="in-process", **further
        )

    run = explained(known=Known(truth={9: 1, 11: 0}))
    return run, Zorro(model, x, edge_index), explained


def test_what_is_added_is_read_like_all_others(made):
    run, zorro, _ = made
    found = zorro.with_settings(max_seconds=60.0).explain(20)
    grown = add(run.path, found, truth=1)
    assert [one.node for one in grown] == [9, 11, 20]
    assert grown.explanation(20) == found
    assert (grown.asked, grown.added, grown.damaged()) == (3, 1, [])
    assert grown.known.truth == {9: 1, 11: 0, 20: 1}
    assert [one.node for one in add(run.path, zorro.explain(21))] == [9, 11, 20, 21]


def test_the_run_goes_on_as_before(made):
    run, zorro, explained = made
    add(run.path, zorro.explain(20))
    told: list[Any] = []
    again = explained(on_outcome=told.append)
    assert told == []
    assert [one.node for one in again] == [9, 11, 20]


def test_a_failure_is_replaced(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation(7)], graph=graph, failures={3: "it broke"})
    grown = add(run.path, made_explanation(3, nodes=(3,)))
    assert [one.node for one in grown] == [7, 3]
    assert (grown.asked, grown.added, grown.failures()) == (2, 0, [])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 5}, "with seed 0, got 5"),
        ({"tau": 0.9}, "with tau 0.85, got 0.9"),
        ({"search": "paper"}, 'with search "guided", got "paper"'),
    ],
)
def test_what_was_asked_for_in_another_way_is_refused(tmp_path, graph, change, named):
    run = made_run(tmp_path / "run", [made_explanation(7)], graph=graph)
    asked = made_explanation(8)
    other = replace(asked, parameters=replace(asked.parameters, **change))
    with pytest.raises(InputError, match=named):
        add(run.path, other)
    assert [one.node for one in open_run(run.path)] == [7]


def test_what_is_there_and_what_was_stopped_are_refused(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation(7)], graph=graph)
    with pytest.raises(InputError, match="does not explain, got node 7"):
        add(run.path, made_explanation(7))
    late = made_explanation(8, status="budget exhausted")
    stopped = replace(late, parameters=replace(late.parameters, max_seconds=30.0))
    with pytest.raises(InputError, match="got one that was stopped after 30 seconds"):
        add(run.path, stopped)


def test_what_is_compared_with_another_answer_is_refused(made):
    run, zorro, _ = made
    other = 1 - zorro.explain(20).predicted_class
    with pytest.raises(InputError, match=r"compared with no other, as in .*, got one that is"):
        add(run.path, zorro.explain(20, why_not=other))
    assert len(open_run(run.path)) == 2


def test_a_run_that_is_not_finished_is_left_alone(tmp_path, graph, monkeypatch):
    """The run may come to that query itself, and would then hold it twice."""
    model = small_model()

    class EnoughError(Exception):
        pass

    def stop(outcome):
        raise EnoughError

    with pytest.raises(EnoughError):
        explain_many(
            model,
            graph["x"],
            graph["edge_index"],
            torch.tensor([9, 11]),
            out=tmp_path / "run",
            engine="in-process",
            on_outcome=stop,
        )
    found = Zorro(model, graph["x"], graph["edge_index"]).explain(20)
    with pytest.raises(RunError, match="is not finished"):
        add(tmp_path / "run", found)
    assert len(open_run(tmp_path / "run")) == 1
