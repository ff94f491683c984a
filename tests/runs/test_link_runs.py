"""Many links: kept, resumed, the same whoever computes them, told by both ends."""

import csv
import dataclasses
import json
import os
import signal
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from run_tasks import NODES, links_task, small_task
from torch_geometric.data import Data

from zorro import Explanation, Zorro, explain_links, explain_many, open_run
from zorro.data import open_stored, store
from zorro.errors import InputError, RunError
from zorro.question import Query
from zorro.runs import export
from zorro.runs.again import options_of, refuse_other_data, refuse_other_model
from zorro.runs.engines import InProcess
from zorro.runs.given import LinksOf, OneGraph
from zorro.runs.manifest import describe
from zorro.runs.many import record

OPTIONS: dict[str, Any] = {"samples": 20, "fresh_samples": 50, "threshold": 0.0}
PAIRS = [(3, 17), (17, 3), (40, 5), (0, 1), (3, 40)]


@pytest.fixture
def parts():
    """Model, features and edges; 0–1 is an edge of them."""
    task = links_task()
    return task.model, task.data.graph.x, task.data.graph.edge_index


def timeless(explanations):
    return [dataclasses.replace(each, seconds=0.0) for each in explanations]


def found_alone(parts: tuple[Any, Any, Any], pairs=PAIRS, question=None, **options):
    """What an explainer finds that was made for each link alone."""
    return timeless(
        Zorro.of_links(*parts, **OPTIONS | options).explain(pair, **(question or {}))
        for pair in pairs
    )


def ahead_of(parts, u, ends):
    """Those ends, none of them a neighbour, the one with the highest score first."""
    model, x, edge_index = parts
    asked = torch.tensor([[u] * len(ends), list(ends)])
    with torch.no_grad():
        scores = model.decode(model.encode(x, edge_index), asked)
    return [ends[place] for place in scores.argsort(descending=True).tolist()]


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_a_run_holds_what_a_fresh_explainer_finds_for_each_link(
    parts: tuple[Any, Any, Any], tmp_path, engine
):
    run = explain_links(*parts, PAIRS, out=tmp_path / "run", engine=engine, workers=1, **OPTIONS)
    assert timeless(run) == found_alone(parts)
    assert [(e.query.index, e.query.to) for e in run] == PAIRS
    assert run.level == "link"
    assert len({e.selected["nodes"] for e in run}) > 1
    again: list[Any] = []
    explain_links(*parts, PAIRS, out=tmp_path / "run", on_outcome=again.append, **OPTIONS)
    assert again == []


def test_a_tensor_of_pyg_tells_the_same_links(parts: tuple[Any, Any, Any], tmp_path):
    out = tmp_path / "run"
    explain_links(*parts, PAIRS[:2], out=out, **OPTIONS)
    for again in (torch.tensor(PAIRS[:2]).t(), np.array(PAIRS[:2]).T, [*PAIRS[:2], PAIRS[0]]):
        outcomes: list[Any] = []
        run = explain_links(*parts, again, out=out, on_outcome=outcomes.append, **OPTIONS)
        assert outcomes == []
    assert run.asked == 2


def driven(path, most):
    """Explain what is missing in a child process, which kills itself after so many."""
    child = os.fork()
    if child == 0:
        task = links_task()
        keys = [Query("link", *pair).key for pair in PAIRS]
        kept = record(path, task, keys, manifest=describe(task, keys), engine=InProcess())
        for done, _ in enumerate(kept, start=1):
            if done == most:
                os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def test_what_a_killed_run_has_kept_is_not_computed_again(parts: tuple[Any, Any, Any], tmp_path):
    path = tmp_path / "run"
    driven(path, 2)
    kept = list(open_run(path))
    assert [(e.query.index, e.query.to) for e in kept] == PAIRS[:2]
    driven(path, 1)
    assert list(open_run(path))[:2] == kept
    asked: list[Any] = []
    run = explain_links(*parts, PAIRS, out=path, on_outcome=asked.append, **OPTIONS)
    assert [outcome.query.key for outcome in asked] == [Query("link", *p).key for p in PAIRS[3:]]
    assert list(run)[:2] == kept
    assert timeless(run) == found_alone(parts)


