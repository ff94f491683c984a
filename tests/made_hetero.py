"""A small graph of authors, papers and venues, and models of it, for tests."""

import numpy as np
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import (
    GATConv,
    HANConv,
    HeteroConv,
    HeteroDictLinear,
    HGTConv,
    RGCNConv,
    SAGEConv,
    to_hetero,
)
from torch_geometric.transforms import ToUndirected

CLASSES = 3


def library(*, seed=0, venue_ids=True, authors=30, papers=40):
    """Authors with dense features, papers with words, venues by their numbers; ways back too."""
    draw = torch.Generator().manual_seed(seed)

    def numbers(below, count):
        return torch.randint(below, (count,), generator=draw)

    data = HeteroData()
    data["author"].x = torch.randn(authors, 5, generator=draw)
    data["paper"].x = (torch.rand(papers, 6, generator=draw) < 0.4).float()
    venues = 4
    data["venue"].x = torch.arange(venues) if venue_ids else torch.randn(venues, 3, generator=draw)
    written = torch.stack(
        [torch.arange(authors).repeat_interleave(2), numbers(papers, 2 * authors)]
    )
    data["author", "writes", "paper"].edge_index = written.unique(dim=1)
    data["paper", "in", "venue"].edge_index = torch.stack(
        [torch.arange(papers), numbers(venues, papers)]
    )
    return ToUndirected()(data)


class Convolved(nn.Module):
    """Two layers, each a convolution for each relation."""

    def __init__(self, data, conv=SAGEConv, *, width=8, seed=0, venue_ids=True, **options):
        super().__init__()
        torch.manual_seed(seed)
        self.numbers = nn.Embedding(4, 3) if venue_ids else None
        relations = data.edge_types
        self.first = HeteroConv({r: conv((-1, -1), width, **options) for r in relations})
        self.second = HeteroConv({r: conv((-1, -1), CLASSES, **options) for r in relations})
        _begun(self, data)

    def forward(self, x_dict, edge_index_dict):
        x_dict = _looked_up(x_dict, self.numbers)
        hidden = self.first(x_dict, edge_index_dict)
        hidden = {name: value.relu() for name, value in hidden.items()}
        return self.second(hidden, edge_index_dict)


class Transformed(nn.Module):
    """Two heterogeneous graph transformers."""

    def __init__(self, data, *, width=8, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.numbers = nn.Embedding(4, 3)
        self.lin = HeteroDictLinear(-1, width, types=data.node_types)
        metadata = data.metadata()
        self.convs = nn.ModuleList(HGTConv(width, width, metadata, heads=2) for _ in range(2))
        self.out = nn.Linear(width, CLASSES)
        _begun(self, data)

    def forward(self, x_dict, edge_index_dict):
        x_dict = self.lin(_looked_up(x_dict, self.numbers))
        x_dict = {name: value.relu() for name, value in x_dict.items()}
        for conv in self.convs:
            x_dict = conv(x_dict, edge_index_dict)
        return self.out(x_dict["author"])


class Attended(nn.Module):
    """A layer with attention over relations, which looks at all nodes of a type."""

    def __init__(self, data, *, width=8, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        widths = {name: data[name].x.size(1) for name in data.node_types}
        self.conv = HANConv(widths, width, data.metadata(), heads=2)
        self.out = nn.Linear(width, CLASSES)
        _begun(self, data)

    def forward(self, x_dict, edge_index_dict):
        return self.out(self.conv(x_dict, edge_index_dict)["author"])


class Linked(nn.Module):
    """How well an author and a venue fit."""

    def __init__(self, data):
        super().__init__()
        self.encoder = Convolved(data)

    def forward(self, x_dict, edge_index_dict, edge_label_index):
        z = self.encoder(x_dict, edge_index_dict)
        return (z["author"][edge_label_index[0]] * z["venue"][edge_label_index[1]]).sum(-1)


class Related(nn.Module):
    """A relational convolution of one matrix for all types."""

    def __init__(self, relations, columns, *, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.first = RGCNConv(columns, 8, relations)
        self.second = RGCNConv(8, CLASSES, relations)
        self.eval()

    def forward(self, x, edge_index, edge_type):
        return self.second(self.first(x, edge_index, edge_type).relu(), edge_index, edge_type)


class Sage(nn.Module):
    """For one type of nodes, until `to_hetero` makes it one for several."""

    def __init__(self):
        super().__init__()
        self.first = SAGEConv((-1, -1), 8)
        self.second = SAGEConv((-1, -1), CLASSES)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def transformed_sage(data, *, seed=0):
    """A model that PyG made heterogeneous."""
    torch.manual_seed(seed)
    return _begun(to_hetero(Sage(), data.metadata()), data)


def attention(data):
    """Convolutions with attention."""
    return Convolved(data, GATConv, add_self_loops=False)


def _begun(model, data):
    with torch.no_grad():
        model(data.x_dict, data.edge_index_dict)  # lazy layers learn their sizes
    return model.eval()


def _looked_up(x_dict, numbers):
    if numbers is None:
        return x_dict
    return {**x_dict, "venue": numbers(x_dict["venue"])}


def with_classes(*, seed=0):
    """A graph whose authors are of two fields, by the venue that most of their papers are in."""
    data = library(seed=seed, authors=60, papers=80)
    paper, venue = data["paper", "in", "venue"].edge_index
    venue_of = torch.empty_like(venue)
    venue_of[paper] = venue
    author, written = data["author", "writes", "paper"].edge_index
    share = torch.zeros(60, 2).index_put_(
        (author, (venue_of[written] > 1).long()), torch.ones(()), accumulate=True
    )
    data["author"].y = share.argmax(dim=1)
    part = torch.arange(60) % 4
    data["author"].train_mask = part < 2
    data["author"].val_mask = part == 2
    data["author"].test_mask = part == 3
    return data


def written(path, data):
    """Write a graph as the file that `--dataset` takes."""
    arrays = {}
    for store in data.node_stores:
        for name, values in store.items():
            arrays[f"{store._key}/{name}"] = values.numpy()
    for relation in data.edge_types:
        arrays[f"{'/'.join(relation)}/edge_index"] = data[relation].edge_index.numpy()
    np.savez(path, **arrays)
