"""Drivers are killed, disks are full, folders are read-only: what was acknowledged stays."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forked import Forked, zorro_command
from mounting import can_mount
from run_tasks import small_task

from zorro import open_run
from zorro.errors import RunError
from zorro.runs.engines import InProcess
from zorro.runs.folder import OUTCOMES
from zorro.runs.manifest import describe
from zorro.runs.many import record

HERE = Path(__file__).parent
KILLS = 25


def drive(path: Path, acknowledged: int) -> None:
    """Explain what is missing, and say of each node when it is kept (in a child process)."""
    task = small_task()
    nodes = list(range(60))
    for outcome in record(path, task, nodes, manifest=describe(task, nodes), engine=InProcess()):
        assert outcome.explanation is not None
        line = f"{outcome.query.key} {json.loads(outcome.explanation)['seconds']!r}\n"
        os.write(acknowledged, line.encode())


def driven(path: Path, seconds: float | None) -> tuple[list[tuple[int, float]], bool]:
    """Let a child process drive the run and kill it after some time; return what it has said."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            drive(path, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(read) as lines:
        said = [(int(line.split()[0]), float(line.split()[1])) for line in lines]
    _, status = os.waitpid(child, 0)
    return said, os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def test_killed_drivers_lose_and_repeat_nothing(tmp_path):
    path = tmp_path / "run"
    rng = random.Random(0)
    acknowledged: dict[int, float] = {}
    killed = 0
    while killed < KILLS:
        said, ended = driven(path, rng.uniform(0.0, 0.35))
        assert not (ended and len(acknowledged) + len(said) < 60)
        killed += not ended
        for node, seconds in said:
            assert node not in acknowledged, "computed again"
            acknowledged[node] = seconds
        if path.exists() and (path / "manifest.json").exists():
            there = {e.node: e.seconds for e in open_run(path)}
            assert acknowledged.items() <= there.items(), "lost or changed"
            acknowledged = there  # one may have been kept and not yet acknowledged
        if ended:  # begin another run, until enough have been killed
            shutil.rmtree(path)
            acknowledged = {}
    said, ended = driven(path, None)
    assert ended
    everything = [e.node for e in open_run(path)]
    assert everything == list(range(60))
    expected = small_task().open()
    assert open_run(path).explanation(31).nodes == expected(31).nodes


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    """Return the words that name a small model and graph on the command line."""
    import numpy as np
    import torch

    folder = tmp_path_factory.mktemp("subject")
    task = small_task()
    np.savez(folder / "graph.npz", x=task.data.x.numpy(), edge_index=task.data.edge_index.numpy())
    (folder / "my_small.py").write_text(
        f"import sys; sys.path.append({str(HERE)!r})\n"
        "from run_tasks import small_task\n"
        "def build(features, classes): return small_task().model\n"
    )
    np.savez(
        folder / "graph.npz",
        x=task.data.x.numpy(),
        edge_index=task.data.edge_index.numpy(),
        y=torch.zeros(60).long().numpy(),
    )
    words = ["--dataset", folder / "graph.npz", "--model", "my_small:build", "--nodes", "all"]
    return folder, [*words, "--samples", 20, "--fresh-samples", 50]


def test_the_whole_command_is_killed_with_its_workers(subject, tmp_path):
    folder, words = subject
    run = tmp_path / "run"
    command = ["explain", *words, "--out", run, "--json-progress"]
    acknowledged: set[int] = set()
    # Worker processes are killed while they are at work; what is left is found without some.
    for wanted, engine in ((10, "processes"), (None, "in-process")):
        with zorro_command(*command, "--engine", engine, folder=folder) as process:
            for line in process.stderr:
                if not line.startswith("{"):
                    continue
                said = json.loads(line)
                assert said["node"] not in acknowledged, "computed again"
                acknowledged.add(said["node"])
                if wanted is not None and len(acknowledged) >= wanted:
                    process.kill()
                    break
            code = process.wait()
        kept = {e.node for e in open_run(run)}
        assert acknowledged <= kept
        acknowledged = kept
    assert code == 0
    assert acknowledged == set(range(60))


