"""Runs on real Ray clusters; leaves what happened as JSON files. `test_ray.py` starts it.

Ray listens on the machine's own address: in a network namespace of its own nobody else hears it.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import logging
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import ray
import torch
from ray.cluster_utils import Cluster
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GCNConv, global_add_pool

from zorro.errors import RunError
from zorro.runs import Outcome, Query, Task, open_run
from zorro.runs.engines import InProcess, ray_cluster
from zorro.runs.engines.ray_cluster import RayCluster
from zorro.runs.given import LinksOf, ManyGraphs, OneGraph
from zorro.runs.manifest import describe
from zorro.runs.many import record
from zorro.runs.task import Answer, LoadedTask

NODES = 60
POISON, BROKEN = 3, 5
WORK = Path(sys.argv[1])  # a folder


@dataclass(frozen=True)
class Watched:
    """A task whose workers leave their process ids, take their time, and die or fail if told."""

    task: Task
    pids: str
    rest: float = 0.0
    poison: int = -1
    broken: int = -1

    def open(self, *, workers: int = 1) -> Answer:
        Path(self.pids).mkdir(exist_ok=True)
        answer = self.task.open(workers=workers)

        def watched(node):
            Path(self.pids, str(os.getpid())).write_text(str(workers))
            if node == self.poison:
                os._exit(7)
            if node == self.broken:
                raise ValueError("a node\nof ill repute")
            time.sleep(self.rest)
            return answer(node)

        return watched


@dataclass(frozen=True)
class Unopenable:
    def open(self, *, workers: int = 1) -> Answer:
        raise FileNotFoundError("model.safetensors")


@dataclass(frozen=True)
class Deadly:
    def open(self, *, workers: int = 1) -> Answer:
        os._exit(7)


def loopback_up() -> None:
    up = struct.pack("16sh", b"lo", 1)  # IFF_UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS


def small_task() -> LoadedTask:
    torch.manual_seed(0)
    x = (torch.rand(NODES, 12) < 0.3).float()
    one = torch.randint(NODES, (2, 120))
    model = GCN(12, 8, num_layers=2, out_channels=3).eval()
    options = {"tau": 0.85, "search": "guided", "seed": 7}
    return LoadedTask(model, OneGraph(x, torch.cat([one, one.flip(0)], 1)), options)


class Pooled(torch.nn.Module):
    """A model of graphs that needs what its edges have."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(4, 6)

    def forward(self, x, edge_index, edge_weight, batch):
        return global_add_pool(self.conv(x, edge_index, edge_weight).tanh(), batch)


def graphs_task() -> LoadedTask:
    torch.manual_seed(2)
    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    graphs = [
        Data(x=torch.randn(6, 4), edge_index=ring, edge_weight=torch.rand(6)) for _ in range(6)
    ]
    options = {"samples": 40, "keep": ("nodes",), "model_kwargs": {"edge_weight": "edge_weight"}}
    return LoadedTask(Pooled().eval(), ManyGraphs(graphs), options)


class Inner(torch.nn.Module):
    """A model of links with what each edge weighs."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(4, 6)

    def forward(self, x, edge_index, edge_label_index, edge_weight):
        z = self.conv(x, edge_index, edge_weight).tanh()
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)


def links_task() -> LoadedTask:
    torch.manual_seed(3)
    here = torch.arange(12)
    graph = OneGraph(torch.randn(12, 4), torch.stack([here, (here + 1) % 12]))
    options = {"samples": 40, "threshold": 0.0, "model_kwargs": {"edge_weight": torch.rand(12)}}
    question = {"among": [0, 4, 5, 7, 9], "top": 4}
    return LoadedTask(Inner().eval(), LinksOf(graph), options, question)


def shown(outcomes: list[Outcome]) -> list[dict]:
    """Return what must not depend on the engine, in the order of the queries."""
    rows = []
    for outcome in sorted(outcomes, key=lambda outcome: outcome.query.position):
        row = asdict(outcome)
        del row["seconds"], row["trace"]
        if row["explanation"] is not None:
            row["explanation"] = json.loads(row["explanation"])
            del row["explanation"]["seconds"]
        rows.append(row)
    return rows


def queries(count: int) -> list[Query]:
    return [Query(position, node) for position, node in enumerate(range(count))]


def pids(folder: Path) -> set[int]:
    return {int(entry.name) for entry in folder.iterdir()}


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def killed_worker(task: LoadedTask, expected: list[dict], address: str) -> dict:
    """Kill a worker at work; the run's folder must hold each outcome once all the same."""
    nodes, folder = range(16), WORK / "killed-pids"
    printed = io.StringIO()
    yielded, victim = [], None
    with contextlib.redirect_stdout(printed):
        for outcome in record(
            WORK / "killed",
            Watched(task, str(folder), rest=0.3),
            nodes,
            manifest=describe(task, nodes),
            engine=RayCluster(address, workers=2),
        ):
            yielded.append(outcome.query.position)
            if victim is None and len(yielded) == 4:
                victim = max(pids(folder))
                os.kill(victim, signal.SIGKILL)
    return {
        "yielded": yielded,
        "equal": shown(list(open_run(WORK / "killed").outcomes())) == expected[: len(nodes)],
        "printed": printed.getvalue(),
        "connected after": ray.is_initialized(),
    }


