"""Runs whose content is made up, so that a page can be shown every status and any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch_geometric.nn import GCN

from zorro import question
from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation import Explanation, GraphSummary, Parameters, Step, Versus
from zorro.explanation.explanation import Status
from zorro.runs import Outcome, Query, Run, open_run
from zorro.runs import folder as folders
from zorro.runs.digests import digest, model_digest
from zorro.runs.manifest import assembled
from zorro.runs.store import Store
from zorro.runs.task import failed
from zorro.search.certificate import certificate_of


def made_explanation(
    node: int = 7,
    *,
    nodes: tuple[int, ...] = (7, 8),
    features: tuple[int, ...] = (0, 2, 3),
    status: Status = "certified",
    certified: bool | None = None,
    hits: int = 910,
    versus: Versus | None = None,
    size: tuple[int, int] = (40, 5),
) -> Explanation:
    """An explanation with two classes' probabilities, as the guided search would leave it.

    What ended by itself and was not certified was asked for without a certificate.
    """
    proved = status == "certified" if certified is None else certified
    certificate = None
    if proved or status in ("budget exhausted", "conditional"):
        certificate = certificate_of(
            0.85, 0.05, hits=366 if proved else 340, samples=400, attempts=1
        )
    candidates = 9
    if status == "nothing needed":
        nodes = features = ()
    elif status == "everything needed":
        candidates, features = len(nodes), tuple(range(size[1]))
    added = [Step("nodes", (node,), 0.4), *(Step("features", (f,), 0.5) for f in features)]
    return Explanation(
        query=question.Query("node", node),
        predicted_class=1,
        probabilities=(0.07, 0.93),
        selected={"nodes": nodes, "features": features},
        steps=(Step(None, (), 0.1), *added, Step("features", (4,), 0.9, added=False)),
        fidelity=FidelityEstimate(hits, 1000),
        search_fidelity=FidelityEstimate(92, 100),
        status=status,
        parameters=Parameters(
            "guided",
            *(0.85, 10, 100, 1000, 0.95, "column-marginals", 0),
            delta=None if certificate is None else 0.05,
        ),
        graph=GraphSummary(candidates, 13, 20, 2, 1, "whole", False, False, *size),
        evaluator="traced",
        evaluations=100,
        seconds=0.1234,
        version="0",
        certificate=certificate,
        versus=versus,
    )


def ring(nodes: int = 40, features: int = 5) -> dict[str, Any]:
    """A ring of nodes with chords, random features and two classes."""
    generator = torch.Generator().manual_seed(0)
    here = torch.arange(nodes)
    pairs = torch.stack([here.repeat(2), torch.cat([(here + 1) % nodes, (here + 5) % nodes])])
    return {
        "x": torch.randn(nodes, features, generator=generator),
        "edge_index": torch.cat([pairs, pairs.flip(0)], dim=1),
        "y": here % 2,
    }


def small_model(features: int = 5) -> torch.nn.Module:
    torch.manual_seed(0)
    return GCN(features, 4, num_layers=2, out_channels=2)


def made_run(
    folder: Path,
    explanations: list[Explanation],
    *,
    graph: dict[str, torch.Tensor],
    model: torch.nn.Module | None = None,
    failures: dict[int, str] | None = None,
) -> Run:
    """A run's folder that holds what is given."""
    lost = failures or {}
    deltas = {e.parameters.delta for e in explanations}
    x, edge_index = graph["x"], graph["edge_index"]
    manifest = assembled(
        [*(e.node for e in explanations), *lost],
        asked={},
        data={
            "nodes": x.size(0),
            "features": x.size(1),
            "edges": edge_index.size(1),
            "sha256": digest(x, edge_index),
        },
        model={"class": "my.Model", "sha256": "" if model is None else model_digest(model)},
        parameters={
            "search": "guided",
            "tau": 0.85,
            **({"delta": next(iter(deltas))} if len(deltas) == 1 else {}),
            "samples": 100,
            "noise": "column-marginals",
            "seed": 0,
        },
    )
    folders.prepare(folder, manifest)
    with Store(folder / folders.OUTCOMES, write=True) as store:
        for position, e in enumerate(explanations):
            query = Query(position, e.node)
            store.add(Outcome(query, e.status, e.certified, e.to_json(), None, None, 0.1))
        for place, (node, error) in enumerate(lost.items(), len(explanations)):
            store.add(failed(Query(place, node), error))
    return open_run(folder)
