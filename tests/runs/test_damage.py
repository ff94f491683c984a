"""A broken run, or a broken row of one, is named and does not hide the others."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas
import pytest
from made_runs import made_explanation, made_run, ring
from mounting import can_mount

from zorro import open_run
from zorro.errors import InputError, RunError
from zorro.explanation import Explanation
from zorro.runs import BrokenRun, DamagedRow, Failure, ListedRun, export, find_runs
from zorro.runs.engines import InProcess
from zorro.runs.folder import MANIFEST, OUTCOMES
from zorro.runs.manifest import describe
from zorro.runs.many import record
from zorro.search.certificate import certificate_of
from zorro.show.page import payload
from zorro.show.page.node_view import NodeView

DEEP = "[" * 200_000


@pytest.fixture
def run(tmp_path):
    """Explanations of the nodes 7, 8 and 9 and a failure of node 5."""
    explanations = [made_explanation(node) for node in (7, 8, 9)]
    return made_run(tmp_path / "runs/good", explanations, graph=ring(), failures={5: "no"})


def broken_copy(run, name, manifest=None, outcomes=None):
    """A copy of a run in which what lies in a file is replaced."""
    path = run.path.with_name(name)
    shutil.copytree(run.path, path)
    for file, content in ((MANIFEST, manifest), (OUTCOMES, outcomes)):
        if content is not None:
            (path / file).unlink()
            content(path / file)
    return path


def changed(run, change):
    def write(path):
        manifest = json.loads(json.dumps(run.manifest))
        change(manifest)
        path.write_text(json.dumps(manifest))

    return write


def text(content):
    return lambda path: path.write_text(content)


def database(script):
    def write(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)

    return write


ENDLESS = """
CREATE VIEW outcomes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT i AS position, i AS node, '' AS status, 1 AS certified, '' AS explanation, '' AS error,
'' AS trace, 0.0 AS seconds, '' AS finished FROM n;
"""


def test_broken_runs_are_listed_with_their_reasons(run):
    manifests = {
        "no-versions": changed(run, lambda m: m.pop("versions")),
        "no-digest": changed(run, lambda m: m["data"].pop("sha256")),
        "made-of-text": changed(run, lambda m: m.update(made="yesterday")),
        "count-of-text": changed(run, lambda m: m["queries"].update(count="3")),
        "a-list": text("[1, 2]"),
        "deep": text(DEEP),
        "no-json": text("{"),
        "pipe": os.mkfifo,
        "folder": Path.mkdir,
        "later-format": changed(run, lambda m: m.update(format=99)),
    }
    stores = {
        "store-pipe": os.mkfifo,
        "store-folder": Path.mkdir,
        "store-text": text("nothing"),
        "store-endless": database(ENDLESS),
        "store-other": database("CREATE TABLE outcomes (position INTEGER, node INTEGER)"),
    }
    for name, content in manifests.items():
        broken_copy(run, name, manifest=content)
    for name, content in stores.items():
        broken_copy(run, name, outcomes=content)
    os.mkfifo(broken_copy(run, "log-pipe") / f"{OUTCOMES}-wal")
    found = list(find_runs(run.path.parent))
    (good,) = [listed for listed in found if isinstance(listed, ListedRun)]
    assert (good.run.path, good.counts.explained) == (run.path, 3)
    reasons = {broken.path.name: broken.reason for broken in found if isinstance(broken, BrokenRun)}
    assert set(reasons) == {*manifests, *stores, "log-pipe"}
    for name, part in {
        "no-versions": "versions is missing",
        "no-digest": "data.sha256 is missing",
        "made-of-text": "made: expected dict, got str",
        "count-of-text": "queries.count: expected int, got str",
        "a-list": "expected an object, got list",
        "deep": "nested too deeply",
        "pipe": "it has no manifest.json",
        "later-format": "has format 99",
        "store-pipe": "expected a file, got something else",
        "store-text": "not a run's file",
        "store-endless": "expected nothing but its table, got view 'outcomes'",
        "store-other": "expected the table 'outcomes' as zorro makes it, got another",
        "log-pipe": "expected a file, got something else",
    }.items():
        assert part in reasons[name], reasons[name]


def damage(run, place, **columns):
    with closing(sqlite3.connect(run.path / OUTCOMES)) as connection, connection:
        for name, value in columns.items():
            words = f"UPDATE outcomes SET {name} = ? WHERE position = ?"
            connection.execute(words, (value, place))


def explained(**changes):
    return json.dumps({**made_explanation(8).to_dict(), **changes})


def selecting(nodes):
    return explained(selected={"nodes": nodes, "features": [0]})


def certifying(**changes):
    """A certificate that says something else than follows from its hits."""
    made = made_explanation(8).to_dict()
    return json.dumps({**made, "certificate": {**made["certificate"], **changes}})


def asking(**changes):
    made = made_explanation(8)
    parameters = dataclasses.replace(made.parameters, **changes)
    certificate = certificate_of(
        parameters.tau, parameters.delta or 0.0, hits=366, samples=400, attempts=1
    )
    return dataclasses.replace(made, parameters=parameters, certificate=certificate).to_json()


DAMAGES = {
    "not JSON": ({"explanation": "{"}, "text: expected JSON"),
    "deep": ({"explanation": DEEP}, "nested too deeply"),
    "deep inside": ({"explanation": explained()[:-1] + ', "more": ' + DEEP}, "nested too deeply"),
    "a list": ({"explanation": "[]"}, "expected a JSON object, got list"),
    "a number": ({"explanation": 3}, "expected a JSON object, got int"),
    "bytes": ({"explanation": explained().encode()}, "explanation: not of the type"),
    "another node's": ({"explanation": made_explanation(9).to_json()}, "not those of the"),
    "another status": ({"status": "reached"}, "node, status or certified: not those"),
    "a claim": (
        {"explanation": made_explanation(8, status="reached").to_json(), "status": "reached"},
        "node, status or certified: not those",
    ),
    "an empty claim": (
        {"explanation": explained(certificate=None)},
        "certificate: expected one, by delta, got none",
    ),
    "a bound above 1": ({"explanation": certifying(bound=1.5)}, "certificate.bound: expected"),
    "too many hits": ({"explanation": certifying(hits=500)}, "certificate: expected hits of sam"),
    "three samples": (
        {"explanation": certifying(hits=3, samples=3)},
        "certificate.bound: expected 0.1121 of 3 hits of 3, got 0.8547",
    ),
    "any delta": ({"explanation": certifying(delta=0.9999)}, "certificate.delta: expected 0.05"),
    "another tau": ({"explanation": asking(tau=0.01)}, "tau: expected 0.85, as its run was"),
    "another delta": ({"explanation": asking(delta=0.1)}, "delta: expected 0.05, as its run"),
    "another seed": ({"explanation": asking(seed=1)}, "parameters.seed: expected 0, as"),
    "other kinds": (
        {"explanation": asking(keep=("edges", "nodes", "features"), edge_presence=0.5)},
        "selected: expected edges, nodes, features, got nodes, features",
    ),
    "said twice": (
        {"explanation": explained().replace('"hits"', '"hits": 400, "hits"')},
        "'hits' stands there twice",
    ),
    "no nodes": ({"explanation": selecting(7)}, "selected.nodes: expected a list, got 7"),
    "text as node": ({"explanation": selecting(["a"])}, "expected a whole number, got 'a'"),
    "far node": ({"explanation": selecting([40])}, "nodes: expected ids from 0 to 39"),
    "no class": ({"explanation": explained(predicted_class=2)}, "got 2"),
    "no samples": ({"explanation": explained(fidelity={"hits": 0, "samples": 0})}, "fidelity: exp"),
    "unknown": ({"explanation": explained(more=1)}, "more is unknown"),
    "node of text": ({"node": "eight"}, "node: not of the type"),
    "failed": ({"status": "failed"}, "status: 'failed' does not fit"),
    "nothing": ({"explanation": None}, "status: 'certified' does not fit"),
}


@pytest.mark.parametrize(("columns", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_row_is_told_and_the_others_are_read(run, tmp_path, columns, reason):
    damage(run, 1, **columns)
    rows = list(run.rows())
    assert [type(row) for row in rows] == [Explanation, DamagedRow, Explanation, Failure]
    assert (rows[1].position, rows[1].key) == (1, None if "node" in columns else 8)
    assert reason in rows[1].reason
    assert [e.node for e in run.explanations()] == [7, 9]
    assert run.damaged() == [rows[1]]
    run.median_sizes()
    assert len(run.frame()) == 4
    with pytest.raises(RunError, match=r"row 1 .*is damaged"):
        list(run)
    if "node" not in columns:
        with pytest.raises(RunError, match=r"row 1 .node 8. is damaged"):
            run.explanation(8)
    with pytest.raises(InputError, match="expected one that could be explained, got 5: no"):
        run.explanation(5)
    counts = {name: write(run, tmp_path / name) for name, write in export.FORMATS.items()}
    assert counts == {"parquet": 4, "csv": 4, "jsonl": 2}
    row = pandas.read_parquet(tmp_path / "parquet").iloc[1]
    assert (row["status"], bool(row["certified"])) == ("damaged", False)
    assert reason in row["error"]
    page = payload.of_run(run, NodeView())
    assert [shown["query"] for shown in page["rows"]] == [7, 9]
    assert (page["summary"]["explained"], page["summary"]["certified"]) == (2, 2)
    assert [row["position"] for row in page["unreadable"]] == [1]
    assert reason in page["unreadable"][0]["reason"]


def test_a_text_that_is_no_unicode_damages_its_row_alone(run):
    with closing(sqlite3.connect(run.path / OUTCOMES)) as connection, connection:
        connection.execute("UPDATE outcomes SET error = CAST(x'ff' AS TEXT) WHERE node = 5")
    assert [type(row) for row in run.rows()][-1] is DamagedRow
    assert len(list(run)) == 3


def test_a_row_that_nobody_asked_for_is_damaged(run):
    damage(run, 2, position=17)
    damaged = run.damaged()
    assert [row.position for row in damaged] == [17]
    assert "4 nodes were asked for" in damaged[0].reason


def test_a_file_that_breaks_off_says_so_after_what_can_be_read(tmp_path):
    explanations = [made_explanation(node % 40) for node in range(200)]
    run = made_run(tmp_path / "run", explanations, graph=ring())
    whole = (run.path / OUTCOMES).read_bytes()
    page = 4096
    assert len(whole) > 60 * page
    (run.path / OUTCOMES).write_bytes(whole[: 40 * page] + b"\x00" * (len(whole) - 40 * page))
    rows = list(run.rows())
    assert isinstance(rows[0], Explanation)
    assert isinstance(rows[-1], DamagedRow)
    assert "damaged" in rows[-1].reason


def kept(path, task, nodes, **options):
    """Run what is missing; return the nodes that were explained now."""
    manifest = describe(task, nodes)
    outcomes = record(path, task, nodes, manifest=manifest, engine=InProcess(), **options)
    return [outcome.query.key for outcome in outcomes]


def test_rows_about_other_nodes_are_computed_again(tmp_path, task):
    path = tmp_path / "run"
    assert kept(path, task, [9, 4, 30]) == [9, 4, 30]
    run = open_run(path)
    expected = list(run)
    damage(run, 1, node=5)
    assert kept(path, task, [9, 4, 30]) == [4]
    damage(run, 2, explanation="{")
    assert kept(path, task, [9, 4, 30]) == []
    assert kept(path, task, [9, 4, 30], retry_failed=True) == [30]
    assert [(e.node, e.nodes) for e in run] == [(e.node, e.nodes) for e in expected]


@pytest.mark.parametrize(
    "values",
    [
        {"seconds": True},
        {"seconds": 10**400},
        {"status": ["certified"]},
        {"status": "proved"},
        {"probabilities": {"a": 1}},
        {"steps": [[1]]},
        {"steps": [{"node": 1}]},
        {"fidelity": None},
        {"graph": []},
        {"version": 1},
        {"evaluator": None},
        {"versus": {"other": "1", "contrast": "beats"}},
        {"versus": {"other": 1, "contrast": "loves"}},
        {"certificate": {}},
    ],
    ids=str,
)
def test_values_of_other_types_are_no_explanation(values):
    whole = made_explanation(8).to_dict()
    assert Explanation.from_dict(whole) == made_explanation(8)
    with pytest.raises(InputError, match="values: expected an explanation as to_dict writes it"):
        Explanation.from_dict({**whole, **values})


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "9" * 10_000, "\ud800", b"\xff{}"])
def test_odd_texts_are_no_explanation(text):
    with pytest.raises(InputError, match="text: "):
        Explanation.from_json(text)


READ_ONLY = """
set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
shift
exec "$@"
"""


def left_behind(run):
    """Add a row as a process does that is killed before the log is merged; return the files."""
    if (child := os.fork()) == 0:
        connection = sqlite3.connect(run.path / OUTCOMES)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE outcomes SET error = 'in the log' WHERE node = 5")
        connection.commit()
        os._exit(0)
    os.waitpid(child, 0)
    (run.path / f"{OUTCOMES}-shm").unlink()
    return sorted(path.name for path in run.path.iterdir())


@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace, which is not permitted here")
def test_a_log_left_on_a_read_only_disk_is_read(run):
    files = left_behind(run)
    assert f"{OUTCOMES}-wal" in files
    code = (
        "import sys; from zorro import open_run\n"
        "run = open_run(sys.argv[1])\n"
        "print(len(run), [f.error for f in run.failures()], [e.node for e in run])\n"
    )
    words = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", run.path, sys.executable, "-c", code]
    out = subprocess.run([*words, run.path], capture_output=True, text=True, check=False)
    assert out.stdout == "3 ['in the log'] [7, 8, 9]\n", out.stderr
    assert sorted(path.name for path in run.path.iterdir()) == files
