"""`zorro explain`, `fidelity` and `runs` on a set of graphs."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import small_molecules
import torch
from restored_models import restored
from torch_geometric.data import Batch, Data

from zorro import Explanation, Zorro, open_run
from zorro.cli import naming
from zorro.cli.asked import asked
from zorro.cli.graph_data import GraphData
from zorro.cli.model_and_data import load
from zorro.cli.named_task import NamedTask
from zorro.data import load_graphs
from zorro.models import GraphTrainingSettings, checkpoint, train_graphs

QUICK = ["--samples", 40, "--tau", 0.8]
OPTIONS: dict[str, Any] = {"samples": 40, "tau": 0.8}
NOTHING_ASKED = dict.fromkeys(("nodes", "links", "graphs", "queries", "level"))
EVERY_GROUP = [list(range(small_molecules.ATOMS))]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the molecules' files, a GIN trained on them and its record."""
    folder = tmp_path_factory.mktemp("molecules")
    small_molecules.write(folder / "data")
    before = os.environ.get("ZORRO_DATA")
    os.environ["ZORRO_DATA"] = str(folder / "data")
    try:
        graphs = load_graphs("mutag")
    finally:
        del os.environ["ZORRO_DATA"]
        if before is not None:
            os.environ["ZORRO_DATA"] = before
    settings = GraphTrainingSettings(epochs=12)
    model = train_graphs("gin", graphs, settings, options={"pooling": "mean"})
    record = checkpoint.describe_graphs(
        model, "gin", graphs, settings=settings, options={"pooling": "mean"}
    )
    checkpoint.save(folder / "gin.safetensors", model, record)
    return folder


@pytest.fixture
def gin(run, made, tmp_path, monkeypatch):
    """The trained model, in the current folder."""
    monkeypatch.setenv("ZORRO_DATA", str(made / "data"))
    shutil.copy(made / "gin.json", tmp_path)
    return Path(shutil.copy(made / "gin.safetensors", tmp_path))


@pytest.fixture
def bonds(run, gin, tmp_path):
    """Words that name a model of your own that takes the bonds."""
    (tmp_path / "my_bonds.py").write_text(small_molecules.BONDS)
    return ["--dataset", "mutag", "--model", "my_bonds:Net"]


def numbers(data: GraphData, spec: str, seed: int = 0) -> list[int]:
    return [query.index for query in data.queries(spec, seed=seed)]


def found_in(text: str) -> list[dict]:
    every = [json.loads(line) | {"seconds": 0} for line in text.splitlines()]
    return sorted(every, key=lambda one: one["query"]["index"])


def expected_of(model, numbers, **options) -> list[dict]:
    zorro = Zorro.of_graphs(model, load_graphs("mutag").graphs, **OPTIONS, **options)
    return [json.loads(zorro.explain(n).to_json()) | {"seconds": 0} for n in numbers]


def plain_fidelity(model, graph, pool, *, nodes, grouped, samples=2000) -> float:
    """The share of draws with the same answer, atoms outside `nodes` being redrawn."""
    rng = np.random.default_rng(5)
    answer = model(graph.x, graph.edge_index, batch=None).argmax()
    copies = []
    for _ in range(samples):
        x = graph.x.clone()
        for node in set(range(graph.x.size(0))) - set(nodes):
            if grouped:
                x[node] = pool[rng.integers(len(pool))]
            else:
                x[node] = pool[rng.integers(len(pool), size=pool.size(1)), range(pool.size(1))]
        copies.append(Data(x=x, edge_index=graph.edge_index))
    batch = Batch.from_data_list(copies)
    with torch.no_grad():
        same = model(batch.x, batch.edge_index, batch=batch.batch).argmax(1) == answer
    return float(same.double().mean())


def test_what_is_found_is_what_the_library_finds(run, gin):
    words = ["--checkpoint", gin, "--graphs", "7,3", "--keep", "nodes", "--out", "-", *QUICK]
    result = run("explain", *words, "--feature-groups", "one-hot")
    assert result.code == 0, result.err
    assert "feature groups: 0-6\n" in result.err
    assert "edge_attr is ignored: the model takes no such argument" in result.err
    assert found_in(result.out) == expected_of(
        restored(gin), [3, 7], keep=("nodes",), feature_groups=EVERY_GROUP
    )


def test_a_certified_set_suffices_in_a_plain_loop(run, gin):
    words = [
        "--checkpoint",
        gin,
        "--graphs",
        "1,2,3,5,8,9",
        "--keep",
        "nodes",
        "--out",
        "-",
        *QUICK,
    ]
    result = run("explain", *words, "--feature-groups", "0-6")
    assert result.code == 0, result.err
    model, graphs = restored(gin), load_graphs("mutag").graphs
    pool = torch.cat([graph.x for graph in graphs])
    some = [e for e in map(Explanation.from_json, result.out.splitlines()) if e.certified]
    assert any(e.nodes for e in some)
    for e in some:
        graph = graphs[e.query.index]
        assert plain_fidelity(model, graph, pool, nodes=e.nodes, grouped=True) > 0.77


