import json

import pytest
import torch
from made_runs import made_explanation, made_run, ring, small_model

from zorro.audit import classes_of_nodes
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.show.page import payload
from zorro.show.page.node_view import NodeView


@pytest.fixture
def graph():
    return ring()


def test_a_payload_is_plain_data(tmp_path, graph):
    run = made_run(tmp_path / "run", [made_explanation()], graph=graph, failures={3: "it broke"})
    data = payload.of_run(run, NodeView(**graph))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["failures"] == [{"query": 3, "error": "it broke"}]
    assert (data["summary"]["explained"], data["summary"]["failed"]) == (1, 1)
    assert data["summary"]["medians"] == {"nodes": 2, "features": 3}


def test_values_are_those_of_the_kept_features(graph):
    shown = payload.detail(made_explanation(), NodeView(**graph))
    expected = graph["x"][[7, 8]][:, [0, 2, 3]]
    assert torch.allclose(torch.tensor(shown["values"]["rows"]), expected, rtol=6e-3)


def test_values_of_sparse_features_are_the_same(graph):
    sparse = NodeView(**{**graph, "x": graph["x"].to_sparse()})
    dense = NodeView(**graph)
    e = made_explanation()
    assert payload.detail(e, sparse)["values"] == payload.detail(e, dense)["values"]


def test_a_drawing_holds_the_kept_nodes_and_real_edges(graph):
    scene = payload.detail(made_explanation(), NodeView(**graph))["scene"]
    ids = [node[0] for node in scene["nodes"]]
    assert ids[0] == 7
    assert {node[0] for node in scene["nodes"] if node[4]} == {7, 8}
    real = {tuple(pair) for pair in graph["edge_index"].T.tolist()}
    flat = scene["edges"]
    assert flat
    assert all((ids[i], ids[j]) in real for i, j in zip(flat[::2], flat[1::2], strict=True))


def test_neighbours_have_the_classes_that_the_model_says(graph):
    model = small_model().eval()
    answers = classes_of_nodes(model, graph["x"], graph["edge_index"])
    scene = payload.detail(made_explanation(), NodeView(**graph, predicted=answers))["scene"]
    expected = model(graph["x"], graph["edge_index"]).argmax(1)
    assert [node[5] for node in scene["nodes"]] == [int(expected[n[0]]) for n in scene["nodes"]]


def test_a_model_is_not_run_on_features_that_it_may_not_take(graph):
    assert classes_of_nodes(small_model(), graph["x"].to_sparse(), graph["edge_index"]) is None


def test_without_the_graph_there_is_no_drawing_and_no_value():
    shown = payload.detail(made_explanation(), NodeView())
    assert shown["scene"] is None
    assert shown["values"] is None
    assert payload.row(made_explanation(), NodeView())["truth"] is None


def test_only_names_that_are_shown_are_kept(graph):
    names = Names(nodes=[f"n{i}" for i in range(40)], features=list("abcde"), classes=["no", "yes"])
    run_details = [payload.detail(made_explanation(), NodeView())]
    labels = payload.labels(NodeView(names=names), run_details)
    # 4 is not kept, but the steps tell that it was taken out.
    assert labels["features"] == {"0": "a", "2": "c", "3": "d", "4": "e"}
    assert labels["nodes"] == {"7": "n7", "8": "n8"}
    assert labels["classes"] == {"0": "no", "1": "yes"}


def test_alternatives_come_without_the_explanation_itself(graph):
    e = made_explanation()
    other = made_explanation(nodes=(9,), features=(1,))
    shown = payload.detail(e, NodeView(**graph), [e, other])["alternatives"]
    assert [(a["nodes"], a["features"]) for a in shown] == [([9], [1])]


def test_huge_sets_are_cut_for_the_heat_map_only():
    e = made_explanation(nodes=tuple(range(200)), features=tuple(range(300)), size=(200, 300))
    graph = ring(200, 300)
    shown = payload.detail(e, NodeView(**graph))
    assert (len(shown["nodes"]), len(shown["features"])) == (200, 300)
    assert len(shown["values"]["rows"]) < 200
    assert len(shown["values"]["rows"][0]) < 300


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"edge_index": None}, "expected both or neither"),
        ({"names": Names(features=["a"])}, "feature_names: expected 5 texts, got 1"),
        ({"names": Names(nodes="abc")}, "node_names: expected a list of texts"),
        ({"names": Names(classes=[1, 2])}, "class_names: expected texts, got 1"),  # type: ignore[list-item]
        ({"y": torch.zeros(3)}, r"y: expected shape \(40,\)"),
    ],
)
def test_what_does_not_fit_is_refused(graph, changed, message):
    with pytest.raises(InputError, match=message):
        NodeView(**{**graph, **changed})
