"""A run is resumed, refuses what it was not asked, and is read back as it was found."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import Any

import duckdb
import pandas
import polars
import pytest
import torch
from run_tasks import Misbehaving, small_task
from torch_geometric.data import Data

from zorro import Explanation, explain_many, open_run
from zorro.data import open_stored, store
from zorro.errors import InputError, RunError
from zorro.question import About
from zorro.runs import export
from zorro.runs.digests import data_digest, digest
from zorro.runs.engines import InProcess
from zorro.runs.flat import columns
from zorro.runs.folder import MANIFEST, OUTCOMES, locked
from zorro.runs.manifest import describe
from zorro.runs.many import record
from zorro.runs.store import Store
from zorro.runs.task import LoadedTask, Query, failed

NODES = [9, 4, 30]


def kept(path, task, nodes=NODES, **options):
    """Run what is missing; return the nodes that were explained now."""
    manifest = describe(small_task(), nodes)
    engine = InProcess()
    outcomes = record(path, task, nodes, manifest=manifest, engine=engine, **options)
    return [outcome.query.key for outcome in outcomes]


@pytest.fixture
def whole(tmp_path, task):
    kept(tmp_path / "run", task)
    return open_run(tmp_path / "run")


def test_explain_many_keeps_what_explain_finds(tmp_path, task):
    seen = []
    run = explain_many(
        task.model,
        task.data.x,
        task.data.edge_index,
        NODES,
        out=tmp_path / "run",
        samples=20,
        fresh_samples=50,
        why_not=1,
        contrast="not",
        on_outcome=lambda outcome: seen.append(outcome.query.key),
    )
    zorro = task.zorro()
    expected = {}
    for node in NODES:
        try:
            expected[node] = zorro.explain(node, why_not=1, contrast="not").nodes
        except InputError:
            continue  # class 1 is the prediction
    assert {e.node: e.nodes for e in run} == expected
    assert len(run) + len(run.failures()) == 3
    assert seen == NODES
    assert "why_not: expected another class" in run.failures()[0].error
    assert run.manifest["parameters"]["why_not"] == 1


def test_processes_open_a_stored_graph_themselves(tmp_path, task):
    order = task.data.edge_index[1].argsort(stable=True)
    edge_index = task.data.edge_index[:, order]
    store(Data(x=task.data.x, edge_index=edge_index), tmp_path / "graph")
    graph = open_stored(tmp_path / "graph")
    quick: dict[str, Any] = {
        "workers": 1,
        "samples": 20,
        "fresh_samples": 50,
        "check": "local",
    }
    ways: list[tuple[str, Any, tuple[Any, Any]]] = [
        ("stored", "processes", (graph.x, graph.edge_index)),
        ("in memory", "in-process", (task.data.x, edge_index)),
    ]
    runs = [
        explain_many(task.model, *parts, NODES, out=tmp_path / name, engine=engine, **quick)
        for name, engine, parts in ways
    ]
    ours, theirs = ([replace(each, seconds=0) for each in run] for run in runs)
    assert len(ours) == 3
    assert ours == theirs
    data = runs[0].manifest["data"]
    assert (data["nodes"], data["edges"]) == (graph.num_nodes, graph.num_edges)
    explain_many(
        task.model, graph.x, graph.edge_index, NODES, out=tmp_path / "stored", **quick
    )  # the same run


class Weighed(torch.nn.Module):
    """Scores of which one part comes from an argument: it must be where the model is."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)

    def forward(self, x, edge_index, weight):
        assert x.device == weight.device == self.linear.weight.device
        return self.linear(x[:, :2]) * weight


@pytest.mark.parametrize("device", [None, "cpu", torch.device("cpu", 0)])
def test_workers_take_all_to_a_device_and_a_run_does_not_depend_on_it(tmp_path, task, device):
    model = Weighed().to("cpu")
    weights = {"weight": torch.ones(task.data.x.size(0), 1)}
    quick: dict[str, Any] = {"engine": "in-process", "samples": 20}
    for where in (device, None):
        run = explain_many(
            model,
            task.data.x,
            task.data.edge_index,
            NODES,
            out=tmp_path / "run",
            device=where,
            model_kwargs=weights,
            **quick,
        )
    assert [one.node for one in run] == NODES
    assert run.failures() == []


def test_a_device_that_is_not_there_is_named(tmp_path, task):
    given = (task.model, task.data.x, task.data.edge_index, NODES)
    with pytest.raises(
        InputError, match=r"device: expected a device that can be used here, got 'nowhere'"
    ):
        explain_many(*given, out=tmp_path / "run", device="nowhere", engine="in-process")
    store(Data(x=task.data.x, edge_index=task.data.edge_index), tmp_path / "graph")
    graph = open_stored(tmp_path / "graph")
    with pytest.raises(InputError, match="device: expected None for a stored graph, got 'cpu'"):
        explain_many(
            task.model, graph.x, graph.edge_index, NODES, out=tmp_path / "two", device="cpu"
        )


