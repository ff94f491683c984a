"""Measure a cell's queries, each by all methods in turn, and keep them one by one."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from timing import kept_rows
from timing.cells import Row

from dense_graphs.cells import AGAINST, FEWEST, OURS, WHOLE, Cell
from dense_graphs.graphs import load
from dense_graphs.party import Party
from dense_graphs.queries import Query, queries, warm_up
from dense_graphs.training import trained
from zorro.evaluation.evidence import level, log_evidence


def measure(
    cell: Cell,
    libraries: Mapping[str, Path],
    *,
    folder: Path,
    rows: Path,
    methods: Sequence[str],
    nodes: int | None,
    hubs: int,
    limit: float,
) -> None:
    """Measure those of a cell's queries that are not kept yet.

    A query is measured by all methods within one run, so that their ratios are of one machine in
    one state; one that is kept with an error or without a method is measured anew.

    Args:
        cell: the model, its graph, and what is asked.
        libraries: the checkouts that `OURS` and, if it is there, `AGAINST` run.
        folder: where graphs and models are kept.
        rows: the file of finished queries.
        methods: those that may run.
        nodes: random nodes; as many as the cell says when None.
        hubs: most hubs.
        limit: seconds for one query by one method.
    """
    graph = load(cell.graph, folder)
    accuracy = trained(cell, graph, folder)
    print(f"{cell.name}: test accuracy {accuracy:.3f}", flush=True)
    asked = queries(cell, graph, nodes=cell.nodes if nodes is None else nodes, hubs=hubs)
    request = {"cell": cell.name, "folder": str(folder), "warm_up": warm_up(graph, asked)}
    known = latest(kept_rows.read(rows))
    usable = [
        name
        for name in cell.methods
        if name in methods and (name != AGAINST or AGAINST in libraries)
    ]
    with ExitStack() as stack:
        parties = {
            name: Party(
                {**request, "method": OURS if name == AGAINST else name},
                libraries.get(name, libraries[OURS]),
            )
            for name in usable
        }
        for party in parties.values():
            stack.callback(party.end)
        for query in asked:
            wanted = [name for name in usable if name != WHOLE or query.on_the_whole_graph]
            if not is_complete(known.get((cell.name, query.node), {}), wanted):
                row = _measured(query, {name: parties[name] for name in wanted}, limit)
                about = {"cell": cell.name, "accuracy": accuracy, **asdict(query)}
                kept_rows.append(rows, {**about, **row})
                _tell(cell, query, row)


def latest(rows: Sequence[Row]) -> dict[tuple[str, int], Row]:
    """Return the last row of each query by cell and node."""
    return {(row["cell"], row["node"]): row for row in rows if "cell" in row}


def is_complete(row: Row, wanted: Sequence[str]) -> bool:
    """Whether a kept query has all that is wanted; one over the limit counts, a failed one not."""
    parts = [row.get(name) for name in wanted if name != FEWEST]
    return all(part is not None and "error" not in part for part in parts)


def fewest(tau: float, delta: float) -> int:
    """Return how many samples prove a fidelity of τ at level δ if every one is a hit."""
    samples = 1
    while log_evidence(samples, samples, tau) < -math.log(delta):
        samples += 1
    return samples


def _measured(query: Query, parties: Mapping[str, Party], limit: float) -> Row:
    row: Row = {}
    for name, party in parties.items():
        if name != FEWEST:
            row[name] = party.ask(limit, node=query.node)
    ours = row.get(OURS, {})
    if FEWEST in parties and ours.get("status") == "nothing needed" and ours["attempts"]:
        samples = fewest(ours["tau"], level(ours["delta"], ours["attempts"]))
        row[FEWEST] = parties[FEWEST].ask(limit, node=query.node, samples=samples)
    return row


def _tell(cell: Cell, query: Query, row: Row) -> None:
    told = [
        f"{name} {part['seconds']:.2f} s"
        if "seconds" in part
        else f"{name} over {part['over']:.0f} s"
        if "over" in part
        else f"{name} failed: {part['error']}"
        for name, part in row.items()
    ]
    status = row.get(OURS, {}).get("status", "")
    print(
        f"{time.strftime('%H:%M:%S')} {cell.name}, {query.kind} node {query.node}: "
        f"{', '.join(told)}; {status}",
        flush=True,
    )
