"""Models as people write them with PyG: its own basic models, or some layers in a row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    GAT,
    GCN,
    EdgeCNN,
    GCN2Conv,
    GCNConv,
    GPSConv,
    GraphSAGE,
    PNAConv,
)
from torch_geometric.utils import degree

Build = Callable[[Data, int, int], nn.Module]  # the graph, hidden width, classes
DROPOUT = 0.5
LAYERS = 2


class Embedded(nn.Module):
    """A linear layer, some layers with a ReLU behind each, and a linear layer for the classes.

    Args:
        layers: of equal width.
        sizes: of the features, of what is hidden, of the classes.
        is_initial: whether each layer takes the first one's input too, as GCNII's do.
        is_normed: whether batches are normalised behind each layer.
    """

    def __init__(
        self,
        layers: list[nn.Module],
        sizes: tuple[int, int, int],
        *,
        is_initial: bool = False,
        is_normed: bool = False,
    ) -> None:
        super().__init__()
        self.first = nn.Linear(sizes[0], sizes[1])
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(sizes[1]) if is_normed else nn.Identity() for _ in layers
        )
        self.last = nn.Linear(sizes[1], sizes[2])
        self.dropout = nn.Dropout(DROPOUT)
        self.is_initial = is_initial

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = initial = self.first(self.dropout(x)).relu()
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = self.dropout(x)
            x = layer(x, initial, edge_index) if self.is_initial else layer(x, edge_index)
            x = norm(x).relu()
        scores: Tensor = self.last(x)
        return scores


def _pna(graph: Data, hidden: int, classes: int) -> nn.Module:
    degrees = torch.bincount(degree(graph.edge_index[1], graph.num_nodes).long())
    options = {
        "aggregators": ["mean", "min", "max", "std"],
        "scalers": ["identity", "amplification", "attenuation"],
        "deg": degrees,
    }
    layers: list[nn.Module] = [PNAConv(hidden, hidden, **options) for _ in range(LAYERS)]
    return Embedded(layers, (graph.num_features, hidden, classes), is_normed=True)


def _gcnii(graph: Data, hidden: int, classes: int) -> nn.Module:
    layers: list[nn.Module] = [
        GCN2Conv(hidden, alpha=0.1, theta=0.5, layer=at + 1) for at in range(LAYERS)
    ]
    return Embedded(layers, (graph.num_features, hidden, classes), is_initial=True)


def _gps(graph: Data, hidden: int, classes: int) -> nn.Module:
    layers: list[nn.Module] = [
        GPSConv(hidden, GCNConv(hidden, hidden), heads=4, dropout=DROPOUT) for _ in range(LAYERS)
    ]
    return Embedded(layers, (graph.num_features, hidden, classes))


def _basic(kind: Callable[..., nn.Module], **options: object) -> Build:
    def build(graph: Data, hidden: int, classes: int) -> nn.Module:
        return kind(graph.num_features, hidden, LAYERS, classes, dropout=DROPOUT, **options)

    return build


BUILDS: dict[str, Build] = {
    "gcn": _basic(GCN),
    "gat": _basic(GAT, heads=8),  # eight heads of an eighth of the width each
    "sage": _basic(GraphSAGE),
    "sage-max": _basic(GraphSAGE, aggr="max"),
    "pna": _pna,
    "edgeconv": _basic(EdgeCNN),
    "gcnii": _gcnii,
    "gps": _gps,
}