@pytest.mark.parametrize("grouped", [False, True])
def test_fidelity_is_what_a_plain_loop_counts(run, gin, grouped):
    words = ["--checkpoint", gin, "--graph", 7, "--keep-nodes", "0,2", "--samples", 2000]
    result = run("fidelity", *words, *(["--feature-groups", "one-hot"] if grouped else []))
    assert result.code == 0, result.err
    assert result.out.startswith("graph     7, gin on mutag, weights ")
    told = float(result.out.split("fidelity  ")[1].split()[0])
    graphs = load_graphs("mutag").graphs
    pool = torch.cat([graph.x for graph in graphs])
    counted = plain_fidelity(restored(gin), graphs[7], pool, nodes=[0, 2], grouped=grouped)
    assert 0.05 < counted < 0.95
    assert told == pytest.approx(counted, abs=0.05)


def test_bonds_go_into_a_model_that_takes_them(run, bonds):
    words = [*bonds, "--graphs", "7,3", "--out", "-", *QUICK]
    result = run("explain", *words)
    assert result.code == 0, result.err
    assert "edge_attr is passed to the model" in result.err
    assert "my_bonds:Net on mutag, its own weights, with edge_attr" in result.err
    import my_bonds

    model = my_bonds.Net(small_molecules.ATOMS, 2).eval()
    passed = {"edge_attr": "edge_attr"}
    assert found_in(result.out) == expected_of(model, [3, 7], model_kwargs=passed)


def test_a_run_is_kept_resumed_and_told_of_in_graphs(run, gin, tmp_path):
    words = ["explain", "--checkpoint", gin, "--graphs", "7,3,12", "--out", "kept", *QUICK]
    first = run(*words, "--engine", "processes", "--workers", 1, "--json-progress")
    assert first.code == 0, first.err
    told = [json.loads(line) for line in first.err.splitlines() if line.startswith("{")]
    assert sorted(line["graph"] for line in told) == [3, 7, 12]
    assert "3 of 3 graphs explained, 3 of them now" in first.err
    again = run(*words)
    assert "kept: 3 of 3 graphs are there already" in again.err
    assert "3 of 3 graphs explained, 0 of them now" in again.err
    shown = run("runs", "show", "kept")
    assert "3 of 3 graphs explained, " in shown.out
    assert "nodes explained" not in first.err + again.err + shown.out
    whole = run("runs", "show", "kept", "--graph", 12)
    assert whole.out.startswith("graph        12")
    assert run("runs", "export", "kept", "--csv", "e.csv", "--parquet", "e.parquet").code == 0
    assert pandas.read_csv(tmp_path / "e.csv")["graph"].tolist() == [7, 3, 12]
    assert pandas.read_parquet(tmp_path / "e.parquet")["level"].tolist() == ["graph"] * 3
    verified = run("runs", "verify", "kept", "--seed", 1)
    assert "\nverified  kept: 3 of 3 rows, gin on mutag" in verified.out, verified.err
    other = run(*words[:4], "7,3", *words[5:])
    assert "kept holds another run; it differs in queries.count" in other.err


def test_a_run_opens_its_graphs_and_model_again(run, bonds, tmp_path, monkeypatch):
    words = [*bonds, "--graphs", "3", "--out", "kept", *QUICK]
    assert run("explain", *words).code == 0
    monkeypatch.chdir("/")
    kept = open_run(tmp_path / "kept")
    named = naming.named_by(kept, trusted=["my_bonds:Net"])
    assert named is not None
    again = load(**named, trusted=["my_bonds:Net"])
    assert isinstance(again.data, GraphData)
    assert again.model_kwargs == {"edge_attr": "edge_attr"}
    assert again.digests == (kept.manifest["data"]["sha256"], kept.manifest["model"]["sha256"])
    assert run("runs", "verify", kept.path, "--model", "my_bonds:Net", "--seed", 1).code == 0
    bond_labels = Path(os.environ["ZORRO_DATA"]) / "MUTAG/raw/MUTAG_edge_labels.txt"
    text = bond_labels.read_text()
    try:
        bond_labels.write_text(text.translate(str.maketrans("01", "10")))
        refused = run("runs", "verify", kept.path, "--model", "my_bonds:Net")
    finally:
        bond_labels.write_text(text)
    assert "was made with (digest " in refused.err