def test_only_what_is_missing_is_computed(tmp_path, task):
    path = tmp_path / "deep" / "run"
    outcomes = record(path, task, NODES, manifest=describe(task, NODES), engine=InProcess())
    first = next(outcomes)
    outcomes.close()  # as if it were interrupted
    assert [e.node for e in open_run(path)] == [9]
    assert kept(path, task) == [4, 30]
    assert kept(path, task) == []
    run = open_run(path)
    assert [e.node for e in run] == NODES
    assert run.explanation(9).to_json() == first.explanation
    assert repr(run).endswith("3 of 3 nodes explained, 3 certified, 0 failed)")


def test_failures_are_kept_and_tried_again_on_request(tmp_path, task):
    path = tmp_path / "run"
    assert kept(path, Misbehaving(task, {4: "raise"})) == NODES
    run = open_run(path)
    assert [e.node for e in run] == [9, 30]
    (failure,) = run.failures()
    assert (failure.query.index, failure.error) == (4, "ValueError: node 4 is not to be explained")
    assert failure.trace is not None
    assert "misbehave" in failure.trace
    with pytest.raises(
        InputError, match="node: expected one that could be explained, got 4: ValueError"
    ):
        run.explanation(4)
    assert kept(path, task) == []
    assert kept(path, task, retry_failed=True) == [4]
    assert run.failures() == []
    assert [e.node for e in run] == NODES


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options": {"tau": 0.9}}, "parameters.tau: 0.85 there, 0.9 now"),
        ({"options": {"seed": 3}}, "parameters.seed: 0 there, 3 now"),
        ({"nodes": [9, 4]}, "queries.count: 3 there, 2 now"),
        ({"x": True}, "data.sha256"),
        ({"model": True}, "model.sha256"),
        ({"question": {"why_not": 2}}, "parameters.why_not: null there, 2 now"),
    ],
)
def test_another_run_is_refused_with_the_difference(tmp_path, task, change, said):
    kept(tmp_path / "run", task)
    other = small_task(**change.get("options", {}))
    if change.get("x"):
        other.data.x[0, 0] += 1
    if change.get("model"):
        with torch.no_grad():
            next(other.model.parameters())[0] += 1
    if "question" in change:
        other = LoadedTask(other.model, other.data, other.options, change["question"])
    before = open_run(tmp_path / "run").counts()
    manifest = describe(other, change.get("nodes", NODES))
    outcomes = record(tmp_path / "run", other, NODES, manifest=manifest, engine=InProcess())
    with pytest.raises(RunError) as refused:
        list(outcomes)
    assert said in str(refused.value)
    assert open_run(tmp_path / "run").counts() == before


def test_the_digest_sees_every_part():
    x = torch.arange(6.0).view(2, 3)
    csr = x.to_sparse_csr()
    values = [x, x.view(3, 2), x.double(), x + 1, csr, torch.tensor(0.0), torch.tensor(1.0), "x", 1]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(x) == digest(x.clone())
    assert digest(x.t().contiguous()) == digest(x.t())
    assert digest(x.to_sparse_coo()) == digest(x.to_sparse_coo().coalesce())


def test_a_folder_with_something_else_is_left_alone(tmp_path, task):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match="holds something else"):
        kept(tmp_path / "run", task)
    assert [entry.name for entry in (tmp_path / "run").iterdir() if entry.name != "lock"] == [
        "thesis.tex"
    ]
    (tmp_path / "file").write_text("precious")
    with pytest.raises(RunError, match="file"):
        kept(tmp_path / "file", task)


def test_a_run_has_one_driver(tmp_path, task):
    with locked(tmp_path / "run"), pytest.raises(RunError, match="by another process"):
        kept(tmp_path / "run", task)
    assert kept(tmp_path / "run", task) == NODES


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (MANIFEST, None, "has no manifest.json"),
        (MANIFEST, "{", "is damaged"),
        (MANIFEST, "[]", "is damaged"),
        (MANIFEST, '{"format": 99, "queries": {"count": 3}}', "has format 99"),
        (OUTCOMES, "not a database, certainly not one" * 30, "damaged, or something else"),
    ],
)
def test_a_damaged_run_says_so(whole, name, content, said):
    (whole.path / name).unlink()
    if content is not None:
        (whole.path / name).write_text(content)
    with pytest.raises(RunError) as error:
        len(open_run(whole.path))
    assert said in str(error.value)


