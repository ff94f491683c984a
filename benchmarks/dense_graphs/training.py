"""A cell's model, trained once and kept."""

from __future__ import annotations

from pathlib import Path

from timing.cells import ModelOnGraph
from torch import nn
from torch_geometric.data import Data

from dense_graphs.cells import Cell
from dense_graphs.models import BUILDS
from zorro import models
from zorro.models import checkpoint


def trained(cell: Cell, graph: Data, folder: Path) -> float:
    """Train the cell's model unless `folder` has it; return its accuracy on the test nodes."""
    path = _path(cell, folder)
    if not path.exists():
        print(f"training {path.stem} …", flush=True)

        def build(features: int, classes: int) -> nn.Module:
            return BUILDS[cell.model](graph, cell.hidden, classes)

        model = models.train(build, graph, cell.settings)
        record = checkpoint.describe(
            model, cell.model, graph, dataset=cell.graph, settings=cell.settings
        )
        checkpoint.save(path, model, record)
    return float(checkpoint.read_record(path)["accuracy"]["test"])


def loaded(cell: Cell, graph: Data, folder: Path) -> ModelOnGraph:
    """Return the trained model on its graph."""
    model = BUILDS[cell.model](graph, cell.hidden, int(graph.y.max()) + 1)
    checkpoint.load(model, _path(cell, folder))
    return ModelOnGraph(model.eval(), graph.x, graph.edge_index)


def _path(cell: Cell, folder: Path) -> Path:
    return folder / f"{cell.graph}_{cell.model}_{cell.hidden}.safetensors"