def test_a_request_to_end_is_obeyed_and_says_how_to_go_on(subject, tmp_path):
    folder, words = subject
    run = tmp_path / "run"
    for number, engine in ((signal.SIGINT, "processes"), (signal.SIGTERM, "in-process")):
        command = ["explain", *words, "--out", run, "--engine", engine, "--workers", 1]
        with zorro_command(*command, "--json-progress", folder=folder) as process:
            process.stderr.readline()
            while not process.stderr.readline().startswith("{"):
                pass
            process.send_signal(number)
            said = process.stderr.read()
            assert process.wait() == 130, said
        assert f"kept in {run}; the same command goes on with the rest" in said
        assert "Traceback" not in said
    assert 0 < len(open_run(run)) < 60


def test_a_read_only_folder_can_be_read_and_not_written(tmp_path):
    task = small_task()
    nodes = [1, 2]
    manifest = describe(task, nodes)
    path = tmp_path / "run"
    list(record(path, task, nodes, manifest=manifest, engine=InProcess()))

    def as_nobody():
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        print([e.node for e in open_run(path)], file=sys.stderr)
        try:
            list(record(path, task, nodes, manifest=manifest, engine=InProcess()))
        except RunError as error:
            print(error, file=sys.stderr)

    for folder in (path, *path.parents[:2]):
        folder.chmod(0o555 if folder == path else 0o755)
    for file in path.iterdir():
        file.chmod(0o444)
    for parent in path.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    with Forked(as_nobody) as reader:
        said = reader.stderr.read()
        assert reader.wait() == 0, said
    path.chmod(0o755)
    assert said.startswith("[1, 2]\n"), said
    assert "Permission denied" in said
    assert [e.node for e in open_run(path)] == [1, 2]


FULL_DISK = """
set -e
mount -t tmpfs -o size=120k none "$1"
shift
exec "$@"
"""


@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace, which is not permitted here")
def test_a_full_disk_is_said_and_what_is_there_stays(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    code = (
        f"import sys; sys.path.append({str(HERE)!r})\n"
        "from pathlib import Path; from zorro import open_run\n"
        "from zorro.errors import RunError\n"
        "from run_tasks import small_task\n"
        "from zorro.runs.engines import InProcess\n"
        "from zorro.runs.manifest import describe\n"
        "from zorro.runs.many import record\n"
        "path, task, nodes, kept = Path(sys.argv[1]) / 'run', small_task(), list(range(60)), []\n"
        "manifest = describe(task, nodes)\n"
        "try:\n"
        "    for o in record(path, task, nodes, manifest=manifest, engine=InProcess()):\n"
        "        kept.append(o.query.key)\n"
        "except RunError as error: print(error)\n"
        "print(0 < len(kept) < 60, set(kept) <= {e.node for e in open_run(path)})\n"
    )
    out = subprocess.run(
        [
            *("unshare", "-rm", "sh", "-c", FULL_DISK, "sh", disk),
            *(sys.executable, "-c", code, disk),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    said, held = out.stdout.splitlines()
    assert "the disk is full: make room, then give the same command again" in said, out.stderr
    assert held == "True True"


def test_a_store_without_its_folder_says_so(tmp_path):
    task = small_task()
    path = tmp_path / "run"
    list(record(path, task, [1], manifest=describe(task, [1]), engine=InProcess()))
    (path / OUTCOMES).unlink()
    assert len(open_run(path)) == 0
    assert list(record(path, task, [1], manifest=describe(task, [1]), engine=InProcess()))
    with pytest.raises(RunError, match="cannot be made in"):
        list(record(Path("/proc/run"), task, [1], manifest=describe(task, [1]), engine=InProcess()))