def test_the_names_of_further_arguments_are_part_of_the_data(task):
    same = torch.ones(task.data.edge_index.size(1))
    every = [{}, {"edge_weight": same}, {"edge_attr": same}, {"edge_weight": 2 * same}]
    assert len({data_digest(task.data.x, task.data.edge_index, further) for further in every}) == 4


def test_a_run_that_is_not_there(tmp_path):
    with pytest.raises(RunError, match="there is no run at"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="nodes: expected at least one"):
        explain_many(*parts(small_task()), [], out=tmp_path / "run")
    with pytest.raises(InputError, match="nodes: expected whole numbers from 0 to 59, got 60"):
        explain_many(*parts(small_task()), [3, 60], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def parts(task) -> tuple[Any, Any, Any]:
    return task.model, task.data.x, task.data.edge_index


def test_a_reader_sees_what_the_writer_has_kept(tmp_path, task):
    path = tmp_path / "run"
    outcomes = record(path, task, NODES, manifest=describe(task, NODES), engine=InProcess())
    for done, _ in enumerate(outcomes, start=1):
        assert len(open_run(path)) == done
    # Afterwards there is one file, which can be copied alone.
    assert sorted(entry.name for entry in path.iterdir()) == ["lock", MANIFEST, OUTCOMES]


def test_rows_are_committed_one_by_one(tmp_path):
    with Store(tmp_path / OUTCOMES, write=True) as store:
        store.add(failed(Query(0, 7), "first"))
        other = sqlite3.connect(tmp_path / OUTCOMES)
        assert other.execute("SELECT node, error FROM outcomes").fetchall() == [(7, "first")]
        other.close()
        store.add(failed(Query(0, 7), "second"))
        assert [outcome.error for outcome in store.outcomes()] == ["second"]


def test_exports_are_read_by_other_tools(tmp_path, task):
    kept(tmp_path / "run", Misbehaving(task, {4: "raise"}))
    run = open_run(tmp_path / "run")
    by_node = {e.node: e for e in run}
    files = {name: tmp_path / "new" / f"e.{name}" for name in export.FORMATS}
    counts = {name: write(run, files[name]) for name, write in export.FORMATS.items()}
    assert counts == {"parquet": 3, "csv": 3, "jsonl": 2}
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "e.csv",
        "e.jsonl",
        "e.parquet",
    ]
    everything = duckdb.sql(f"SELECT * FROM '{files['parquet']}'")
    assert everything is not None
    frames = {
        "pandas": pandas.read_parquet(files["parquet"]).to_dict("records"),
        "polars": polars.read_parquet(files["parquet"]).to_dicts(),
        "duckdb": everything.to_arrow_table().to_pylist(),
    }
    for rows in frames.values():
        assert [row["node"] for row in rows] == NODES
        assert list(rows[0]) == list(columns(About("node")))
        for row in (rows[0], rows[2]):
            e = by_node[row["node"]]
            assert list(row["nodes"]) == list(e.nodes)
            assert list(row["features"]) == list(e.features)
            assert row["fidelity"] == e.fidelity.value
            assert row["certified"] is True or row["certified"] == 1
            assert e.certificate is not None
            assert row["bound"] == e.certificate.bound
        assert rows[1]["error"] == "ValueError: node 4 is not to be explained"
    # Lists can be queried as lists.
    most = duckdb.sql(f"SELECT max(len(features)) FROM '{files['parquet']}'")
    assert most is not None
    ((longest,),) = most.fetchall()
    assert longest == max(len(e.features) for e in run)
    from_csv = pandas.read_csv(files["csv"])
    assert json.loads(from_csv["nodes"][0]) == list(by_node[9].nodes)
    lines = files["jsonl"].read_text().splitlines()
    assert [Explanation.from_json(line) for line in lines] == list(run)
    frame = run.frame()
    assert frame["node"].tolist() == NODES
    assert frame["nodes"][0] == list(by_node[9].nodes)


def test_an_export_that_cannot_be_written_leaves_nothing(whole, tmp_path):
    target = tmp_path / "file"
    target.write_text("precious")
    for write in export.FORMATS.values():
        with pytest.raises(RunError, match="could not be written"):
            write(whole, target / "inside")
    assert target.read_text() == "precious"


def test_a_run_that_has_just_begun_is_empty(tmp_path, task):
    outcomes = record(
        tmp_path / "run", task, NODES, manifest=describe(task, NODES), engine=InProcess()
    )
    next(outcomes)
    outcomes.close()
    (tmp_path / "run" / OUTCOMES).unlink()
    run = open_run(tmp_path / "run")
    assert (len(run), list(run), run.failures()) == (0, [], [])
    assert run.counts().certified == 0
