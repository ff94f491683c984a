"""Models of links, each `model(x, edge_index, edge_label_index)` → logits (k,)."""

from __future__ import annotations

import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional


class LinkGCN(nn.Module):
    """Two graph convolutions encode the nodes; a link's logit is its ends' inner product.

    Args:
        in_channels: how many features a node has.
        out_channels: how many numbers a node is encoded in; half the width before.
    """

    forward_decodes = True  # what was encoded, so that the whole graph is encoded once

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = gnn.GCNConv(in_channels, 2 * out_channels)
        self.conv2 = gnn.GCNConv(2 * out_channels, out_channels)

    def encode(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return what the nodes are encoded in, (N, out_channels)."""
        x = functional.relu(self.conv1(x, edge_index, edge_weight))  # (N, 2 · out_channels)
        encoded: Tensor = self.conv2(x, edge_index, edge_weight)
        return encoded

    def decode(self, encoded: Tensor, edge_label_index: Tensor) -> Tensor:
        """Return the logits (k,) of links (2, k)."""
        sources, targets = edge_label_index
        return (encoded[sources] * encoded[targets]).sum(dim=-1)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_label_index: Tensor,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the logits (k,) of links (2, k), positive where there is one."""
        return self.decode(self.encode(x, edge_index, edge_weight), edge_label_index)
