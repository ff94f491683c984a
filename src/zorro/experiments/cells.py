"""The cells of the paper's tables: its models on its data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import nn
from torch_geometric.data import Data

from zorro import data, models
from zorro.models import checkpoint


@dataclass(frozen=True)
class Cell:
    """A model of the paper's on a data set; `str` names it."""

    dataset: str
    model: str

    def __str__(self) -> str:
        return f"{self.dataset} {self.model}"

    def load(self) -> tuple[nn.Module, Data]:
        """Return the trained model and its graph."""
        graph = data.load(self.dataset)
        model = models.build(self.model, graph.num_features, int(graph.y.max()) + 1)
        checkpoint.load(model, checkpoint.paper_checkpoint(self.dataset, self.model))
        return model.eval(), graph

    def nodes(self, count: int | None = None) -> list[int]:
        """Return so many of the paper's query nodes, all when None.

        On the citation graphs these are the first, which are in no order; of the houses, whose
        nodes are in order, they are drawn at random, always the same.
        """
        every = [int(node) for node in data.paper_nodes(self.dataset)]
        if count is not None and self.model == "gcn3":
            every = np.random.default_rng(0).permutation(every).tolist()
        return every[:count]


CITATION = tuple(
    Cell(dataset, model)
    for dataset in ("cora", "citeseer", "pubmed")
    for model in ("gcn", "gat", "gin", "appnp")
)
SYNTHETIC = Cell("ba-community-paper", "gcn3")
