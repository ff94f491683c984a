"""Traced models of several types give what the model gives, sample by sample."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import (
    GATConv,
    GATv2Conv,
    GCNConv,
    GraphConv,
    HeteroConv,
    HeteroDictLinear,
    HGTConv,
    SAGEConv,
)

sys.path.append(str(Path(__file__).parents[1]))

from made_hetero import (
    CLASSES,
    Convolved,
    Related,
    Transformed,
    library,
    transformed_sage,
)

from zorro import Zorro
from zorro.elements import Selection

CITED = ("paper", "cites", "paper")


def with_citations(**options):
    """The library, in which papers cite papers as well, so that a relation has one type."""
    data = library(**options)
    draw = torch.Generator().manual_seed(5)
    data[CITED].edge_index = torch.randint(40, (2, 60), generator=draw)
    return data


class Mixed(nn.Module):
    """Another layer for each relation, what comes of them joined by a maximum."""

    def __init__(self, data, *, aggr="max"):
        super().__init__()
        torch.manual_seed(1)
        self.numbers = nn.Embedding(4, 8)
        self.lin = HeteroDictLinear(-1, 8, types=data.node_types)
        kinds = [
            lambda: SAGEConv((8, 8), 8, aggr="sum", normalize=True),
            lambda: GraphConv((8, 8), 8),
            lambda: GATv2Conv((8, 8), 4, heads=2, add_self_loops=False, residual=True),
            lambda: GATConv((8, 8), 8, add_self_loops=False, residual=True),
        ]
        relations = [each for each in data.edge_types if each != CITED]
        convs = {each: kinds[place % 4]() for place, each in enumerate(relations)}
        self.conv = HeteroConv({**convs, CITED: GCNConv(8, 8)}, aggr=aggr)
        wide = 24 if aggr == "cat" else 8
        self.out = nn.Linear(wide, CLASSES)
        with torch.no_grad():
            self(data.x_dict, data.edge_index_dict)
        self.eval()

    def forward(self, x_dict, edge_index_dict):
        x_dict = self.lin({**x_dict, "venue": self.numbers(x_dict["venue"])})
        x_dict = {name: x.tanh() for name, x in x_dict.items()}
        out = self.conv(x_dict, edge_index_dict)
        return {"paper": self.out(out["paper"])}


class TransformedOnce(nn.Module):
    """A graph transformer right on the features, in which two relations join the same types."""

    def __init__(self, data):
        super().__init__()
        torch.manual_seed(2)
        widths = {name: data[name].x.size(1) for name in data.node_types}
        self.conv = HGTConv(widths, 6, data.metadata(), heads=3)
        self.out = nn.Linear(6, CLASSES)
        with torch.no_grad():
            self(data.x_dict, data.edge_index_dict)
        self.eval()

    def forward(self, x_dict, edge_index_dict):
        return self.out(self.conv(x_dict, edge_index_dict)["paper"])


def cited_twice():
    data = with_citations(venue_ids=False)
    data["paper", "extends", "paper"].edge_index = torch.tensor([[1, 3, 5, 3], [3, 4, 3, 9]])
    return data


def relational():
    data = library(venue_ids=False)
    for name in data.node_types:
        data[name].x = data[name].x[:, :3].contiguous()
    return data


MADE: dict[str, tuple[Any, ...]] = {
    "SAGE": (library, Convolved, "author"),
    "SAGE of numbers": (lambda: library(venue_ids=False), lambda d: Convolved(d, venue_ids=False)),
    "GAT": (library, lambda d: Convolved(d, GATConv, add_self_loops=False)),
    "GATv2": (library, lambda d: Convolved(d, GATv2Conv, add_self_loops=False, heads=1)),
    "GraphConv": (library, lambda d: Convolved(d, GraphConv)),
    "HGT": (library, Transformed),
    "HGT at once": (cited_twice, TransformedOnce, "paper"),
    "to_hetero": (lambda: library(venue_ids=False), transformed_sage),
    "mixed": (with_citations, Mixed, "paper"),
    "mixed, mean": (with_citations, lambda d: Mixed(d, aggr="mean"), "paper"),
    "mixed, side by side": (with_citations, lambda d: Mixed(d, aggr="cat"), "paper"),
    "RGCN": (relational, lambda d: Related(len(d.edge_types), 3)),
}


def both(name, keep):
    """The two evaluators of a query, on the same noise."""
    make, model_of, *target = MADE[name]
    data = make()
    return evaluators(model_of(data), data, target[0] if target else "author", 3, keep=keep)


def evaluators(model, data, target, query, **options):
    made = []
    for evaluator in ("traced", "any-model"):
        zorro = Zorro.of_hetero(model, data, target, evaluator=evaluator, check="none", **options)
        made.append(zorro.meter(query, samples=40).evaluator)
    assert [one.name for one in made] == ["traced", "any-model"]
    return made


def assert_same(model, data, target, query, **options):
    traced, asked = evaluators(model, data, target, query, **options)
    for selection in some_selections(traced.space):
        theirs = asked.scores(Selection(asked.space, selection.masks))
        torch.testing.assert_close(traced.scores(selection), theirs, atol=1e-4, rtol=1e-4)


def some_selections(space, count=4):
    draw = torch.Generator().manual_seed(0)
    for share in torch.linspace(0, 1, count).tolist():
        masks = {
            kind: torch.rand(size, generator=draw) < share for kind, size in space.sizes.items()
        }
        yield Selection(space, masks)


@pytest.mark.parametrize(
    "keep",
    [("nodes", "features"), ("edges",), ("types",), ("relations",), ("nodes", "features", "edges")],
    ids="-".join,
)
@pytest.mark.parametrize("name", MADE)
def test_scores_are_the_model_s(name, keep):
    traced, asked = both(name, keep)
    for selection in some_selections(traced.space):
        theirs = Selection(asked.space, selection.masks)
        torch.testing.assert_close(
            traced.scores(selection), asked.scores(theirs), atol=1e-4, rtol=1e-4
        )
        assert torch.equal(traced.hits(selection), asked.hits(theirs))
        for kind, size in traced.space.sizes.items():
            members = torch.arange(size)[:: max(1, size // 12)]
            ours = traced.scores_toggling(selection, kind, members)
            torch.testing.assert_close(
                ours, asked.scores_toggling(theirs, kind, members), atol=1e-4, rtol=1e-4
            )
            assert torch.equal(
                traced.hits_toggling(selection, kind, members),
                asked.hits_toggling(theirs, kind, members),
            )


@pytest.mark.parametrize("name", ["SAGE", "HGT", "mixed"])
def test_gains_of_what_is_looked_up_are_the_slope_at_the_table(name):
    """A kept number's vector, as far as it is another than the drawn one's, along the gradient."""
    traced, asked = both(name, ("nodes", "features"))
    selection = next(iter(some_selections(traced.space)))  # nothing
    gains = traced.gains(selection)["nodes"]
    is_venue = traced.space.types.rows == 2
    assert bool(gains[is_venue].isfinite().all())
    assert bool((gains[is_venue] != 0).any())
    assert bool(
        (asked.gains(Selection(asked.space, selection.masks))["nodes"][is_venue]).isinf().all()
    )
    # A step of the table towards what is true, in place of the whole way.
    looked_up = next(t for t in traced._terms if type(t).__name__ == "LookedUpTerms")
    states = dict(traced._base(selection).states)
    step = 1e-3
    total = torch.zeros_like(gains)

    def aim(states):
        return traced.event.log_probability(traced._read(traced._program.run(states))).mean()

    before = aim({key: value.clone() for key, value in states.items()})
    for key, entry in looked_up._entries.items():
        for row in entry.inside.nonzero().flatten().tolist():
            moved = {each: value.clone() for each, value in states.items()}
            moved[key][row] += step * looked_up._changes(key)[row]
            total[entry.needs[row]] += (aim(moved) - before) / step
    torch.testing.assert_close(gains[is_venue], total[is_venue], atol=2e-3, rtol=5e-2)


def test_what_asks_for_the_shape_of_its_features_is_traced():
    data = library()

    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Convolved(data)

        def forward(self, x_dict, edge_index_dict):
            assert x_dict["venue"].dim() == 1
            assert not x_dict["venue"].is_floating_point()
            assert x_dict["author"].size(-1) == 5
            assert x_dict["author"].ndim == 2
            return self.inner(
                {k: x.float() if x.dim() == 2 else x for k, x in x_dict.items()}, edge_index_dict
            )

    assert_same(Asks().eval(), data, "author", 4)


def test_links_between_types_are_traced():
    data = library()

    class Linked(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = Convolved(data)

        def forward(self, x_dict, edge_index_dict, edge_label_index):
            z = self.encoder(x_dict, edge_index_dict)
            return (z["author"][edge_label_index[0]] * z["venue"][edge_label_index[1]]).sum(-1)

    model = Linked().eval()
    target = ("author", "likes", "venue")
    assert_same(model, data, target, (3, 2), threshold=0.0)