def test_a_link_that_carries_messages_is_another_question(parts: tuple[Any, Any, Any], tmp_path):
    said: dict[str, Any] = {"carries_messages": True}
    run = explain_links(*parts, [(0, 1)], out=tmp_path / "with", **OPTIONS | said)
    assert timeless(run) == found_alone(parts, [(0, 1)], **said)
    (other,) = explain_links(*parts, [(0, 1)], out=tmp_path / "without", **OPTIONS)
    assert other.probabilities != next(iter(run)).probabilities
    assert "carries_messages" not in open_run(tmp_path / "without").manifest["parameters"]
    with pytest.raises(RunError, match=r"parameters\.carries_messages: true there, null now"):
        explain_links(*parts, [(0, 1)], out=tmp_path / "with", **OPTIONS)


@pytest.mark.parametrize(
    ("kind", "engine"),
    [("why_not", "in-process"), ("among", "processes"), ("iterator", "in-process")],
)
def test_links_that_are_compared_with_others(parts: tuple[Any, Any, Any], tmp_path, kind, engine):
    ends = ahead_of(parts, 3, [12, 17, 25, 33, 41, 50])
    pairs = [(3, ends[0]), (3, ends[1])]
    plain: dict[str, Any] = (
        {"why_not": [3, ends[2]]} if kind == "why_not" else {"among": ends, "top": 3}
    )
    question = {"among": iter(ends), "top": 3} if kind == "iterator" else plain
    how = {"engine": engine, "workers": 1, **OPTIONS}
    run = explain_links(*parts, pairs, out=tmp_path / "run", **how | question)
    assert timeless(run) == found_alone(parts, pairs, plain)
    assert plain.items() <= run.manifest["parameters"].items()
    rivals = [ends[2]] if kind == "why_not" else ends[1:]
    assert run.frame()["rivals"].tolist()[0] == rivals
    assert run.frame()["top"].tolist() == [plain.get("top", 1)] * 2
    explain_links(*parts, pairs, out=tmp_path / "run", **OPTIONS | plain)  # the same run


def test_a_link_that_is_behind_fails_alone(parts: tuple[Any, Any, Any], tmp_path):
    first, second, third = ahead_of(parts, 3, [12, 17, 25])
    run = explain_links(
        *parts, [(3, first), (3, third)], out=tmp_path / "run", why_not=(3, second), **OPTIONS
    )
    assert len(run) == 1
    (failure,) = run.failures()
    assert str(failure.query) == f"link 3–{third}"
    assert "is ahead of" in failure.error
    with pytest.raises(
        InputError, match=rf"^link: expected one that could be explained, got 3–{third}: InputError"
    ):
        run.explanation((3, third))
    row = run.frame().iloc[1]
    assert (row["source"], row["target"], row["status"]) == (3, third, "failed")


