"""The engine ray, on real clusters that lose workers and nodes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from zorro.errors import InputError, MissingExtraError
from zorro.runs import Query
from zorro.runs.engines.engine import AHEAD, MOST_DEATHS
from zorro.runs.engines.ray_cluster import Needs, RayCluster

SCRIPT = Path(__file__).with_name("ray_in_namespace.py")
LIMIT = 400  # seconds, on a busy machine


def namespace_command() -> list[str]:
    """Return what runs a command in network and process namespaces of its own.

    Nobody hears Ray there, and its processes end with the command.
    """
    command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0:
        command.append("--map-root-user")
    if shutil.which("unshare") is None:
        pytest.skip("there is no `unshare`: Ray's tests need namespaces of their own")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"namespaces are not permitted here, Ray's tests need them: {tried.stderr}")
    return command


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What happened on the clusters; they take a minute or two."""
    pytest.importorskip("ray")
    command = namespace_command()
    work = tmp_path_factory.mktemp("ray")
    with tempfile.TemporaryDirectory(prefix="zr", ignore_cleanup_errors=True) as short:
        # Ray keeps sockets in one folder, whose path must be short, and a token in the other.
        environment = os.environ | {"RAY_TMPDIR": short, "HOME": short, "OMP_NUM_THREADS": "1"}
        environment.pop("RAY_ADDRESS", None)
        done = subprocess.run(
            [*command, sys.executable, str(SCRIPT), str(work)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env=environment,
        )
    assert done.returncode == 0, done.stderr[-5000:]
    happened = json.loads((work / "report.json").read_text())
    print(f"seconds on Ray: {happened['seconds']}")
    assert happened["explained"] > 0
    return happened


def test_a_run_on_a_cluster_of_its_own_finds_what_is_found_in_process(report):
    happened = report["own cluster"]
    assert happened["equal"]
    assert not happened["connected after"]
    assert happened["handler restored"]


def test_a_killed_worker_loses_and_doubles_nothing(report):
    happened = report["killed worker"]
    assert sorted(happened["yielded"]) == list(range(16))
    assert happened["equal"]
    assert not happened["connected after"]
    assert happened["printed"] == ""


def test_a_lost_node_loses_nothing(report):
    happened = report["lost node"]
    assert happened["removed"]
    assert happened["enough"]
    assert happened["equal"]
    assert happened["workers"] == 2  # there was no room for a third


def test_a_query_that_kills_its_workers_fails_alone(report):
    happened = report["poison"]
    assert happened["positions"] == list(range(16))
    assert happened["others equal"]
    assert happened["poison"]["status"] == "failed"
    assert f"died {MOST_DEATHS} times on this node" in happened["poison"]["error"]


def test_a_query_that_raises_fails_alone(report):
    assert report["poison"]["broken"]["status"] == "failed"
    assert report["poison"]["broken"]["error"] == "ValueError: a node of ill repute"


def test_memory_is_shared_among_the_workers_of_a_node_only(report):
    assert report["poison"]["shares"] == ["1"]  # of two, one on each node


def test_queries_are_pulled_as_workers_get_free_and_closing_ends_the_worker(report):
    happened = report["back-pressure"]
    assert happened["few"] == [0, 1, 2, 3, 4]
    assert happened["pulled"] <= 5 + AHEAD
    assert not happened["alive after"]


def test_the_callers_connection_stays(report):
    assert report["the caller's connection"]


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("unopenable", "could not start: FileNotFoundError: model.safetensors"),
        ("deadly", "end before they can start to work"),
        ("no room", "no node of the Ray cluster has what a worker needs, 1 CPUs and 2 GPUs"),
        ("no worker", "has started no worker in 2 s"),
        ("wrong address", "no Ray cluster answers at '127.0.0.1:1'"),
    ],
)
def test_what_cannot_work_is_refused(report, scenario, said):
    assert said in report[scenario]["error"]
    assert report[scenario]["seconds"] < 90


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"zorro-gnn\[ray\]"):
        next(RayCluster(None, workers=1).map(None, [Query(0, 0)]))


def test_no_queries_need_no_cluster():
    assert list(RayCluster("127.0.0.1:1", workers=1).map(None, [])) == []


@pytest.mark.parametrize("gpus", [-1.0, 1.5])
def test_a_worker_has_whole_gpus_or_a_part_of_one(gpus):
    with pytest.raises(InputError, match="gpus_per_worker"):
        RayCluster(None, workers=1, gpus_per_worker=gpus)


@pytest.mark.parametrize(
    ("needs", "room"),
    [
        (Needs(1, 0.0), 16),
        (Needs(3, 0.0), 5),
        (Needs(1, 1.0), 4),
        (Needs(1, 3.0), 1),
        (Needs(1, 0.3), 12),  # three on each GPU: a worker's part is of one
        (Needs(8, 0.3), 2),
    ],
)
def test_the_room_of_a_node(needs, room):
    assert needs.room({"CPU": 16.0, "GPU": 4.0}) == room