def poison(task: LoadedTask, expected: list[dict]) -> dict:
    """One node kills each worker that touches it, another raises."""
    watched = Watched(task, str(WORK / "poison-pids"), poison=POISON, broken=BROKEN)
    outcomes = list(RayCluster(None, workers=2).map(watched, queries(16)))
    rows = shown(outcomes)
    others = [row for row in rows if row["query"]["key"] not in (POISON, BROKEN)]
    return {
        "positions": [row["query"]["position"] for row in rows],
        "others equal": others
        == [row for row in expected[:16] if row["query"]["key"] not in (POISON, BROKEN)],
        "poison": rows[POISON],
        "broken": rows[BROKEN],
        "shares": sorted({entry.read_text() for entry in (WORK / "poison-pids").iterdir()}),
    }


def back_pressure(task: LoadedTask) -> dict:
    """Ask for many, take a few, and close; workers are as many as the one GPU has room for."""
    pulled = 0

    def many():
        nonlocal pulled
        for position in range(10_000):
            pulled += 1
            yield Query(position, position % NODES)

    engine = RayCluster(None, workers=None, gpus_per_worker=0.5)
    outcomes = engine.map(Watched(task, str(WORK / "few-pids")), many())
    few = [next(outcomes).query.position for _ in range(5)]
    seen = pulled
    outcomes.close()
    (worker,) = pids(WORK / "few-pids")
    deadline = time.monotonic() + 120
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.1)
    return {"few": few, "pulled": seen, "alive after": alive(worker)}


def refused(task: Task, engine: RayCluster) -> dict:
    try:
        list(engine.map(task, queries(4)))
    except RunError as error:
        return {"error": str(error)}
    return {"error": None}


def lost_node(task: LoadedTask, expected: list[dict], cluster: Cluster, second: object) -> dict:
    """Take a node away, with the worker on it, while both work."""
    folder, after = WORK / "node-pids", 10
    outcomes, removed = [], False

    def enough():
        left = after
        for query in queries(NODES):
            left -= removed
            if left < 0:
                return
            yield query

    engine = RayCluster(cluster.address, workers=2)
    for outcome in engine.map(Watched(task, str(folder), rest=0.3), enough()):
        outcomes.append(outcome)
        if not removed and len(pids(folder)) == 2:
            cluster.remove_node(second, allow_graceful=False)
            removed = True
    return {
        "removed": removed,
        "equal": shown(outcomes) == expected[: len(outcomes)],
        "enough": len(outcomes) > after,
        "workers": len(pids(folder)),
    }


def own_cluster(task: LoadedTask, expected: list[dict]) -> dict:
    """A cluster that is started for the run alone."""
    before = signal.getsignal(signal.SIGTERM)
    for _ in record(
        WORK / "own",
        task,
        range(NODES),
        manifest=describe(task, range(NODES)),
        engine=RayCluster(None, workers=2),
    ):
        pass
    return {
        "equal": shown(list(open_run(WORK / "own").outcomes())) == expected,
        "connected after": ray.is_initialized(),
        "handler restored": signal.getsignal(signal.SIGTERM) == before,
    }


def other_queries(task: LoadedTask, name: str, asked: list) -> dict:
    """Whole graphs, or links, in a run that is read back."""
    keys = [query.key for query in task.data.queries(asked)]
    outcomes = record(
        WORK / name,
        task,
        keys,
        manifest=describe(task, keys),
        engine=RayCluster(None, workers=1),
    )
    expected = InProcess().map(task, (Query(*place) for place in enumerate(keys)))
    same, run = shown(list(outcomes)) == shown(list(expected)), open_run(WORK / name)
    return {
        "equal": same,
        "told": [str(each.query) for each in run],
        "failed": [str(each.query) for each in run.failures()],
    }


def main() -> None:
    begin("explanations in process")
    loopback_up()
    torch.set_num_threads(1)
    task = small_task()
    expected = shown(list(InProcess().map(task, queries(NODES))))
    leave("in process", {"explained": sum(row["status"] != "failed" for row in expected)})
    scenario("wrong address", refused, task, RayCluster("127.0.0.1:1", workers=1))
    begin("start of a cluster")
    # The GPU is only said to be there: what Ray does with it is the same.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 1})
    second = cluster.add_node(num_cpus=1)
    scenario("killed worker", killed_worker, task, expected, cluster.address)
    begin("connection")
    ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    scenario("poison", poison, task, expected)
    scenario("graphs", other_queries, graphs_task(), "graphs", [4, 0, 5])
    scenario("links", other_queries, links_task(), "links", [(3, 8), (0, 1), (8, 3)])
    scenario("unopenable", refused, Unopenable(), RayCluster(None, workers=1))
    scenario("deadly", refused, Deadly(), RayCluster(None, workers=1))
    scenario("no room", refused, task, RayCluster(None, workers=None, gpus_per_worker=2))
    ray_cluster._PATIENCE = 2.0
    scenario("no worker", refused, task, RayCluster(None, workers=1, gpus_per_worker=2))
    ray_cluster._PATIENCE = 600.0
    scenario("back-pressure", back_pressure, task)
    leave("the caller's connection", ray.is_initialized())
    begin("end of the connection")
    ray.shutdown()
    scenario("lost node", lost_node, task, expected, cluster, second)
    begin("end of the cluster")
    cluster.shutdown()
    scenario("own cluster", own_cluster, task, expected)


def begin(name: str) -> None:
    """Say what is being done from now on."""
    with (WORK / "begun").open("a") as file:
        file.write(f"{name}\n")


def leave(name: str, happened: object) -> None:
    """Say what has happened, whole or not at all."""
    partial = WORK / f"{name}.partial"
    partial.write_text(json.dumps(happened))
    partial.rename(WORK / f"{name}.json")


def scenario(name: str, happening: Callable[..., object], *arguments: object) -> None:
    """Let something happen and say what came of it."""
    begin(name)
    started = time.monotonic()
    leave(name, happening(*arguments))
    print(name, round(time.monotonic() - started, 1), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
