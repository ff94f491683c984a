"""Models of several types, each `model(x_dict, edge_index_dict)` → log-probabilities (N, C).

The rows are the nodes of the type that is asked about. Types that have only numbers for features,
`x` (n,) of integers, have a vector learnt for each of their nodes and looked up by `x`: another
number is another node's vector, so that what the model knows of a node comes in through `x`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import HeteroData

from zorro.errors import InputError

Relation = tuple[str, str, str]
ByType = dict[str, Tensor]  # (n, …) of each type
ByRelation = dict[Relation, Tensor]  # (2, E) of each relation

_NARROW, _WIDE = 32, 64
_HEADS = 2
_SPREAD = 5.0  # of vectors that are looked up, so that attention tells them from features


class HGT(nn.Module):
    """Two layers of heterogeneous graph transformers of width 32, and a linear layer.

    Args:
        data: whose types, relations and sizes of features the model is made for.
        target: the type that it answers for.
        out_channels: how many classes there are.
    """

    def __init__(self, data: HeteroData, target: str, out_channels: int) -> None:
        super().__init__()
        self.target = target
        self.inputs = Inputs(data, _NARROW, spread=_SPREAD)
        self.conv1 = gnn.HGTConv(_NARROW, _NARROW, data.metadata(), heads=_HEADS)
        self.conv2 = gnn.HGTConv(_NARROW, _NARROW, data.metadata(), heads=_HEADS)
        self.lin = nn.Linear(_NARROW, out_channels)

    def forward(self, x_dict: ByType, edge_index_dict: ByRelation) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        states = self.inputs(x_dict)  # (n, 32) of each type
        # Types that no edges lead to have no state of a layer: they keep the one they had.
        for conv in (self.conv1, self.conv2):
            heard = {name: x for name, x in conv(states, edge_index_dict).items() if x is not None}
            states |= {name: self._thinned(x) for name, x in heard.items()}
        return functional.log_softmax(self.lin(states[self.target]), dim=1)

    def _thinned(self, x: Tensor) -> Tensor:
        return functional.dropout(x, training=self.training)


class HeteroSAGE(nn.Module):
    """Two layers, each a SAGE convolution of width 64 for each relation, and a linear layer.

    Args:
        data: whose types, relations and sizes of features the model is made for.
        target: the type that it answers for.
        out_channels: how many classes there are.
    """

    def __init__(self, data: HeteroData, target: str, out_channels: int) -> None:
        super().__init__()
        relations = data.edge_types
        if not any(relation[2] == target for relation in relations):
            raise InputError(f"target: expected a type that edges lead to, got {target!r}")
        self.target = target
        self.inputs = Inputs(data, _WIDE)
        self.conv1 = _convolutions(relations)
        self.conv2 = _convolutions([each for each in relations if each[2] == target])
        self.lin = nn.Linear(_WIDE, out_channels)

    def forward(self, x_dict: ByType, edge_index_dict: ByRelation) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        states = self.inputs(x_dict)  # (n, 64) of each type
        heard = self.conv1(states, edge_index_dict)
        states = {**states, **{name: functional.relu(x) for name, x in heard.items()}}
        x = functional.relu(self.conv2(states, edge_index_dict)[self.target])  # (N, 64)
        x = functional.dropout(x, training=self.training)
        return functional.log_softmax(self.lin(x), dim=1)


class Inputs(nn.Module):
    """What becomes of each type's features: a linear layer and ReLU, or a vector looked up.

    Args:
        data: with `x` of every type, (n, d) or numbers of nodes (n,).
        width: of what comes out.
        spread: standard deviation of the vectors before they are learnt.
    """

    def __init__(self, data: HeteroData, width: int, *, spread: float = 1.0) -> None:
        super().__init__()
        self.lins = nn.ModuleDict()
        self.numbers = nn.ModuleDict()
        for name in data.node_types:
            x = data[name].get("x")
            if x is None:
                raise InputError(
                    f"data[{name!r}].x: expected features, or torch.arange({data[name].num_nodes}) "
                    f"for a vector to be learnt for each node, got none"
                )
            if x.dim() == 1 and not x.is_floating_point():
                self.numbers[name] = vectors = nn.Embedding(int(x.max()) + 1, width)
                nn.init.normal_(vectors.weight, std=spread)
            else:
                self.lins[name] = nn.Linear(1 if x.dim() == 1 else x.size(1), width)

    def forward(self, x_dict: ByType) -> ByType:
        """Return the states (n, width) of each type."""
        states = {}
        for name, x in x_dict.items():
            if name in self.numbers:
                states[name] = self.numbers[name](x)
            else:
                wide = (x.unsqueeze(1) if x.dim() == 1 else x).to(torch.get_default_dtype())
                states[name] = functional.relu(self.lins[name](wide))
        return states


def _convolutions(relations: Sequence[Relation]) -> gnn.HeteroConv:
    each = {relation: gnn.SAGEConv((_WIDE, _WIDE), _WIDE) for relation in relations}
    with warnings.catch_warnings():
        # Types that no edges lead to are meant to keep their states.
        warnings.filterwarnings("ignore", message="There exist node types")
        return gnn.HeteroConv(each, aggr="sum")
