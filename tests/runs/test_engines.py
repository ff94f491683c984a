"""All engines find the same; what one query or worker does wrong ends nothing else."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import tempfile
import time
from contextlib import suppress
from itertools import count, islice
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
import torch
from forked import Forked
from run_tasks import Misbehaving, Unopenable, small_task

from zorro.errors import InputError, RunError
from zorro.runs.engines import InProcess, Processes, engine_of
from zorro.runs.engines.engine import AHEAD, MOST_DEATHS, Backlog
from zorro.runs.engines.processes import _SPAWN
from zorro.runs.engines.shared_files import mapped, pack, unpack
from zorro.runs.engines.shared_folder import shared_folder
from zorro.runs.task import Query

QUERIES = [Query(position, node) for position, node in enumerate((5, 3, 50, 17, 44, 20))]


def timeless(outcomes):
    """What was found, in the order asked, without how long it took."""
    found = {}
    for outcome in outcomes:
        assert outcome.query.position not in found, "answered twice"
        values = None if outcome.explanation is None else json.loads(outcome.explanation)
        if values is not None:
            del values["seconds"]
        found[outcome.query.position] = (outcome.query.key, outcome.status, outcome.error, values)
    return [found[position] for position in sorted(found)]


def test_processes_find_what_one_process_finds(task):
    alone = timeless(InProcess().map(task, QUERIES))
    assert len(alone) == len(QUERIES)
    assert timeless(Processes(2).map(task, QUERIES)) == alone
    assert [zorro_node for zorro_node, *_ in alone] == [query.key for query in QUERIES]


def test_workers_that_die_or_raise_cost_nobody_else(task):
    queries = [Query(position, node) for position, node in enumerate(range(12))]
    bad = Misbehaving(task, {2: "raise", 7: "die"})
    outcomes = timeless(Processes(2).map(bad, queries))
    assert [node for node, *_ in outcomes] == list(range(12))
    errors = {node: error for node, _, error, _ in outcomes if error is not None}
    assert errors == {
        2: "ValueError: node 2 is not to be explained",
        7: f"the worker died {MOST_DEATHS} times on this query: killed by SIGKILL",
    }
    fine = timeless(InProcess().map(task, [q for q in queries if q.key not in errors]))
    assert [outcome for outcome in outcomes if outcome[0] not in errors] == fine


def test_a_killed_worker_is_replaced(task):
    slow = Misbehaving(task, {}, pause=0.05)
    queries = [Query(position, node) for position, node in enumerate(range(30))]
    outcomes = []
    for outcome in Processes(1).map(slow, queries):
        outcomes.append(outcome)
        if len(outcomes) == 3:
            (victim,) = children_of(os.getpid())
            os.kill(victim, signal.SIGKILL)
    assert [node for node, *_ in timeless(outcomes)] == list(range(30))


def children_of(process):
    workers = []
    for child in psutil.Process(process).children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if "spawn_main" in " ".join(child.cmdline()):
                workers.append(child.pid)
    return workers


def test_a_task_that_cannot_be_opened_ends_the_run():
    with pytest.raises(RunError, match="OSError: the checkpoint is gone"):
        list(Processes(1).map(Unopenable(), QUERIES))


def test_a_million_queries_do_not_sit_in_memory(task):
    pulled = 0

    def endless():
        nonlocal pulled
        for position in count():
            pulled += 1
            yield Query(position, position % 60)

    outcomes = Processes(1).map(task, endless())
    seen = list(islice(outcomes, 5))
    assert len(seen) == 5
    assert pulled <= 5 + AHEAD + 1
    outcomes.close()
    assert children_of(os.getpid()) == []


def test_workers_end_with_their_driver(task, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def drive():
        queries = (Query(i, i % 60) for i in range(10**6))
        for _ in Processes(2).map(task, queries):
            print("done", file=sys.stderr)

    with Forked(drive) as driver:
        assert driver.stderr.readline() == "done\n"
        workers = children_of(driver.pid)
        assert workers
    deadline = time.monotonic() + 20
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "workers outlived their driver"
        time.sleep(0.05)
    # What it shared is removed by the next one.
    assert len(list(tmp_path.glob("zorro-shared-*"))) == 1
    with shared_folder() as folder:
        assert list(tmp_path.glob("zorro-shared-*")) == [folder]


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_script_needs_a_guard(task, tmp_path, monkeypatch):
    """A worker runs the script again, which starts a process before it may, and so ends."""
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import multiprocessing\n"
        "multiprocessing.get_context('spawn').Process(target=print).start()\n"
    )
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = str(script), None
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(RunError, match='put what it does under `if __name__ == "__main__":`'):
        list(Processes(1).map(task, QUERIES))


def test_large_tensors_travel_as_files(tmp_path):
    large, small = torch.randn(300, 100), torch.randn(3)
    sparse = (torch.rand(400, 300) < 0.5).float().to_sparse_csr()
    model = torch.nn.Linear(200, 200)
    values = {"large": large, "again": large, "small": small, "sparse": sparse, "model": model}
    packed = pack(values, tmp_path)
    files = sorted(tmp_path.glob("*.npy"))
    assert len(files) >= 3  # the large one once, the weight, parts of the sparse one
    assert packed.stat().st_size < 20_000
    back = unpack(packed)
    assert torch.equal(back["large"], large)
    assert torch.equal(back["again"], large)
    assert torch.equal(back["small"], small)
    assert torch.equal(back["sparse"].to_dense(), sparse.to_dense())
    assert torch.equal(back["model"].weight, model.weight)
    assert back["model"].weight.requires_grad
    back["large"].zero_()  # a copy of the writer's own
    assert torch.equal(mapped(str(files[0])), large)


def test_starting_a_worker_does_not_wait_until_it_reads_a_large_task(monkeypatch, task):
    sizes = []

    def recording(*, args, **options):
        sizes.append(sum(len(pickle.dumps(each)) for each in args[1:]))
        return SpawnProcess(args=args, **options)

    monkeypatch.setattr(_SPAWN, "Process", recording, raising=False)
    large = Misbehaving(task, dict.fromkeys(range(1000, 50_000), "raise"))
    assert len(pickle.dumps(large)) > 1 << 17
    assert timeless(Processes(1).map(large, QUERIES)) == timeless(InProcess().map(task, QUERIES))
    assert sizes
    assert max(sizes) < 1 << 12  # a pipe holds 64 kB


def test_what_a_dead_worker_held_comes_first():
    backlog = Backlog(QUERIES)
    held: list[Any] = [backlog.next(), backlog.next()]
    assert backlog.after_death(held, "fire") is None
    assert [backlog.next() for _ in range(3)] == QUERIES[:3]


def test_which_engine_is_meant():
    assert engine_of("auto", queries=2, workers=4).name == "in-process"
    assert engine_of("auto", queries=200, workers=4).name == "processes"
    assert engine_of("auto", queries=200, workers=1).name == "in-process"
    assert engine_of("processes", queries=1).name == "processes"
    with pytest.raises(InputError, match="engine: expected one of auto, in-process, "):
        engine_of("spark", queries=1)
    with pytest.raises(InputError, match="workers: expected a whole number of at least 1, got 0"):
        engine_of("processes", queries=1, workers=0)
    with pytest.raises(InputError, match="address: expected engine='ray'"):
        engine_of("processes", queries=1, address="here:1")


def test_the_small_task_is_worth_explaining():
    sizes = [len(small_task().open()(node).features) for node in (5, 3, 50)]
    assert max(sizes) > 0
