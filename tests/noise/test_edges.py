"""The noise of edges: its distribution, and its addresses."""

import pytest
import torch
from scipy.stats import binomtest, chisquare

from zorro.elements import EDGE_ATTRIBUTES, EDGES, Space, nothing_of
from zorro.elements.edges import EdgeElements
from zorro.elements.selection import Selection
from zorro.noise.edges import EdgeNoise

NODES = 12


def some_edges(count=25, seed=0):
    draw = torch.Generator().manual_seed(seed)
    pairs = torch.randint(NODES, (2, count), generator=draw)
    return torch.cat([pairs, pairs.flip(0)], dim=1)


def elements(edge_index, **attributes):
    return EdgeElements.of(edge_index, attributes, nodes=NODES, directed=False)


@pytest.mark.parametrize("presence", [0.0, 0.1, 0.5, 0.9])
def test_edges_are_there_with_their_probability_each_for_itself(presence):
    edges = elements(some_edges())
    drawn = EdgeNoise(presence).draws(edges, seed=1, query=3, samples=range(4000)).present
    if presence == 0:
        assert not drawn.any()
        return
    for column in drawn.t():
        assert binomtest(int(column.sum()), 4000, presence).pvalue > 1e-5
    together = (drawn[:, :-1] & drawn[:, 1:]).sum(0)
    for count in together.tolist():
        assert binomtest(count, 4000, presence**2).pvalue > 1e-5
    one_after_another = (drawn[:-1] & drawn[1:]).sum(0)
    for count in one_after_another.tolist():
        assert abs(count / 3999 - presence**2) < 0.06


def test_what_is_drawn_depends_on_the_edge_and_the_sample_alone():
    edge_index = some_edges()
    edges = elements(edge_index)
    noise = EdgeNoise(0.5, {"weight": torch.arange(40.0)})
    whole = noise.draws(edges, seed=1, query=3, samples=range(300))
    part = noise.draws(edges, seed=1, query=3, samples=range(120, 170))
    assert torch.equal(part.present, whole.present[120:170])
    assert part.donors is not None
    assert whole.donors is not None
    assert torch.equal(part.donors, whole.donors[120:170])
    fewer = elements(edge_index[:, torch.isin(edge_index[1], torch.arange(6))])
    places = fewer.places_in(edges)
    of_fewer = noise.draws(fewer, seed=1, query=3, samples=range(300))
    assert torch.equal(of_fewer.present, whole.present[:, places])
    assert of_fewer.donors is not None
    assert torch.equal(of_fewer.donors, whole.donors[:, places])
    for address in ({"seed": 2, "query": 3}, {"seed": 1, "query": 4}):
        other = noise.draws(edges, samples=range(300), **address)
        agree = float((other.present == whole.present).float().mean())
        assert 0.45 < agree < 0.55
    joined = part.joined([noise.draws(edges, seed=1, query=3, samples=range(170, 180))])
    assert torch.equal(joined.present, whole.present[120:180])
    assert joined.donors is not None
    assert torch.equal(joined.donors, whole.donors[120:180])
    some = torch.tensor([3, 8])
    only = whole.only(some)
    assert torch.equal(only.present, whole.present[some])
    assert only.donors is not None
    assert torch.equal(only.donors, whole.donors[some])


def test_more_presence_adds_edges_and_takes_none_away():
    edges = elements(some_edges())
    less, more = (
        EdgeNoise(share).draws(edges, seed=0, query=0, samples=range(200)).present
        for share in (0.3, 0.6)
    )
    assert not (less & ~more).any()


def test_donors_are_any_edges():
    edges = elements(some_edges())
    noise = EdgeNoise(0.5, {"weight": torch.arange(7.0)})
    donors = noise.draws(edges, seed=0, query=0, samples=range(1500)).donors
    assert donors is not None
    assert chisquare(donors.flatten().bincount(minlength=7).numpy()).pvalue > 1e-5


def test_both_directions_come_and_go_together_with_their_attributes():
    edge_index = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])
    weight = torch.tensor([10.0, 11.0, 12.0, 13.0, 14.0])
    pool = {"weight": torch.tensor([1.0, 2.0, 3.0])}
    edges = elements(edge_index, weight=weight)
    draws = EdgeNoise(0.5, pool).draws(edges, seed=0, query=0, samples=range(60))
    space = Space(4, 1, kinds=(EDGES, EDGE_ATTRIBUTES), edges=edges.count)
    labels = edges.labels
    kept = Selection(
        space,
        {
            EDGES: torch.tensor([label == (1, 2) for label in labels]),
            EDGE_ATTRIBUTES: torch.tensor([label == (3, 3) for label in labels]),
        },
    )
    structure = draws.under(kept).structure(edges, {"weight": weight}, pool)
    there, values = structure.present, structure.attributes["weight"]  # (S, 5)
    assert torch.equal(there[:, 0], there[:, 1])
    assert 0 < int(there[:, 0].sum()) < 60
    assert there[:, 2:4].all()
    assert torch.equal(values[:, 0], values[:, 1])
    assert set(values[:, :4].flatten().tolist()) == {1.0, 2.0, 3.0}
    assert (values[:, 4] == 14.0).all()
    nothing = draws.under(nothing_of(space))
    assert torch.equal(nothing.present, draws.present)