def test_one_link_of_a_run_is_found_by_its_ends(parts: tuple[Any, Any, Any], tmp_path):
    run = explain_links(*parts, PAIRS, out=tmp_path / "run", **OPTIONS)
    for asked in ((17, 3), [17, 3], (np.int64(17), torch.tensor(3))):
        found = run.explanation(asked)
        assert (found.query.index, found.query.to) == (17, 3)
    with pytest.raises(
        InputError, match=r"^link: expected one that has been explained in .*, got 5–40"
    ):
        run.explanation((5, 40))
    for wrong in (17, (17,), (17, 3, 4), "17-3"):
        with pytest.raises(InputError, match=r"^link: expected two nodes \(u, v\), got"):
            run.explanation(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^link: expected a whole number from 0, got -1"):
        run.explanation((17, -1))


def test_exports_tell_both_ends_and_come_back(parts: tuple[Any, Any, Any], tmp_path):
    run = explain_links(*parts, PAIRS, out=tmp_path / "run", **OPTIONS)
    assert [export.FORMATS[kind](run, tmp_path / f"links.{kind}") for kind in export.FORMATS] == [
        5,
        5,
        5,
    ]
    table = pandas.read_parquet(tmp_path / "links.parquet")
    with (tmp_path / "links.csv").open() as file:
        written = list(csv.DictReader(file))
    for rows in (table.to_dict("records"), written):
        assert [(int(row["source"]), int(row["target"])) for row in rows] == PAIRS
        assert {row["level"] for row in rows} == {"link"}
        assert "node" not in rows[0]
    assert table["nodes"].map(list).tolist() == [list(e.nodes) for e in run]
    assert table["certified"].tolist() == [e.certified for e in run]
    lines = (tmp_path / "links.jsonl").read_text().splitlines()
    assert [Explanation.from_json(line) for line in lines] == list(run)
    assert pandas.isna(table["top"]).all()
    assert [list(each) for each in table["rivals"]] == [[]] * 5


def test_what_a_run_was_made_with_is_recognised_and_asked_again(
    parts: tuple[Any, Any, Any], tmp_path
):
    model, x, edge_index = parts
    said: dict[str, Any] = {"carries_messages": True, "keep": ("nodes",)}
    run = explain_links(*parts, [(0, 1)], out=tmp_path / "run", **OPTIONS | said)
    data = LinksOf(OneGraph(x, edge_index))
    refuse_other_data(run, data, {})
    refuse_other_model(run, model)
    again = data.explainer(model, options_of(run.manifest["parameters"]))
    assert timeless([again.explain((0, 1))]) == timeless(run)
    with pytest.raises(InputError, match=r"was made with .*, got others"):
        refuse_other_data(run, LinksOf(OneGraph(x, edge_index[:, 1:])), {})
    with pytest.raises(RunError, match=r"data\.level: \"link\" there, null now"):
        explain_many(small_task().model, x, edge_index, [0], out=tmp_path / "run", samples=20)


def test_runs_of_nodes_are_told_as_they_were_before(tmp_path):
    task = small_task()
    run = explain_many(
        task.model, task.data.x, task.data.edge_index, [5], out=tmp_path / "run", samples=20
    )
    assert set(run.manifest["data"]) == {"nodes", "features", "edges", "sha256"}
    assert not {"why_not", "among", "top", "carries_messages"} & set(run.manifest["parameters"])
    with closing(sqlite3.connect(tmp_path / "run/outcomes.sqlite")) as kept:
        assert kept.execute("SELECT node FROM outcomes").fetchall() == [(5,)]


def test_rows_of_other_queries_are_damaged(parts: tuple[Any, Any, Any], tmp_path):
    out = tmp_path / "run"
    explain_links(*parts, PAIRS[:3], out=out, **OPTIONS)
    with closing(sqlite3.connect(out / "outcomes.sqlite")) as kept, kept:
        other = Query("link", 5, 40).key
        kept.execute(f"UPDATE outcomes SET node = {other} WHERE position = 0")
        kept.execute("UPDATE outcomes SET node = 7 WHERE position = 1")
        kept.execute(
            "UPDATE outcomes SET node = 8, explanation = NULL, status = 'failed', certified = 0 "
            "WHERE position = 2"
        )
    run = open_run(out)
    assert [str(row.reason)[:4] for row in run.damaged()] == ["link", "link", "node"]
    with pytest.raises(RunError, match=r"row 0 \(link 5–40\) is damaged"):
        list(run)
    frame = run.frame()
    assert frame["status"].tolist() == ["damaged"] * 3
    assert frame["source"].isna().tolist() == [False, True, True]
    retried: list[Any] = []
    again: dict[str, Any] = {"retry_failed": True, "on_outcome": retried.append}
    run = explain_links(*parts, PAIRS[:3], out=out, **OPTIONS | again)
    assert len(retried) == 3
    assert timeless(run) == found_alone(parts, PAIRS[:3])


def test_a_manifest_of_another_level_is_damaged(parts: tuple[Any, Any, Any], tmp_path):
    out = tmp_path / "run"
    explain_links(*parts, PAIRS[:1], out=out, **OPTIONS)
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "data": {**manifest["data"], "level": "edge"}}))
    with pytest.raises(RunError, match=r"data\.level: expected one of node, graph, link, got"):
        open_run(out)
    del manifest["data"]["level"]
    path.write_text(json.dumps(manifest))
    (damaged,) = open_run(out).damaged()
    assert "level: link, in a run of level node" in damaged.reason


