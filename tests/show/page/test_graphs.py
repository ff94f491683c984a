"""What pages show of explanations of whole graphs."""

import json
from typing import Any

import pytest
import torch
from made_molecules import CountsNitrogen, molecule_run, molecules
from made_runs import made_explanation, made_run, ring, small_model
from torch_geometric.data import Data

from zorro import Explanation
from zorro.errors import InputError
from zorro.question import Query
from zorro.show import report
from zorro.show.page import payload
from zorro.show.page.graph_view import GraphView
from zorro.show.page.run_inputs import RunInputs, run_inputs


@pytest.fixture(scope="module")
def model():
    return CountsNitrogen().eval()


@pytest.fixture(scope="module")
def run(tmp_path_factory, model):
    """Sets of atoms alone, whose types are one feature."""
    folder = tmp_path_factory.mktemp("runs") / "atoms"
    return molecule_run(folder, model, keep=("nodes",), feature_groups=[range(3)])


@pytest.fixture(scope="module")
def both(tmp_path_factory, model):
    """Sets of atoms and of atom types, of which two are one."""
    return molecule_run(
        tmp_path_factory.mktemp("runs") / "both", model, feature_groups=[[0, 1]], numbers=[0]
    )


def shown(run, **options):
    inputs = run_inputs(graphs=molecules(), **options)
    return payload.of_run(run, inputs.view(run))


def test_a_payload_of_graphs_is_plain_data(run):
    data = shown(run)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert [row["query"] for row in data["rows"]] == [0, 1, 4]
    assert list(data["details"]) == ["0", "1", "4"]
    assert data["summary"]["data"]["graphs"] == 8
    assert data["labels"]["level"] == "graph"
    assert [data["labels"][noun] for noun in ("graph", "node", "feature")] == [
        "molecule", "atom", "atom type",
    ]  # fmt: skip
    assert data["labels"]["kinds"]["names"] == {"0": "C", "1": "N", "2": "O"}
    assert data["labels"]["kinds"]["areAtoms"]


def test_a_sentence_speaks_of_the_graph_and_its_parts(run):
    (first, *_) = run
    said = "".join(text for text, _ in shown(run)["details"]["0"]["sentence"])
    assert said.startswith("The model says harmful")
    assert "for molecule 0" in said
    atoms = len(first.nodes)
    assert f"Keeping {atoms} atom{'s' if atoms > 1 else ''} fixed" in said.replace("\u00a0", " ")


def test_truth_is_told_where_graphs_have_classes(run):
    data = shown(run)
    assert data["summary"]["answers"]["right"] == 3
    assert [row["truth"] for row in data["rows"]] == [1, 1, 1]
    bare = [Data(x=g.x, edge_index=g.edge_index) for g in molecules().graphs]
    without = payload.of_run(run, GraphView(bare))
    assert without["summary"]["answers"]["right"] is None
    assert without["rows"][0]["truth"] is None


def test_the_whole_graph_is_drawn_with_its_atoms_and_bonds(run):
    (first, *_) = run
    scene = shown(run)["details"]["0"]["scene"]
    graph = molecules().graphs[0]
    assert scene["centre"] == 0
    assert [node[0] for node in scene["nodes"]] == list(range(9))
    assert [node[5] for node in scene["nodes"]] == graph.x.argmax(1).tolist()
    assert {node[0] for node in scene["nodes"] if node[4]} == set(first.nodes)
    flat = scene["edges"]
    bonds = {
        tuple(sorted(pair)): bond
        for *pair, bond in zip(flat[::2], flat[1::2], scene["bonds"], strict=True)
    }
    assert bonds[0, 1] == "aromatic"
    assert bonds[6, 7] == "single"
    assert bonds[7, 8] == "double"
    assert len(bonds) == graph.edge_index.size(1) // 2


def test_a_kind_that_sets_are_not_of_is_nowhere(run):
    data = shown(run)
    assert data["summary"]["kept"] == ["nodes"]
    assert list(data["summary"]["medians"]) == ["nodes"]
    assert all(row["features"] is None for row in data["rows"])
    assert data["details"]["0"]["features"] is None
    assert data["details"]["0"]["values"] is None, "what an atom is, the drawing says"


