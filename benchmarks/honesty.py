"""Are the claims true? Explanations of many kinds of models, counted by a plain loop.

    python benchmarks/honesty.py
    python benchmarks/honesty.py --models GCN 'global mean' --nodes 5

Every model of the zoos (`honesty_audit/zoo.py`, `graph_zoo.py`, `link_zoo.py`, `value_zoo.py`,
`edge_zoo.py`, `typed_zoo.py`, and those of narrow decisions, `half_zoo.py` and `offset_zoo.py`) is
trained on a small graph, or on many, and explained at some nodes, graphs or links; a plain loop
(`honesty_audit/plain_loop.py`, `plain_edges.py`, `plain_types.py`) measures each set on the whole
graph. Writes results/honesty.{json,md}, or files of another name; exits with 1 if a claim is false
or a model makes zorro crash.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch
from honesty_audit.audit import Answer, Case, answers, claims_in, predicted_classes
from honesty_audit.half_zoo import HALF_ZOO
from honesty_audit.hard import HardCase
from honesty_audit.offset_zoo import OFFSET_ZOO
from honesty_audit.prepared import ENTRIES, ZOOS, AnyEntry, prepare_any
from honesty_audit.table import page

RESULTS = Path(__file__).parent / "results"
CLOSER = 5  # times as many inputs are run where a count leaves doubt
HARD_ZOOS = {"Half precision": HALF_ZOO, "Large common offsets": OFFSET_ZOO}
HARD: dict[str, AnyEntry] = {entry.name: entry for zoo in HARD_ZOOS.values() for entry in zoo}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", help="parts of names; all models if none is given")
    parser.add_argument("--nodes", type=int, default=3, help="queries per model")
    parser.add_argument(
        "--samples", type=int, default=300, help="inputs the plain loop runs at first"
    )
    parser.add_argument("--max-seconds", type=float, default=20, help="for one search")
    parser.add_argument("--size", type=int, help="nodes of each graph, if not 300 or 150")
    parser.add_argument("--processes", type=int, default=2, help="that audit a model each")
    parser.add_argument("--name", default="honesty", help="of the result's files")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args()


def chosen(parts: list[str] | None) -> list[str]:
    """Return the models whose names contain one of `parts`, all for None."""
    names = [*ENTRIES, *HARD]
    if parts is None:
        return names
    return [name for name in names if any(part.lower() in name.lower() for part in parts)]


def prepared(name: str, size: int | None) -> Case:
    """Return the trained model of a name."""
    if name in HARD:
        return HardCase(prepare_any(HARD[name], size))
    return prepare_any(ENTRIES[name], size)


def row(answer: Answer, claims: int) -> dict[str, object]:
    """Return an answer as plain values, with its verdict."""
    return {**dataclasses.asdict(answer), "verdict": answer.verdict(claims)}


def audited(name: str, asked: argparse.Namespace) -> list[Answer]:
    """Return what comes of some queries of a model, told as they come."""
    torch.set_num_threads(1)
    logging.getLogger("zorro").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")  # of sparse tensors and TorchScript, by torch
    case = prepared(name, asked.size)
    if predicted_classes(case) < 2:
        print(f"{name}: predicts one class everywhere, which says little", flush=True)
    queries = case.queries(asked.nodes)
    found = []
    counting = {"runs": CLOSER * asked.samples, "first": asked.samples}
    for answer in answers(case, queries, **counting, max_seconds=asked.max_seconds):
        found.append(answer)
        claim = answer.claim
        reported = f"{claim.hits / claim.samples:.3f}" if claim.samples else "–"
        share = f"{answer.hits / answer.samples:.3f}" if answer.samples else "–"
        print(
            f"{answer.model}, {answer.query}: {answer.status}, reported {reported}, measured "
            f"{share}, {answer.message[:300]} {answer.seconds:.1f} s",
            flush=True,
        )
    return found


def main() -> None:
    """Audit the chosen models and write the results."""
    asked = arguments()
    names = chosen(asked.models)
    if not names:
        sys.exit(f"--models: no model's name contains any of {asked.models}")
    with ProcessPoolExecutor(asked.processes, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(audited, name, asked) for name in names]
        every = [answer for job in jobs for answer in job.result()]
    claims = claims_in(every)
    asked.out.mkdir(exist_ok=True)
    chosen_models = f" --models {' '.join(asked.models)}" if asked.models else ""
    named = "" if asked.name == "honesty" else f" --name {asked.name}"
    command = (
        f"python benchmarks/honesty.py{chosen_models} --nodes {asked.nodes} "
        f"--max-seconds {asked.max_seconds:g}{named}"
    )
    sections = {
        title: {entry.name for entry in zoo} for title, zoo in {**ZOOS, **HARD_ZOOS}.items()
    }
    (asked.out / f"{asked.name}.json").write_text(
        json.dumps([row(answer, claims) for answer in every], indent=1) + "\n"
    )
    (asked.out / f"{asked.name}.md").write_text(page(every, command, sections))
    bad = [a for a in every if a.verdict(claims) == "FALSE" or a.status == "crashed"]
    print(f"{len(every)} queries, {claims} claims, {len(bad)} false or crashed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
