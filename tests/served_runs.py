"""What is served in tests: a model that can be slow, and names; and how its events are read."""

from __future__ import annotations

import json
import time
from typing import Any

import torch
from torch_geometric.nn import GCN

from zorro.graph.names import Names
from zorro.model.randomness import seeded

HERE = "http://127.0.0.1"
NAMES = Names(node="paper", feature="word", features=["ant", "bee", "cat", "dog", "emu"])
EXPLAINED = (6, 9, 11)  # of 40, those whose predictions rest on something


class Sluggish(torch.nn.Module):
    """A model that takes half a minute when it is told to."""

    def __init__(self):
        super().__init__()
        with seeded(1):
            self.inner = GCN(5, 4, num_layers=2, out_channels=2)
        self.slow = False

    def forward(self, x, edge_index):
        if self.slow:
            for _ in range(3000):
                time.sleep(0.01)
                x = x + 0
        return self.inner(x, edge_index)


def events_of(client: Any, job: str) -> list[tuple[str, dict[str, Any]]]:
    """Return all events of a job, once it has ended."""
    text = client.get(f"/api/jobs/{job}/events").text
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    lines = [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]
    return [(line["event"], json.loads(line["data"])) for line in lines]
