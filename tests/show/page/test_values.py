"""What pages show of values and of labels, which are not one class of several."""

import dataclasses
import json
import math
import statistics
import xml.etree.ElementTree as ET

import pytest
import torch
from made_runs import made_explanation, ring, small_model
from made_values import TOLERANCE, AddsNeighbours, WeighsAtoms, summed_run, weighed_run
from made_values import weighed_molecules as molecules
from torch import nn

from zorro import explain_many
from zorro.explanation import PredictedValue
from zorro.graph.names import Names
from zorro.show.page import answers, payload
from zorro.show.page.answers import ClassAnswers, LabelAnswers, ValueAnswers, answers_of
from zorro.show.page.node_view import NodeView
from zorro.show.page.run_inputs import run_inputs

MODEL = WeighsAtoms().eval()


@pytest.fixture(scope="module")
def weighed(tmp_path_factory):
    return weighed_run(tmp_path_factory.mktemp("runs") / "weighed")


@pytest.fixture(scope="module")
def summed(tmp_path_factory):
    return summed_run(tmp_path_factory.mktemp("runs") / "summed", output=1)


def made_value(side="both", least=None, **changes):
    made = made_explanation(**changes)
    value = PredictedValue(2.0, 0.5, side, least)
    return dataclasses.replace(made, predicted_class=None, probabilities=(), value=value)


def shown(run, **inputs):
    return payload.of_run(run, run_inputs(**inputs).view(run))


def test_a_row_has_the_value_its_band_and_the_truth(weighed):
    data = shown(weighed, model=MODEL, graphs=molecules())
    assert [row["query"] for row in data["rows"]] == [0, 1, 4]
    for row in data["rows"]:
        graph = molecules().graphs[row["query"]]
        value = float(MODEL(graph.x, graph.edge_index).detach())
        assert row["answer"] == "value"
        assert row["value"] == pytest.approx(value, rel=1e-4)
        assert (row["low"], row["high"]) == pytest.approx((value - TOLERANCE, value + TOLERANCE))
        assert row["truth"] == pytest.approx(value + 0.1 * row["query"], rel=1e-4)
        assert "class" not in row
        assert "probability" not in row


def test_a_summary_says_how_far_off_answers_are(weighed):
    data = shown(weighed, model=MODEL, graphs=molecules())
    assert data["summary"]["hasTruth"]
    assert data["summary"]["answers"] == {
        "known": 3,
        "error": pytest.approx(statistics.median([0.0, 0.1, 0.4]), rel=1e-3),
        "tolerance": TOLERANCE,
        "share": None,
        "side": "both",
    }
    assert (data["labels"]["answer"], data["labels"]["classes"]) == ("value", {})
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_nothing_is_said_of_classes(weighed, summed):
    for run, inputs in (
        (weighed, {"model": MODEL, "graphs": molecules()}),
        (summed, {"model": AddsNeighbours(), **ring()}),
    ):
        view = run_inputs(**inputs).view(run)
        for explanation in run:
            said = "".join(text for text, _ in payload.detail(explanation, view)["sentence"])
            assert "class" not in said
            assert "class" not in explanation._repr_html_()
    needless = made_value(status="nothing needed", certified=True)
    assert "class" not in needless.sentence()
    assert needless.sentence().endswith("or for a smaller tolerance.")


def test_nodes_are_not_told_apart_by_classes_that_they_do_not_have(summed):
    data = shown(summed, model=AddsNeighbours(), **ring())
    scene = data["details"]["6"]["scene"]
    assert len(scene["nodes"]) > 1
    assert all(node[5] is None for node in scene["nodes"])
    graph = ring()
    said = AddsNeighbours()(graph["x"], graph["edge_index"])[:, 1]
    assert [row["value"] for row in data["rows"]] == pytest.approx(
        said[[6, 9, 11]].tolist(), rel=1e-4
    )
    assert not data["summary"]["hasTruth"], "classes are no values"


@pytest.mark.parametrize(
    ("y", "truth"),
    [
        (torch.arange(40) / 4, None),  # of one value, and the second is asked about
        (torch.stack([torch.zeros(40), torch.arange(40) / 4], dim=1), 1.5),
        (torch.full((40, 2), math.nan), None),
        (torch.zeros(40, 2, dtype=torch.int64), None),
    ],
)
def test_the_truth_is_that_of_the_column(summed, y, truth):
    graph = ring()
    data = shown(summed, model=AddsNeighbours(), x=graph["x"], edge_index=graph["edge_index"], y=y)
    assert data["rows"][0]["truth"] == truth
    assert data["summary"]["hasTruth"] == (truth is not None)


