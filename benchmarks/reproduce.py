"""`zorro reproduce` for machines that have only the library's core packages, such as GPU machines.

    python benchmarks/reproduce.py real --device cuda --workers 12 --methods "zorro .85 reference"

What it measures is kept below OUT/runs; `zorro reproduce NAME --report-only` makes the tables.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import torch

from zorro.paper import EXPERIMENTS, Settings
from zorro.runs import Outcome
from zorro.runs.engines import engine_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=list(EXPERIMENTS))
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--methods")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    done: Counter[str] = Counter()
    started = time.monotonic()

    def tell(what: str, outcome: Outcome) -> None:
        done["failed" if outcome.error else "measured"] += 1
        if outcome.error and done["failed"] <= 5:
            print(f"{what}, node {outcome.query.key}: {outcome.error}", flush=True)
        if sum(done.values()) % 250 == 0:
            print(f"{time.monotonic() - started:.0f} s: {dict(done)}", flush=True)

    settings = Settings(
        runs=given.out / "runs",
        nodes=given.nodes,
        methods=tuple(given.methods.split(",")) if given.methods else None,
        engine=engine_of(
            "in-process" if given.workers == 1 else "processes",
            queries=300,
            workers=given.workers,
        ),
        device=given.device,
        on_outcome=tell,
    )
    report = EXPERIMENTS[given.name].run(settings)
    report.write(given.out, given.name, command=f"benchmarks/reproduce.py {given.name}")
    print(dict(done))


if __name__ == "__main__":
    main()