def test_a_task_of_names_answers_for_graphs(run, bonds, capsys):
    named: dict[str, Any] = {
        "dataset": "mutag",
        "model": "my_bonds:Net",
        "checkpoint": None,
        "data_seed": None,
    }
    options = {**OPTIONS, "hops": None}
    sent = NamedTask(named, options, {"why_not": 0}, load(**named).digests)
    capsys.readouterr()
    answer = pickle.loads(pickle.dumps(sent)).open(workers=2)
    import my_bonds

    model = my_bonds.Net(small_molecules.ATOMS, 2).eval()
    graphs = load_graphs("mutag").graphs
    zorro = Zorro.of_graphs(model, graphs, model_kwargs={"edge_attr": "edge_attr"}, **OPTIONS)
    number = next(n for n in range(30) if zorro.explain(n).predicted_class == 1)
    expected = zorro.explain(number, why_not=0)
    assert dataclasses.replace(answer(number), seconds=0.0) == dataclasses.replace(
        expected, seconds=0.0
    )


def test_a_contrast_is_told_with_the_true_class(run, gin):
    model, graphs = restored(gin), load_graphs("mutag").graphs
    number = next(
        n for n, graph in enumerate(graphs) if int(model(graph.x, graph.edge_index).argmax()) == 1
    )
    words = ["--checkpoint", gin, "--queries", f"graph:{number}", "--why-not", 0, *QUICK]
    result = run("explain", *words)
    assert result.code == 0, result.err
    true = "mutagen ✓" if int(graphs[number].y) == 1 else "non-mutagen ✗"
    assert f"mutagen, not non-mutagen   {true}" in result.out


@pytest.mark.parametrize(
    "words",
    [
        {"graphs": "3, 9"},
        {"queries": "graph:3,graph:9"},
        {"queries": "graph:3,9"},
        {"queries": "3,9", "level": "graph"},
        {"queries": "3,9"},
    ],
    ids=str,
)
def test_the_same_graphs_in_other_words(gin, words):
    wanted = asked(**{**NOTHING_ASKED, **words})
    data = GraphData.load("mutag", seed=0)
    assert numbers(data, wanted.spec) == [3, 9]
    assert {told.level for told in wanted.told} <= {"graph"}


