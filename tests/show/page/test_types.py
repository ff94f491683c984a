"""Explanations in graphs of several types, as pages show them."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[2]))

from made_hetero import Convolved, library

from zorro import explain_hetero
from zorro.errors import InputError
from zorro.graph.names import LabelsByType, Names
from zorro.show import report
from zorro.show.page import payload
from zorro.show.page.run_inputs import run_inputs

OPTIONS = {"samples": 50, "max_seconds": 60}
VENUES = {"venue": ["AAAI", "KDD", "VLDB", "WWW"]}


def made(tmp_path, **options):
    data = library()
    model = Convolved(data)
    data["paper"].y = torch.arange(40) % 3
    run = explain_hetero(model, data, "paper", [5, 7], out=tmp_path / "run", **OPTIONS, **options)
    return run, data, model


def shown(run, data, model, **options):
    inputs = run_inputs(hetero=data, target="paper", model=model, **options).asked_by(run)
    return payload.of_run(run, inputs.view(run))


def test_nodes_have_their_types_names_and_places(tmp_path):
    run, data, model = made(tmp_path, keep=("nodes", "edges"))
    page = shown(run, data, model)
    assert page["labels"]["types"] == {
        "nodes": [
            {"name": "author", "first": 0, "count": 30},
            {"name": "paper", "first": 30, "count": 40},
            {"name": "venue", "first": 70, "count": 4},
        ],
        "relations": [["author", "writes", "paper"], ["paper", "in", "venue"]],
        "target": "paper",
    }
    assert [row["query"] for row in page["rows"]] == [5, 7]  # by their numbers among papers
    assert [row["truth"] for row in page["rows"]] == [2, 1]
    scene = page["details"]["5"]["scene"]
    kinds = {node[0]: node[5] for node in scene["nodes"]}
    assert kinds[35] == 1
    assert all(kind == (node >= 30) + (node >= 70) for node, kind in kinds.items())
    assert page["labels"]["nodes"]["35"] == "paper 5"


def test_lines_tell_their_relations(tmp_path):
    run, data, model = made(tmp_path)
    scene = shown(run, data, model)["details"]["5"]["scene"]
    ids = [node[0] for node in scene["nodes"]]
    lines = zip(scene["edges"][::2], scene["edges"][1::2], scene["elements"], strict=True)
    for one, other, elements in lines:
        low, high = sorted((ids[one], ids[other]))
        (edge,) = elements
        relation = 0 if low < 30 else 1  # authors write, papers are in venues
        assert edge == f"{low}-{high}-{relation}"


def test_values_stand_only_where_a_type_has_the_feature(tmp_path):
    run, data, model = made(tmp_path)
    inputs = run_inputs(hetero=data, target="paper", model=model).asked_by(run)
    view = inputs.view(run)
    query = next(iter(run)).query
    values = view.values(query, [2, 35, 71], [(0,), (5,)])  # an author's and a paper's feature
    assert values is not None
    assert list(values.nodes) == [2, 35]  # venues have none
    assert values.rows[0][1] == values.rows[1][0] == ""
    assert values.rows[1][1] == float(data["paper"].x[5, 0])


def test_names_of_single_nodes(tmp_path):
    run, data, model = made(tmp_path, keep=("nodes",))
    labels = LabelsByType([("author", 30), ("paper", 40), ("venue", 4)], VENUES)
    page = shown(run, data, model, names=Names(nodes=labels))
    venues = {text for number, text in page["labels"]["nodes"].items() if int(number) >= 70}
    assert venues
    assert venues <= {"venue AAAI", "venue KDD", "venue VLDB", "venue WWW"}


def test_whole_types_and_relations(tmp_path):
    run, data, model = made(tmp_path, keep=("types", "relations"))
    page = shown(run, data, model)
    found = run.explanation(5)
    detail = page["details"]["5"]
    assert [found.types.names[number] for number in detail["types"]] == list(found.node_types)
    assert len(detail["relations"]) == len(found.relations)
    assert detail["otherEdges"] == {"presence": 0.5, "effect": "structure"}
    assert page["summary"]["kept"] == ["types", "relations"]


def test_a_report_without_its_graph_still_names_types(tmp_path):
    run, data, _ = made(tmp_path, keep=("nodes",))
    size = report.write(run, tmp_path / "run.html")
    assert size == (tmp_path / "run.html").stat().st_size
    page = payload.of_run(run, run_inputs().view(run))
    assert page["details"]["5"]["scene"] is None
    assert all(text.split()[0] in data.node_types for text in page["labels"]["nodes"].values())


def test_other_data_and_links_are_refused(tmp_path):
    run, data, _ = made(tmp_path)
    with pytest.raises(
        InputError, match="expected data whose papers are asked about, got data whose authors"
    ):
        run_inputs(hetero=data, target="author").asked_by(run)
    with pytest.raises(InputError, match="hetero: expected it instead of other data"):
        run_inputs(hetero=data, target="paper", y=torch.zeros(3))
    other = library(seed=1)
    with pytest.raises(InputError, match=r"was made with .*, got others"):
        run_inputs(hetero=other, target="paper").asked_by(run)
