"""Are the claims true? Explanations of many kinds of models, counted by a plain loop.

    python benchmarks/honesty.py
    python benchmarks/honesty.py --models GCN 'global mean' --nodes 5

Every model of the zoo (`honesty_audit/zoo.py`) is trained on a small graph and explained at some
nodes; the plain loop (`honesty_audit/plain_loop.py`) measures each set on the whole graph. Writes
results/honesty.{json,md}; exits with 1 if a claim is false or a model makes zorro crash.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import time
import warnings
from pathlib import Path

import torch
from honesty_audit.audit import Answer, answers, claims_in, predicted_classes
from honesty_audit.table import page
from honesty_audit.zoo import ZOO, Entry, prepare

RESULTS = Path(__file__).parent / "results"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", help="parts of names; all models if none is given")
    parser.add_argument("--nodes", type=int, default=3, help="queries per model")
    parser.add_argument("--samples", type=int, default=300, help="inputs the plain loop runs")
    parser.add_argument("--max-seconds", type=float, default=20, help="for one search")
    parser.add_argument("--size", type=int, help="nodes of each graph, if not 300 or 150")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args()


def chosen(names: list[str] | None) -> list[Entry]:
    """Return the entries whose names contain one of `names`, all for None."""
    if names is None:
        return ZOO
    return [entry for entry in ZOO if any(name.lower() in entry.name.lower() for name in names)]


def row(answer: Answer, claims: int) -> dict[str, object]:
    """Return an answer as plain values, with its verdict."""
    return {**dataclasses.asdict(answer), "verdict": answer.verdict(claims)}


def main() -> None:
    """Audit the chosen models and write the results."""
    asked = arguments()
    torch.set_num_threads(1)
    logging.getLogger("zorro").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")  # of sparse tensors and TorchScript, by torch
    entries = chosen(asked.models)
    if not entries:
        sys.exit(f"--models: no model's name contains any of {asked.models}")
    every: list[Answer] = []
    most = 2 * asked.nodes * len(entries)  # claims; how many there are is known in the end
    started = time.perf_counter()
    for entry in entries:
        case = prepare(entry, asked.size)
        if predicted_classes(case) < 2:
            print(f"{entry.name}: predicts one class everywhere, which says little", flush=True)
        for answer in answers(
            case, case.queries(asked.nodes), runs=asked.samples, max_seconds=asked.max_seconds
        ):
            every.append(answer)
            claim = answer.claim
            reported = f"{claim.hits / claim.samples:.3f}" if claim.samples else "–"
            share = f"{answer.hits / answer.samples:.3f}" if answer.samples else "–"
            print(
                f"{time.perf_counter() - started:6.0f} s  {answer.model}, node {answer.node}: "
                f"{answer.status}, reported {reported}, measured {share}, "
                f"{answer.verdict(most)[:300]}, {answer.seconds:.1f} s",
                flush=True,
            )
    claims = claims_in(every)
    asked.out.mkdir(exist_ok=True)
    command = (
        f"python benchmarks/honesty.py --nodes {asked.nodes} --max-seconds {asked.max_seconds:g}"
    )
    (asked.out / "honesty.json").write_text(
        json.dumps([row(answer, claims) for answer in every], indent=1) + "\n"
    )
    (asked.out / "honesty.md").write_text(page(every, command))
    bad = [a for a in every if a.verdict(claims) == "FALSE" or a.status == "crashed"]
    print(f"{len(every)} queries, {claims} claims, {len(bad)} false or crashed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
