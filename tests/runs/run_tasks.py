"""Tasks for tests, importable by worker processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch_geometric.nn import GCN, GCNConv

from zorro.explanation import Explanation
from zorro.runs.given import LinksOf, OneGraph
from zorro.runs.task import LoadedTask, Result, Task

NODES = 60


def small_task(**options: object) -> LoadedTask:
    """A two-layer GCN on a ring of 60 nodes with chords; a node takes some 30 ms."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(NODES, 12, generator=generator)
    ring = torch.arange(NODES)
    edge_index = torch.stack(
        [torch.cat([ring, (ring + 1) % NODES]), torch.cat([(ring + 1) % NODES, (ring + 7) % NODES])]
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = GCN(12, 16, 2, out_channels=3).eval()
    return LoadedTask(
        model, OneGraph(x, edge_index), {"samples": 20, "fresh_samples": 50, **options}
    )


class Inner(nn.Module):
    """Encodes nodes and decodes links, as PyG's examples do; it has no forward of its own."""

    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(12, 8), GCNConv(8, 8)

    def encode(self, x, edge_index):
        return self.second(self.first(x, edge_index).tanh(), edge_index)

    def decode(self, z, edge_label_index):
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) * 4 - 0.1


def links_task(**options: object) -> LoadedTask:
    """Links between the nodes of the same graph."""
    graph = small_task().data
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Inner().eval()
    asked = {"samples": 20, "fresh_samples": 50, "threshold": 0.0, **options}
    assert isinstance(graph, OneGraph)
    return LoadedTask(model, LinksOf(graph), asked)


@dataclass(frozen=True)
class Misbehaving:
    """Answers as another task does, but for some nodes does something else first.

    Args:
        task: the other.
        on: node → what to do: "raise" or "die".
        pause: seconds before each answer.
    """

    task: Task
    on: dict[int, str]
    pause: float = 0.0

    def open(self, *, workers: int = 1) -> Callable[[int], Result]:
        answer = self.task.open(workers=workers)

        def misbehave(node: int) -> Result:
            time.sleep(self.pause)
            what = self.on.get(node)
            if what == "raise":
                raise ValueError(f"node {node}\nis not to be explained")
            if what == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            return answer(node)

        return misbehave


@dataclass(frozen=True)
class Unopenable:
    """A task that cannot be opened."""

    def open(self, *, workers: int = 1) -> Callable[[int], Explanation]:
        raise OSError("the checkpoint is gone")