@pytest.mark.parametrize(
    ("side", "ends", "said"),
    [
        ("both", (1.5, 2.5), "keeps it within 0.5 of that"),
        ("up", (1.5, None), "keeps it from falling by more than 0.5"),
        ("down", (None, 2.5), "keeps it from rising by more than 0.5"),
    ],
)
def test_a_band_may_be_open_on_one_side(side, ends, said):
    made = made_value(side)
    row = answers.row(made)
    assert (row["low"], row["high"]) == ends
    assert said in made.sentence().replace("\u00a0", " ")
    drawn = ET.fromstring(made._repr_html_()).find(".//svg")
    assert drawn is not None
    assert len(drawn.findall("line")) == sum(end is not None for end in ends)
    labels = [text.text or "" for text in drawn.findall("text")]
    assert sorted(labels) == sorted(["2", *(f"{end:g}" for end in ends if end is not None)])


@pytest.mark.parametrize(
    ("status", "least", "told"),
    [
        ("certified", 0.3, 0.3),
        ("certified", 0.7, None),  # the certificate shows more than these samples do
        ("budget exhausted", 0.7, 0.7),
        ("certified", None, None),
    ],
)
def test_what_would_have_been_enough_does_not_contradict_the_certificate(status, least, told):
    made = made_value(least=least, status=status)
    assert answers.row(made)["least"] == told
    assert ("would have been enough" in str(made)) == (told is not None)


class TwoLabels(nn.Module):
    """Two independent labels, as logits."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = small_model()

    def forward(self, x, edge_index):
        return self.inner(x, edge_index)


def test_a_label_is_called_by_its_name(tmp_path):
    graph, model = ring(), TwoLabels().eval()
    run = explain_many(
        model,
        graph["x"],
        graph["edge_index"],
        [6, 9],
        out=tmp_path / "run",
        engine="in-process",
        label=1,
        threshold=0.0,
    )
    y = torch.stack([torch.zeros(40), torch.arange(40) % 2], dim=1)
    names = Names(classes=["sports", "politics"])
    inputs = dataclasses.replace(
        run_inputs(model=model, x=graph["x"], edge_index=graph["edge_index"], y=y), names=names
    )
    data = payload.of_run(run, inputs.view(run))
    assert data["labels"]["classes"] == {"0": "not politics", "1": "politics"}
    has = (model(graph["x"], graph["edge_index"])[:, 1] > 0).long()
    for row in data["rows"]:
        assert (row["answer"], row["class"]) == ("label", int(has[row["query"]]))
        assert row["truth"] == row["query"] % 2
    for number in ("6", "9"):
        said = "".join(text for text, _ in data["details"][number]["sentence"])
        assert said.startswith(f"The model says {'' if has[int(number)] else 'not '}politics")
        kinds = {node[0]: node[5] for node in data["details"][number]["scene"]["nodes"]}
        assert kinds == {node: int(has[node]) for node in kinds}
    assert (
        run.explanation(6)
        .sentence()
        .startswith(f"The model says {'' if has[6] else 'not '}label 1")
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ClassAnswers()),
        ({"threshold": 0.5}, ClassAnswers(0.5)),
        ({"label": 2, "threshold": 0.0}, LabelAnswers(2, 0.0)),
        ({"tolerance_share": 0.5, "side": "up"}, ValueAnswers(0, 0.5)),
        ({"tolerance": 1.0, "output": 3}, ValueAnswers(3)),
        ({"output": "function 12ab"}, ClassAnswers()),
    ],
)
def test_a_runs_parameters_tell_what_its_answers_are(parameters, expected):
    assert answers_of({"tau": 0.85, **parameters}) == expected


def test_a_class_that_is_not_known_is_not_wrong():
    view = NodeView(**{**ring(), "y": torch.full((40,), math.nan)})
    assert payload.row(made_explanation(), view)["truth"] is None
    assert ClassAnswers().summary([(made_explanation(), None)]) == {"known": 0, "right": None}