def test_graphs_of_the_test_part_are_told_and_drawn(gin):
    data = GraphData.load("mutag", seed=0)
    test = data.dataset.test.tolist()
    wanted = asked(**{**NOTHING_ASKED, "queries": "graph:test"})
    assert numbers(data, wanted.spec) == test
    assert set(numbers(data, "random:2", seed=1)) < set(test)
    assert numbers(data, "all") == list(range(30))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", 5], "--nodes: expected graphs, as with the checkpoint's data set mutag, got"),
        (["--queries", "node:5"], "--queries: expected graphs, as with the checkpoint's data set"),
        (["--queries", "graph:5,node:5"], "--queries: expected graphs, as with --queries graph:5"),
        (["--queries", "edge:5"], "--queries: expected one of node, graph, link, got 'edge'"),
        (["--level", "node", "--graphs", 5], "--graphs: expected nodes, as with --level node, got"),
        (
            ["--level", "edge", "--graphs", 5],
            "--level: expected one of node, graph, link, got 'edge'",
        ),
        (["--graphs", 30], "graphs: expected numbers from 0 to 29, got 30"),
        (["--graphs", "five"], 'graphs: expected "12,57", "random:20", "test" or "all", got'),
        (["--graphs", "paper"], 'graphs: expected "12,57", "random:20", "test" or "all", got'),
        (["--graphs", "random:9"], "graphs: expected at most 3, as there are so many test graphs"),
        (["--graphs", 5, "--hops", 2], "--hops: expected nothing for graphs"),
        (["--graphs", 5, "--keep", ""], "keep: expected some of 'nodes', 'features'"),
        (["--graphs", 5, "--keep", "stars"], "keep: expected some of 'nodes', 'features'"),
        (["--graphs", 5, "--feature-groups", "0-2;2,3"], "expected columns that are in no other"),
        (["--graphs", 5, "--feature-groups", "0-2;;3"], "expected groups of columns such as"),
        (["--graphs", 5, "--feature-groups", ""], "expected groups of columns such as"),
        (["--graphs", 5, "--feature-groups", "3-1"], "expected groups of columns such as"),
        (["--graphs", 5, "--feature-groups", "0-9999999999"], "columns from 0 to 6, got 9999999"),
        (["--graphs", 5, "--dataset", "cora"], "--checkpoint: expected a model of nodes or links"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_is_one_line(run, gin, words, said):
    result = run("explain", "--checkpoint", gin, *words, *QUICK)
    assert result.code == 1
    last = result.err.splitlines()[-1]
    assert last.startswith("zorro: error: ")
    assert said in last
    assert "Traceback" not in result.err


def test_nodes_and_their_models_are_not_graphs(run, checkpoint, gin, graph_file):
    words = ["--checkpoint", checkpoint, *QUICK]
    result = run("explain", *words, "--graphs", 3)
    assert "--graphs: expected nodes, as with the checkpoint's data set graph.npz" in result.err
    result = run("explain", *words, "--graphs", 3, "--dataset", "mutag")
    assert "--checkpoint: expected a model of graphs, as with --dataset mutag, got" in result.err
    result = run("fidelity", "--checkpoint", checkpoint, "--graph", 3)
    assert "--graph: expected nodes, as with" in result.err
    assert run("explain", *words, "--nodes", 5, "--out", "kept").code == 0
    result = run("runs", "show", "kept", "--graph", 5)
    assert "--graph: expected nodes, as with RUN, got graphs (5)" in result.err
    result = run("report", "kept", "--dataset", "mutag")
    assert "expected a model of graphs, as with --dataset mutag" in result.err
    words = ["--dataset", "mutag", "--model", "gin", "--checkpoint", "paper", "--graphs", 3]
    assert "a model of nodes (paper)" in run("explain", *words).err


def test_one_of_the_options_is_needed(run, gin):
    for words in ([], ["--nodes", 3, "--graphs", 3]):
        result = run("explain", "--checkpoint", gin, *words)
        assert result.code == 2
        assert "expected one of them, got" in result.err
        assert run("fidelity", "--checkpoint", gin, "--node", 1, "--graph", 1).code == 2


def test_a_set_of_graphs_is_not_converted(run, gin):
    result = run("convert", "--dataset", "mutag", "--out", "stored")
    assert result.code == 1
    assert "--dataset: expected one graph, got mutag, which is a set of graphs" in result.err
    assert len(result.err.splitlines()) == 1


def test_a_graph_without_nodes_is_refused(run, gin, tmp_path, monkeypatch):
    small_molecules.write(tmp_path / "other")
    path = tmp_path / "other/MUTAG/raw/MUTAG_graph_indicator.txt"
    owners = [int(line) for line in path.read_text().split()]
    path.write_text("\n".join(str(one + (one > 4)) for one in owners))  # the fifth has none
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "other"))
    result = run("explain", "--checkpoint", gin, "--graphs", 3)
    assert result.code == 1
    assert "expected numbers 1, 1, …, 2, 2, … without a gap" in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"level": "edge"}, "level: expected one of node, graph, link in the record, got 'edge'"),
        ({"options": ["add"]}, "options: expected the model's own in the record"),
        ({"options": {"level": "node"}}, "options: expected the model's own in the record"),
        ({"options": {"pooling": "sum"}}, "pooling: expected one of add, max, mean"),
        ({"level": "node"}, "--checkpoint: expected a model of graphs, as with the checkpoint's"),
    ],
    ids=str,
)
def test_a_record_that_others_wrote(run, gin, change, said):
    path = gin.with_suffix(".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    result = run("explain", "--checkpoint", gin, "--graphs", 3)
    assert result.code == 1
    assert said in result.err
    assert len(result.err.splitlines()) == 1


def test_sizes_are_listed_as_they_are(run, data_dir):
    lines = run("datasets").out.splitlines()
    listed = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
    for name in ("mutag", "proteins"):
        graphs = load_graphs(name)
        sizes = [graph.num_nodes for graph in graphs.graphs]
        told = f"{len(sizes):,} graphs of {min(sizes)} to {max(sizes)} "
        assert listed[name].startswith(told)
        assert f" {graphs.num_features} features" in listed[name]


def test_a_run_of_graphs_is_audited_compared_and_measured_again(run, gin, tmp_path):
    words = ["explain", "--checkpoint", gin, "--graphs", "0,1,2,3,4,5", *QUICK]
    assert run(*words, "--out", "kept").code == 0
    result = run("audit", "kept", "-o", "audit.html", "--json", "audit.json")
    assert result.code == 0, result.err
    told = json.loads((tmp_path / "audit.json").read_text())
    assert (told["explanations"], told["has_graph"]) == (6, True)
    assert sum(len(cell["keys"]) for cell in told["cells"]) == 6
    assert all(
        profile["nodes"] == [] for profile in told["classes"]
    )  # which mean nothing elsewhere
    compared = run("compare", "kept", "kept", "--samples", 20)
    assert compared.code == 0, compared.err
    assert "6 graphs are in both runs" in compared.out
    verified = run("runs", "verify", "kept", "--samples", 100, "--seed", 1)
    assert verified.code == 0, verified.err
    assert "counted   on 100 samples each, of seed 1: " in verified.out
