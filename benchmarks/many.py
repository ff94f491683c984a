"""What explaining many nodes costs: processes, the driver, resuming, memory.

    python benchmarks/many.py

Throughput is that of 300 Cora queries (the paper's GCN, guided and certified), worker processes
started and queries warm. The driver's costs are measured with a task that answers at once with a
finished explanation. results/many.json and many.md are written at the end.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from timing.cells import CELLS, load

from zorro import Explanation, data, open_run
from zorro.runs.engines import InProcess, Processes
from zorro.runs.engines.engine import Engine
from zorro.runs.given import OneGraph
from zorro.runs.manifest import describe
from zorro.runs.many import record
from zorro.runs.task import Answer, LoadedTask, Query

RESULTS = Path(__file__).parent / "results"
QUERIES = 300
LIGHT_QUERIES = 5_000
KEPT = 10_000
FLAT = 100_000


@dataclass(frozen=True)
class AtOnce:
    """Answers with one explanation, whatever the node: what is left is the driver's work."""

    explanation: str

    def open(self, *, workers: int = 1) -> Answer:
        """Return what gives the explanation."""
        kept = Explanation.from_json(self.explanation)
        return lambda node: kept


@cache
def cora() -> LoadedTask:
    """The paper's GCN on Cora."""
    loaded = load(CELLS[0], "cpu")
    return LoadedTask(loaded.model, OneGraph(loaded.x, loaded.edge_index))


def main() -> None:
    """Measure all of it and write the table."""
    if len(sys.argv) > 1 and sys.argv[1] == "--memory":
        memory(Path(sys.argv[2]))
        return
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"throughput": throughput()}
    with tempfile.TemporaryDirectory() as folder:
        figures["overhead"] = overhead(Path(folder))
        figures["resume"] = resume(Path(folder))
        figures["memory"] = memory_of_a_driver(Path(folder))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "many.json").write_text(json.dumps(figures, indent=2) + "\n")
    (RESULTS / "many.md").write_text(as_markdown(figures))
    print(as_markdown(figures))


def throughput() -> dict[str, Any]:
    """Queries per second in this process, in one worker and in two."""
    nodes = [int(node) for node in data.paper_nodes("cora")][:QUERIES]
    seconds: dict[str, float] = {}
    engines: dict[str, Engine] = {
        "in-process": InProcess(),
        "1 process": Processes(1),
        "2 processes": Processes(2),
    }
    found: dict[str, list[str]] = {}
    for name, engine in engines.items():
        seconds[name], found[name] = _timed(engine, nodes)
        print(f"{name}: {seconds[name]:.1f} s", flush=True)
    same = all(texts == found["in-process"] for texts in found.values())
    return {
        "queries": QUERIES,
        "seconds": seconds,
        "ratio": seconds["1 process"] / seconds["2 processes"],
        "same_explanations": same,
    }


def _timed(engine: Engine, nodes: list[int]) -> tuple[float, list[str]]:
    """Explain nodes; return the seconds after each worker's first answer, and what was found."""
    workers = getattr(engine, "workers", 1)
    warm_up = [Query(-1 - place, nodes[place]) for place in range(2 * workers)]
    queries = [*warm_up, *(Query(position, node) for position, node in enumerate(nodes))]
    found: dict[int, str] = {}
    started = 0.0
    for number, outcome in enumerate(engine.map(cora(), iter(queries)), start=1):
        if number == len(warm_up):
            started = time.perf_counter()
        values = json.loads(outcome.explanation or "{}")
        del values["seconds"]
        found[outcome.query.position] = json.dumps(values)
    seconds = time.perf_counter() - started
    return seconds, [found[position] for position in range(len(nodes))]


def overhead(folder: Path) -> dict[str, Any]:
    """Seconds of the driver per query: store and transport, with a task that answers at once."""
    task = AtOnce(cora().open()(int(data.paper_nodes("cora")[0])).to_json())
    nodes = list(range(LIGHT_QUERIES))
    result = {}
    engines: dict[str, Engine] = {"in-process": InProcess(), "2 processes": Processes(2)}
    for name, engine in engines.items():
        manifest = describe(cora(), nodes)
        path = folder / name.replace(" ", "-")
        outcomes = record(path, task, nodes, manifest=manifest, engine=engine)
        next(outcomes)
        started = time.perf_counter()
        count = sum(1 for _ in outcomes)
        result[name] = (time.perf_counter() - started) / count
    return {"queries": LIGHT_QUERIES, "seconds_per_query": result}


def resume(folder: Path) -> dict[str, Any]:
    """Seconds from opening a run of 10,000 rows until its first new query starts."""
    task = AtOnce(cora().open()(int(data.paper_nodes("cora")[0])).to_json())
    nodes = list(range(KEPT + 1))
    manifest = describe(cora(), nodes)
    path = folder / "resumed"
    outcomes = record(path, task, nodes, manifest=manifest, engine=InProcess())
    for _ in range(KEPT):
        next(outcomes)
    outcomes.close()
    started = time.perf_counter()
    next(record(path, task, nodes, manifest=describe(cora(), nodes), engine=InProcess()))
    return {"rows": KEPT, "seconds": time.perf_counter() - started}


def memory_of_a_driver(folder: Path) -> dict[str, Any]:
    """Megabytes of a driver of 100,000 queries, as they go by (in a process of its own)."""
    command = [sys.executable, __file__, "--memory", str(folder / "flat")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    result: dict[str, Any] = json.loads(out)
    return result


def memory(path: Path) -> None:
    """Drive 100,000 queries and print the memory at each tenth."""
    torch.set_num_threads(1)
    task = AtOnce(cora().open()(int(data.paper_nodes("cora")[0])).to_json())
    nodes = list(range(FLAT))
    outcomes = record(path, task, nodes, manifest=describe(cora(), nodes), engine=Processes(1))
    megabytes = []
    for done, _ in enumerate(outcomes, start=1):
        if done % (FLAT // 10) == 0:
            megabytes.append(round(_resident()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kept = len(open_run(path))
    print(json.dumps({"queries": kept, "megabytes": megabytes, "peak": round(peak)}))


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def as_markdown(figures: dict[str, Any]) -> str:
    """Return the table."""
    t, o, r, m = (figures[name] for name in ("throughput", "overhead", "resume", "memory"))
    seconds = ", ".join(f"{name} {value:.1f} s" for name, value in t["seconds"].items())
    per_query = ", ".join(
        f"{name} {1000 * value:.2f} ms" for name, value in o["seconds_per_query"].items()
    )
    hours = 2 * t["seconds"]["2 processes"] / t["queries"] * 1e6 / 3600
    same = "identical" if t["same_explanations"] else "NOT identical"
    lines = [
        "# Explaining many nodes",
        "",
        "`make many`; one thread of torch per process.",
        "",
        "| | measured |",
        "| --- | --- |",
        f"| {t['queries']} Cora queries, guided and certified (explanations {same}) | {seconds} |",
        f"| 2 processes against 1 | {t['ratio']:.2f}× |",
        f"| a million such nodes, scaled from 2 processes | {hours:.0f} core-hours |",
        f"| driver per query: store and transport, {o['queries']:,} queries | {per_query} |",
        f"| resuming a run of {r['rows']:,} rows until the first new answer is kept | "
        f"{r['seconds']:.2f} s |",
        f"| driver's memory over {m['queries']:,} queries, at each tenth (MB) | "
        f"{', '.join(map(str, m['megabytes']))} |",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