def test_edges_on_disk_carry_messages(parts, tmp_path):
    model, x, edge_index = parts
    order = edge_index[1].argsort(stable=True)
    store(Data(x=x, edge_index=edge_index[:, order]), tmp_path / "graph")
    graph = open_stored(tmp_path / "graph")
    how: dict[str, Any] = {"workers": 1, "check": "local", "carries_messages": True, **OPTIONS}
    runs = [
        explain_links(model, *given, PAIRS[:2], out=tmp_path / name, engine=engine, **how)
        for name, engine, given in [
            ("stored", "processes", (graph.x, graph.edge_index)),
            ("in memory", "in-process", (x, edge_index[:, order])),
        ]
    ]
    assert timeless(runs[0]) == timeless(runs[1])
    assert len(runs[0]) == 2


@pytest.mark.parametrize(
    ("pairs", "options", "said"),
    [
        ([], {}, "pairs: expected at least one, got none"),
        ([(3, NODES)], {}, f"pairs: expected whole numbers from 0 to 59, got {NODES}"),
        ([(3, -1)], {}, "pairs: expected whole numbers from 0 to 59, got -1"),
        ([(3,)], {}, r"pairs: expected two nodes \(u, v\), got"),
        ([3, 7], {}, "pairs: expected whole numbers"),
        ("3-7", {}, r"pairs: expected pairs of nodes \[\(u, v\), …\], or a tensor \(2, k\)"),
        (7, {}, "pairs: expected pairs of nodes"),
        (torch.zeros(5, 2, dtype=torch.long), {}, r"pairs: expected .* got one of shape \(5, 2\)"),
        (torch.zeros(2, 2), {}, "pairs: expected whole numbers"),
        ([(3, 7), (4, 7)], {"why_not": (3, 9)}, r"why_not: expected another link \(4, w\) from"),
        ([(3, 7)], {"why_not": 9}, r"why_not: expected another link \(3, w\) from the same node"),
        ([(3, 7)], {"why_not": (3, 7)}, r"why_not: expected another link \(3, w\)"),
        ([(3, 7)], {"why_not": (3, NODES)}, "why_not: expected whole numbers from 0 to 59"),
        ([(3, 7)], {"among": [7]}, "among: expected other ends to compare the link with"),
        ([(3, 7)], {"among": 7}, "among: expected whole numbers"),
        ([(3, 7)], {"among": [8], "top": 2}, "top: expected a number from 1 to 1, got 2"),
        ([(3, 7)], {"top": 2}, "among: expected other ends"),
        ([(3, 7)], {"contrast": "not", "why_not": (3, 9)}, "contrast: expected 'beats' for links"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_at_the_door(
    parts: tuple[Any, Any, Any], tmp_path, pairs, options, said
):
    with pytest.raises(InputError, match=f"^{said}"):
        explain_links(*parts, pairs, out=tmp_path / "run", **OPTIONS | options)
    assert not (tmp_path / "run").exists()


def test_only_links_are_compared_with_others(tmp_path):
    task = small_task()
    given = (task.model, task.data.x, task.data.edge_index, [5])
    for wrong in ({"among": [3]}, {"top": 2}):
        with pytest.raises(InputError, match="expected it for links"):
            explain_many(*given, out=tmp_path / "run", samples=20, **wrong)
    assert not (tmp_path / "run").exists()


def test_a_device_is_the_workers(parts: tuple[Any, Any, Any], tmp_path):
    run = explain_links(*parts, PAIRS[:1], out=tmp_path / "run", device="cpu", **OPTIONS)
    assert timeless(run) == found_alone(parts, PAIRS[:1])
