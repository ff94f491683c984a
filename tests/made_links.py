"""Runs about links of a ring with chords, whose model multiplies what its ends see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from made_runs import ring
from torch import nn

from zorro.runs import Run, explain_links

LINKS = ((6, 11), (9, 30), (3, 20))


class Multiplies(nn.Module):
    """The product of what two nodes and their neighbours have, less a threshold."""

    def __init__(self, least: float = 1.0) -> None:
        super().__init__()
        self.least = nn.Parameter(torch.tensor(least))

    def forward(self, x, edge_index, edge_label_index):
        z = x.index_add(0, edge_index[1], 0.5 * x[edge_index[0]])
        one, other = edge_label_index
        return (z[one] * z[other]).sum(1) - self.least


def graph() -> dict[str, Any]:
    """The ring without its classes."""
    return {name: part for name, part in ring().items() if name != "y"}


def linked_run(folder: Path, links: Any = LINKS, **options: Any) -> Run:
    """A real run about some links."""
    asked = {"threshold": 0.0, "engine": "in-process", **options}
    return explain_links(Multiplies().eval(), **graph(), pairs=links, out=folder, **asked)
