"""The engine ray, on real clusters that lose workers and nodes."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ray_scenarios import Scenarios

from zorro.errors import InputError, MissingExtraError
from zorro.runs import Query
from zorro.runs.engines.engine import AHEAD, MOST_DEATHS
from zorro.runs.engines.ray_cluster import Needs, RayCluster

SCRIPT = Path(__file__).with_name("ray_in_namespace.py")


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
    """What happened on the clusters, by scenario; all of them take a minute or two."""
    pytest.importorskip("ray")
    command = namespace_command()
    work = tmp_path_factory.mktemp("ray")
    with (
        tempfile.TemporaryDirectory(prefix="zr", ignore_cleanup_errors=True) as short,
        (work / "stderr").open("wb") as said,
    ):
        # Ray keeps sockets in one folder, whose path must be short, and a token in the other.
        environment = os.environ | {"RAY_TMPDIR": short, "HOME": short, "OMP_NUM_THREADS": "1"}
        environment.pop("RAY_ADDRESS", None)
        process = subprocess.Popen(
            [*command, sys.executable, str(SCRIPT), str(work)],
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=environment,
        )
        with process:
            try:
                yield Scenarios(process, work)
            finally:
                process.kill()  # and with it all that it has started


def test_there_is_something_to_compare_with(report):
    assert report["in process"]["explained"] > 0


@pytest.mark.parametrize(
    ("begun", "code", "limit", "said"),
    [
        ("one\ntwo\n", "input()", 0.1, r"'two' had not ended after 0.1 s.*ZORRO_TEST_PATIENCE"),
        ("", "input()", 0.1, "the start of Python had not ended after 0.1 s"),
        ("one\n", "exit('it broke')", 60, r"'one' ended the process \(1\): it broke"),
    ],
)
def test_what_hangs_is_named(tmp_path, begun, code, limit, said):
    (tmp_path / "begun").write_text(begun)
    with (tmp_path / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=errors
        )
    with process:
        scenarios = Scenarios(process, tmp_path, limit=limit)
        with pytest.raises(pytest.fail.Exception, match=said):
            scenarios["three"]
        with pytest.raises(pytest.fail.Exception, match=r"'four' was not begun: .* ended"):
            scenarios["four"]


def test_a_run_on_a_cluster_of_its_own_finds_what_is_found_in_process(report):
    happened = report["own cluster"]
    assert happened["equal"]
    assert not happened["connected after"]
    assert happened["handler restored"]


def test_graphs_are_explained_as_they_are_in_process(report):
    assert report["graphs"]["equal"]
    assert report["graphs"]["told"] == ["graph 4", "graph 0", "graph 5"]


def test_links_are_explained_as_they_are_in_process(report):
    assert report["links"]["equal"]
    assert report["links"]["told"] == ["link 3–8", "link 8–3"]
    assert report["links"]["failed"] == ["link 0–1"]  # which others are ahead of


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
    assert f"died {MOST_DEATHS} times on this query" in happened["poison"]["error"]


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


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"zorro-gnn\[ray\]"):
        next(RayCluster(None, workers=1).map(None, [Query(0, 0)]))  # type: ignore[arg-type]


def test_no_queries_need_no_cluster():
    assert list(RayCluster("127.0.0.1:1", workers=1).map(None, [])) == []  # type: ignore[arg-type]


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
