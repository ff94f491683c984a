"""A small run whose sets are of edges, and what it was made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from made_runs import ring
from torch_geometric.nn import GCN

from zorro.model.randomness import seeded
from zorro.runs import Run, explain_many

EXPLAINED = (7, 12, 14)  # of 40, nodes whose answers rest on two edges or more
OPTIONS: dict[str, Any] = {"keep": ("edges",), "edge_presence": 0.3, "fresh_samples": 300}

with seeded(3):
    MODEL = GCN(5, 8, num_layers=2, out_channels=2).eval()


def edge_run(folder: Path, **options: Any) -> Run:
    graph = ring()
    return explain_many(
        MODEL,
        graph["x"],
        graph["edge_index"],
        EXPLAINED,
        out=folder,
        engine="in-process",
        **{**OPTIONS, **options},
    )