def test_a_set_of_features_shows_the_values_of_all_nodes(tmp_path, model):
    run = molecule_run(tmp_path / "run", model, keep=("features",), numbers=[0])
    (found,) = run
    data = shown(run)
    values = data["details"]["0"]["values"]
    assert data["details"]["0"]["nodes"] is None
    assert values["nodes"] == list(range(9))
    assert values["features"] == list(found.features)
    expected = molecules().graphs[0].x[:, list(found.features)]
    assert torch.equal(torch.tensor(values["rows"]).float(), expected)


def test_a_group_of_features_is_one_with_a_name(both):
    (found,) = both
    held = set(found.features)
    assert held in ({0, 1}, {0, 1, 2}, {2}), "a group is kept as one"
    data = shown(both)
    first = [0] * (0 in held) + [2] * (2 in held)
    detail = data["details"]["0"]
    assert detail["features"] == first
    assert data["rows"][0]["features"] == len(first)
    assert data["labels"]["features"]["0"] == "C, N"
    assert {step[1] for step in detail["steps"] if step[0] == "feature"} <= {0, 2}


def test_the_value_of_a_group_is_what_is_set():
    graphs = molecules().graphs
    view = GraphView(graphs, names=run_inputs(graphs=molecules()).names)
    held = view.values(Query("graph", 0), [6, 8], [(0, 1, 2)])
    assert held is not None
    assert held.rows == [["N"], ["O"]]
    part = view.values(Query("graph", 0), [6, 8], [(0, 1), (2,)])
    assert part is not None
    assert part.rows == [["N", 0], ["0, 0", 1]]


def test_a_report_of_graphs_is_written(run, model, tmp_path):
    size = report.write(run, tmp_path / "r.html", model=model, graphs=molecules())
    text = (tmp_path / "r.html").read_text()
    assert size == len(text.encode())
    assert '"molecule"' in text


def test_a_list_of_graphs_will_do(run, model, tmp_path):
    report.write(run, tmp_path / "r.html", model=model, graphs=molecules().graphs)
    assert '"graph":"graph"' in (tmp_path / "r.html").read_text()


def test_without_the_graphs_there_is_a_report_without_drawings(run, tmp_path):
    assert report.write(run, tmp_path / "r.html") > 0
    data = payload.of_run(run, RunInputs().view(run))
    assert data["details"]["0"]["scene"] is None
    assert not data["summary"]["hasGraph"]


def test_what_the_run_was_not_made_with_is_refused(run, tmp_path, model):
    other = molecules().graphs[:-1]
    with pytest.raises(InputError, match=r"data: expected those that .*, got others"):
        report.write(run, tmp_path / "r.html", graphs=other)
    with pytest.raises(
        InputError, match="expected data whose graphs are asked about, got data whose nodes"
    ):
        report.write(run, tmp_path / "r.html", **ring())
    with pytest.raises(InputError, match="instead of x, edge_index, y and links"):
        report.write(run, tmp_path / "r.html", **ring(), graphs=other)
    nodes = made_run(tmp_path / "nodes", [made_explanation()], graph=ring(), model=small_model())
    with pytest.raises(
        InputError, match="expected data whose nodes are asked about, got data whose graphs"
    ):
        report.write(nodes, tmp_path / "r.html", graphs=other)


def test_alternatives_of_graphs_are_found(run, model):
    told: list[Any] = []
    found = report.alternatives_of(run, 1, model=model, graphs=molecules(), on_query=told.append)
    assert list(found) == told == [0, 1, 4]
    for explanation in run:
        for other in found[explanation.query.index]:
            assert other.query == explanation.query
            assert not set(other.nodes) & set(explanation.nodes)


def test_a_notebook_speaks_of_the_graph(run):
    (first, *_) = run
    html = first._repr_html_()
    assert "for graph 0" in html
    assert "9 nodes × 3 features, all of the graph" in html
    assert "hops" not in html
    assert "far away" not in html


def test_without_names_graphs_are_graphs_and_nodes_are_nodes(run):
    bare = [Data(x=g.x + 0.5, edge_index=g.edge_index) for g in molecules().graphs]
    (first, *_) = run
    assert isinstance(first, Explanation)
    detail = payload.detail(first, GraphView(bare))
    assert detail["kinds"] is None
    assert detail["scene"]["bonds"] == []
    assert all(node[5] is None for node in detail["scene"]["nodes"])
    assert detail["lookedAt"] == "all 9 nodes of the graph"
