import random

import pytest
import torch
from made_runs import made_explanation, made_run, ring, small_model

from zorro.errors import InputError, RunError
from zorro.show import report

MEGABYTES = 5


@pytest.fixture
def graph():
    return ring()


def test_a_report_is_written(tmp_path, graph):
    model = small_model()
    run = made_run(tmp_path / "run", [made_explanation()], graph=graph, model=model)
    size = report.write(run, tmp_path / "report.html", model=model, **graph)
    assert (tmp_path / "report.html").stat().st_size == size
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_folder_may_be_given_and_nothing_else(tmp_path, graph):
    made_run(tmp_path / "run", [made_explanation()], graph=graph)
    assert report.write(tmp_path / "run", tmp_path / "report.html") > 0


def test_an_empty_run_has_a_report(tmp_path, graph):
    run = made_run(tmp_path / "run", [], graph=graph, failures={1: "no"})
    assert report.write(run, tmp_path / "report.html", **graph) > 0


def test_other_data_are_refused(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation()], graph=graph)
    with pytest.raises(InputError, match=r"data: expected those that .*, got others"):
        report.write(run, tmp_path / "r.html", **{**graph, "x": graph["x"] + 1})
    assert not (tmp_path / "r.html").exists()


def test_another_model_is_refused(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation()], graph=graph, model=small_model())
    other = small_model()
    with torch.no_grad():
        next(other.parameters()).add_(1)
    with pytest.raises(InputError, match=r"model: expected the one that .*, got another"):
        report.write(run, tmp_path / "r.html", model=other, **graph)


def test_what_cannot_be_written_is_said(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation()], graph=graph)
    with pytest.raises(RunError, match=r"nowhere.r\.html could not be written"):
        report.write(run, tmp_path / "nowhere" / "r.html")


def test_300_explanations_on_a_graph_like_cora_stay_small(tmp_path):
    graph = ring(2708, 1433)
    rng = random.Random(0)
    explanations = [
        made_explanation(
            node,
            nodes=tuple(sorted({(node + step) % 2708 for step in (0, 1, 5, 6, 10, -1, -5)})),
            features=tuple(sorted(rng.sample(range(1433), 20))),
            size=(2708, 1433),
        )
        for node in range(0, 2400, 8)
    ]
    run = made_run(tmp_path / "run", explanations, graph=graph)
    assert report.write(run, tmp_path / "report.html", **graph) < MEGABYTES * 1e6
