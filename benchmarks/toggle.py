"""How long the explorer takes to measure a set of which one element was toggled.

    python benchmarks/toggle.py

Explains random nodes of Cora with the paper's GCN, serves the run with `zorro serve` in a process
of its own, and asks over HTTP on loopback, one request after the other, for the fidelity of the
kept explanations with a node or a feature added or taken out. Writes results/toggle.md.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from timing.machine import describe

RESULTS = Path(__file__).parent / "results"
CLI = [sys.executable, "-c", "from zorro.cli import main; main()"]
GOALS = {"a median below": 0.1, "95 % below": 0.3}


class Explorer:
    """A served run and a connection to it."""

    def __init__(self, folder: Path) -> None:
        self._server = subprocess.Popen(
            [*CLI, "serve", str(folder), "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        assert self._server.stderr is not None
        said = self._server.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
        if found is None:
            raise SystemExit(f"the server did not start: {said}{self._server.stderr.read()}")
        self.address = found[0]
        self._connection = http.client.HTTPConnection("127.0.0.1", int(found[1]))
        self._headers = {
            "content-type": "application/json",
            "cookie": f"zorro-{found[1]}={found[2]}",
        }

    def ask(self, path: str, body: Any = None) -> Any:
        """Return the answer to a request."""
        self._connection.request(
            "GET" if body is None else "POST",
            path,
            None if body is None else json.dumps(body),
            self._headers,
        )
        answer = self._connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {content}")
        return content

    def close(self) -> None:
        """End the server as Ctrl-C does."""
        self._connection.close()
        self._server.send_signal(signal.SIGINT)
        self._server.wait(30)


def toggled(members: list[int], element: int) -> list[int]:
    """Return a list with an element added, or taken out if it was there."""
    return sorted({*members} ^ {element})


def measure(folder: Path, *, toggles: int, samples: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each node's first request, and of each toggle after it."""
    explorer = Explorer(folder)
    rng = random.Random(0)
    first: list[float] = []
    later: list[float] = []
    try:
        for row in explorer.ask("/api/runs/0/rows")["rows"]:
            node = row["query"]
            kept = explorer.ask(f"/api/runs/0/queries/{node}")
            # Timed from a cold start: nothing has been asked about this node's neighbourhood yet.
            chosen = {kind: kept[kind] for kind in ("nodes", "features")}
            sets = [chosen]
            first.append(timed(explorer, node, chosen, samples))
            addable = {
                kind: [
                    one["id"]
                    for one in explorer.ask(f"/api/runs/0/candidates/{node}?kind={kind}&limit=500")[
                        "candidates"
                    ]
                ]
                for kind in ("nodes", "features")
            }
            for _ in range(toggles):
                kind = rng.choice(("nodes", "features"))
                element = rng.choice(
                    kept[kind] if rng.random() < 0.5 and kept[kind] else addable[kind]
                )
                sets.append({**sets[-1], kind: toggled(sets[-1][kind], element)})
                later.append(timed(explorer, node, sets[-1], samples))
    finally:
        explorer.close()
    return first, later


def timed(explorer: Explorer, node: int, chosen: dict[str, list[int]], samples: int) -> float:
    """Return how long a measurement takes, from the request to the answer read."""
    started = time.perf_counter()
    explorer.ask("/api/fidelity", {"run": 0, "query": node, **chosen, "samples": samples})
    return time.perf_counter() - started


def line(name: str, seconds: list[float]) -> str:
    """Return a row of the table, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=20)
    values = [statistics.median(seconds), cuts[-1], max(seconds)]
    return f"| {name} | {len(seconds)} | " + " | ".join(f"{1e3 * v:.1f}" for v in values) + " |"


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--toggles", type=int, default=20, help="of each node")
    parser.add_argument("--samples", type=int, default=200)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = ["--dataset", "cora", "--model", "gcn", "--checkpoint", "paper"]
        spec = ["--nodes", f"random:{options.nodes}", "--out", str(run)]
        subprocess.run([*CLI, "explain", *words, *spec], check=True, stdout=subprocess.DEVNULL)
        first, later = measure(run, toggles=options.toggles, samples=options.samples)
    machine = describe()
    said = (
        f"`python benchmarks/toggle.py`: Cora, the paper's GCN, {options.nodes} random test nodes, "
        f"{options.samples} samples. Milliseconds from the request to the answer read, over HTTP "
        "on loopback, the server being a process of its own with one thread per computation. The "
        "first request of a node cuts out its computational graph and draws its noise; "
        f"{options.toggles} toggles of a random node or feature follow."
    )
    goal = " and ".join(f"{name} {1e3 * value:.0f} ms" for name, value in GOALS.items())
    text = f"""# Toggling in the explorer

{said}

| request | requests | median | 95 % are below | longest |
| --- | ---: | ---: | ---: | ---: |
{line("first of a node", first)}
{line("toggle", later)}
{line("all", first + later)}

Goal: {goal}.

{machine["machine"]}; {machine["versions"]}.
"""
    (RESULTS / "toggle.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
