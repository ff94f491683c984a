"""What pages show of explanations of links."""

import json
import re

import pytest
import torch
from made_links import LINKS, Multiplies, graph, linked_run
from made_molecules import molecules
from made_runs import ring

from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.question import About, Query
from zorro.runs import DamagedRow
from zorro.show import report
from zorro.show.page import payload
from zorro.show.page.contents import Contents
from zorro.show.page.run_inputs import run_inputs

KNOWN = torch.tensor([[6, 3], [11, 20]])  # links that are there


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return linked_run(tmp_path_factory.mktemp("runs") / "links")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    return linked_run(
        tmp_path_factory.mktemp("runs") / "compared", [(6, 11), (6, 4)], among=[20, 30]
    )


def view(run, **inputs):
    return run_inputs(model=Multiplies(), **graph(), **inputs).asked_by(run).view(run)


def sentence(detail) -> str:
    return "".join(text for text, _ in detail["sentence"]).replace("\u00a0", " ")


def test_links_are_told_by_their_ends(run):
    data = payload.of_run(run, view(run))
    assert [row["query"] for row in data["rows"]] == [f"{u}-{v}" for u, v in LINKS]
    assert list(data["details"]) == [f"{u}-{v}" for u, v in LINKS]
    assert data["labels"]["level"] == "link"
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_link_is_there_or_not(run):
    data = payload.of_run(run, view(run))
    assert data["labels"]["classes"] == {"0": "no link", "1": "link"}
    said = [row["class"] for row in data["rows"]]
    assert said == [e.predicted_class for e in run]
    assert set(said) == {0, 1}, "else nothing would be tested"
    for (u, v), number in zip(LINKS, said, strict=True):
        text = sentence(data["details"][f"{u}-{v}"])
        assert text.startswith(f"The model says {('no link', 'link')[number]} (p")
        assert f"for nodes {u} and {v}. " in text


def test_truth_is_told_by_the_links_that_are_known(run):
    known = payload.of_run(run, view(run, links=KNOWN))
    assert [row["truth"] for row in known["rows"]] == [1, 0, 1]
    right = sum(e.predicted_class == truth for e, truth in zip(run, (1, 0, 1), strict=True))
    assert known["summary"]["answers"] == {"known": 3, "right": right}
    unknown = payload.of_run(run, view(run))
    assert not unknown["summary"]["hasTruth"]


def test_both_ends_are_drawn_and_the_link_is_no_edge(run):
    edges = {tuple(pair) for pair in graph()["edge_index"].t().tolist()}
    assert (6, 11) in edges, "else nothing would be tested"
    scene = payload.of_run(run, view(run))["details"]["6-11"]["scene"]
    assert [node[0] for node in scene["nodes"][:2]] == [6, 11]
    assert (scene["centre"], scene["asked"]) == (2, [0, 1])
    pairs = list(zip(scene["edges"][::2], scene["edges"][1::2], strict=True))
    assert (0, 1) not in pairs
    ids = [node[0] for node in scene["nodes"]]
    assert all((ids[i], ids[j]) in edges for i, j in pairs)
    assert all(node[5] is None for node in scene["nodes"])


def test_nodes_have_the_colours_of_their_own_classes(run):
    data = payload.of_run(run, view(run, y=ring()["y"], node_class_names=["even", "odd"]))
    scene = data["details"]["6-11"]["scene"]
    assert all(kind == node % 2 for node, _, _, _, _, kind in scene["nodes"])
    assert data["labels"]["kinds"]["names"] == {"0": "even", "1": "odd"}
    assert data["labels"]["classes"] == {"0": "no link", "1": "link"}
    assert not set(data["labels"]["colours"]) & set(data["labels"]["kinds"]["colours"][:2])
    values = payload.of_run(run, view(run, y=torch.zeros(40)))["details"]["6-11"]["scene"]
    assert all(node[5] is None for node in values["nodes"]), "values are no classes"


def test_a_link_that_carries_messages_is_an_edge(tmp_path):
    run = linked_run(tmp_path / "run", [(6, 11)], carries_messages=True)
    scene = payload.of_run(run, view(run))["details"]["6-11"]["scene"]
    pairs = list(zip(scene["edges"][::2], scene["edges"][1::2], strict=True))
    assert (0, 1) in pairs
    assert scene["asked"] == [0, 1]


