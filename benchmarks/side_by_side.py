"""Two ways to answer the same queries, in turn: seconds, operator calls, sizes.

    python benchmarks/side_by_side.py paper certified [--taus .85] [--nodes 20] [--cells "cora gcn"]
    python benchmarks/side_by_side.py certified certified --sources OTHER/src src

The paper's models and the first of its query nodes. Each party is a process of its own, with one
thread, and may run another version of the package. Each query is asked of both before the next
one, in alternating order. Seconds are those of the processor's time: other work on the machine
makes them longer by little, and both alike. With `--count` the cost is how many operators torch was
asked for, which no other work changes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from timing.cells import CELLS, load
from torch.utils._python_dispatch import TorchDispatchMode

from zorro import Zorro, data

SOURCE = Path(__file__).parents[1] / "src"
WAYS: dict[str, dict[str, Any]] = {
    "certified": {},
    "guided": {"delta": None, "fresh_samples": 1},
    "paper": {"search": "paper", "fresh_samples": 1},
}
Answer = dict[str, Any]


class Counter(TorchDispatchMode):
    """Counts the operators that torch is asked for."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Count one, and run it."""
        self.calls += 1
        return func(*args, **(kwargs or {}))


@cache
def explainer(cell: str, tau: float, way: str) -> Zorro:
    """Return what answers a cell's queries, once it has answered one."""
    (known,) = (one for one in CELLS if str(one) == cell)
    loaded = load(known)
    zorro = Zorro(loaded.model, loaded.x, loaded.edge_index, tau=tau, **WAYS[way])
    zorro.explain(int(data.paper_nodes(known.dataset)[-1]))
    return zorro


def answer(cell: str, tau: float, way: str, node: int, count: bool) -> Answer:
    """Return what a query took and gave."""
    zorro = explainer(cell, tau, way)
    started = time.process_time()
    if count:
        with Counter() as counter:
            explanation = zorro.explain(node)
        cost = float(counter.calls)
    else:
        explanation = zorro.explain(node)
        cost = time.process_time() - started
    certificate = explanation.certificate
    return {
        "cost": cost,
        "nodes": len(explanation.nodes),
        "features": len(explanation.features),
        "certified": certificate is not None and certificate.certified,
        "attempts": 0 if certificate is None else certificate.attempts,
        "steps": len(explanation.steps),
    }


def serve() -> None:
    """Answer the queries that come in, a line each, until there are no more."""
    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


class Party:
    """A process that answers in one way, with one version of the package."""

    def __init__(self, way: str, source: Path) -> None:
        self._way = way
        path = f"{source.resolve()}{os.pathsep}{Path(__file__).parent}"
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )

    def ask(self, **query: Any) -> Answer:
        """Return the answer to a query."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**query, "way": self._way}) + "\n")
        self._process.stdin.flush()
        answered: Answer = json.loads(self._process.stdout.readline())
        return answered

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def entropy(answers: Sequence[Answer], kind: str) -> float:
    """Return the mean entropy of a kind's selected elements."""
    return statistics.mean(math.log(max(1, one[kind])) for one in answers)


def line(cell: str, tau: float, answers: tuple[list[Answer], list[Answer]]) -> str:
    """Return a row of the table: each figure of the first party / of the second."""

    def both(of: Any, digits: int) -> str:
        return " / ".join(f"{of(some):.{digits}f}" for some in answers)

    def middle(some: list[Answer]) -> float:
        return float(statistics.median(one["cost"] for one in some))

    shares = [first["cost"] / second["cost"] for first, second in zip(*answers, strict=True)]
    columns = [
        cell,
        str(tau),
        both(middle, 3),
        f"{middle(answers[0]) / middle(answers[1]):.2f}",
        f"{statistics.median(shares):.2f}",
        f"{sum(one['cost'] for one in answers[0]) / sum(one['cost'] for one in answers[1]):.2f}",
        both(lambda some: entropy(some, "nodes"), 3),
        both(lambda some: entropy(some, "features"), 3),
        both(lambda some: statistics.mean(one["attempts"] for one in some), 2),
        both(lambda some: statistics.mean(one["certified"] for one in some), 2),
    ]
    return f"| {' | '.join(columns)} |"


HEAD = (
    "| cell | τ | cost, median | ratio | median of ratios | ratio of sums | node entropy "
    "| feature entropy | attempts | certified |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs=2, choices=tuple(WAYS), help="of the two parties")
    parser.add_argument("--sources", nargs=2, type=Path, default=[SOURCE, SOURCE])
    parser.add_argument("--taus", nargs="+", type=float, default=[0.85])
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--cells", nargs="+", default=[str(cell) for cell in CELLS[:12]])
    parser.add_argument("--count", action="store_true", help="operator calls in place of seconds")
    return parser.parse_args()


def main() -> None:
    """Ask both parties, and print a row of a table for each cell."""
    asked = arguments()
    print(HEAD, flush=True)
    for cell in asked.cells:
        parties = [Party(*one) for one in zip(asked.ways, asked.sources, strict=True)]
        nodes = data.paper_nodes(cell.split()[0])[: asked.nodes]
        for tau in asked.taus:
            answers: tuple[list[Answer], list[Answer]] = ([], [])
            for number, node in enumerate(nodes):
                for place in (0, 1) if number % 2 else (1, 0):
                    query = {"cell": cell, "tau": tau, "node": int(node), "count": asked.count}
                    answers[place].append(parties[place].ask(**query))
            print(line(cell, tau, answers), flush=True)
        for party in parties:
            party.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main()