def test_links_that_are_ahead_of_others(compared):
    data = payload.of_run(compared, view(compared))
    assert data["labels"]["answer"] == "ahead"
    first = data["rows"][0]
    assert (first["query"], first["answer"], first["rivals"]) == ("6-11", "ahead", [20, 30])
    assert sentence(data["details"]["6-11"]).startswith(
        "The model puts the link 6–11 ahead of 2 others. Keeping "
    )
    assert "keeps it there in ≥ 85 %" in sentence(data["details"]["6-11"])
    assert data["details"]["6-11"]["scene"]["asked"] == [0, 1, 0, 2, 0, 3]


def test_a_link_that_is_asked_against_another(tmp_path):
    run = linked_run(tmp_path / "run", [(6, 11)], why_not=(6, 30))
    names = Names(node="person", nodes={6: "Ann", 11: "Ben", 30: "Eve"})
    data = payload.of_run(run, view(run, names=names))
    assert data["summary"]["whyNot"] == "6-30"
    assert sentence(data["details"]["6-11"]).startswith(
        "The model puts the link Ann–Ben ahead of Ann–Eve. "
    )


def test_values_of_links(tmp_path):
    run = linked_run(tmp_path / "run", [(6, 11)], threshold=None, tolerance=3.0)
    data = payload.of_run(run, view(run, links=KNOWN))
    row = data["rows"][0]
    assert (row["answer"], row["truth"]) == ("value", None)
    assert data["labels"]["classes"] == {}
    assert "for nodes 6 and 11. " in sentence(data["details"]["6-11"])
    assert "keeps it within 3 of that" in sentence(data["details"]["6-11"])


def test_sets_of_features_show_them_at_both_ends(tmp_path):
    run = linked_run(tmp_path / "run", [(6, 11)], keep=("features",))
    detail = payload.of_run(run, view(run))["details"]["6-11"]
    assert detail["nodes"] is None
    assert detail["values"]["nodes"] == [6, 11]
    expected = graph()["x"][[6, 11]][:, detail["features"]]
    assert torch.allclose(torch.tensor(detail["values"]["rows"]), expected, rtol=6e-3)


def test_without_the_graph_nothing_is_drawn(run):
    data = payload.of_run(run, run_inputs().asked_by(run).view(run))
    assert data["details"]["6-11"]["scene"] is None
    assert data["labels"]["classes"] == {"0": "no link", "1": "link"}


def test_what_the_run_was_not_made_with_is_refused(run, tmp_path):
    with pytest.raises(InputError, match=r"data: expected those that .*, got others"):
        report.write(run, tmp_path / "r.html", x=graph()["x"] + 1, edge_index=graph()["edge_index"])
    with pytest.raises(
        InputError, match="expected data whose links are asked about, got data whose graphs"
    ):
        report.write(run, tmp_path / "r.html", graphs=molecules())
    with pytest.raises(InputError, match="instead of x, edge_index, y and links"):
        report.write(run, tmp_path / "r.html", graphs=molecules(), links=KNOWN)


def test_alternatives_of_links_are_found_and_written(run, tmp_path):
    found = report.alternatives_of(run, 1, model=Multiplies(), **graph())
    assert list(found) == [e.query.key for e in run]
    assert any(found.values()), "else nothing would be tested"
    report.write(run, tmp_path / "r.html", model=Multiplies(), **graph(), alternatives=found)
    inside = re.search(r'id="data">(.*?)</script>', (tmp_path / "r.html").read_text(), re.S)
    assert inside is not None
    details = json.loads(inside[1])["details"]
    for e in run:
        others = details[f"{e.query.index}-{e.query.to}"]["alternatives"]
        assert [other["nodes"] for other in others] == [
            [node for (node,) in o.ordered("nodes")] for o in found[e.query.key]
        ]


def test_what_is_damaged_is_told_by_its_ends_if_it_has_some():
    rows = [DamagedRow(0, Query("link", 6, 11).key, "torn"), DamagedRow(1, 6, "no link")]
    told = payload.unreadable(Contents([], [], rows), About("link"))
    assert [one["query"] for one in told] == ["6-11", None]


def test_what_failed_is_told_by_its_ends(tmp_path):
    run = linked_run(tmp_path / "run", [(6, 11), (6, 4)], among=[30, 10], top=1)
    data = payload.of_run(run, view(run))
    assert [one["query"] for one in data["failures"]] == ["6-11"]
    assert "expected links that link 6–11 is ahead of" in data["failures"][0]["error"]
