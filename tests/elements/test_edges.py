"""Columns of an edge index as elements: hand-worked, and the same in every part of a graph."""

from typing import Any

import numpy as np
import pytest
import torch

from zorro.elements.edges import EdgeElements, edge_columns, is_directed, named
from zorro.errors import InputError

# 0–1 twice (types 5 and 3), 1–2, a loop at 2; the columns in no order at all.
SEVERAL = torch.tensor([[1, 0, 2, 2, 0, 1, 1], [0, 1, 1, 2, 1, 0, 2]])
TYPES = torch.tensor([3, 5, 9, 9, 3, 5, 9])


def elements(edge_index, *, directed=False, nodes=5, **attributes):
    return EdgeElements.of(edge_index, attributes, nodes=nodes, directed=directed)


def test_directions_are_one_element_by_their_attributes():
    found = elements(SEVERAL, edge_type=TYPES)
    assert found.labels == [(0, 1, 0), (0, 1, 1), (1, 2), (2, 2)]
    named_columns = [found.labels[element] for element in found.of_column.tolist()]
    assert named_columns == [
        (0, 1, 0),
        (0, 1, 1),
        (1, 2),
        (2, 2),
        (0, 1, 0),
        (0, 1, 1),
        (1, 2),
    ]


def test_without_attributes_they_stand_in_their_order():
    found = elements(SEVERAL)
    named_columns = [found.labels[element] for element in found.of_column.tolist()]
    assert named_columns[1] == named_columns[0] == (0, 1, 0)  # the first of each direction
    assert named_columns[4] == named_columns[5] == (0, 1, 1)


def test_directed_columns_are_elements_of_their_own():
    found = elements(SEVERAL, edge_type=TYPES, directed=True)
    assert found.count == 7
    assert found.labels == [(0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 2), (2, 1), (2, 2)]
    assert [found.labels[element] for element in found.of_column.tolist()] == [
        (1, 0, 0),
        (0, 1, 1),
        (2, 1),
        (2, 2),
        (0, 1, 0),
        (1, 0, 1),
        (1, 2),
    ]


def test_an_edge_without_its_reverse_is_one_element_too():
    found = elements(torch.tensor([[3, 1, 0], [1, 3, 4]]))
    assert found.labels == [(0, 4), (1, 3)]
    assert found.of_column.tolist() == [1, 1, 0]


def test_the_order_of_columns_does_not_matter():
    torch.manual_seed(0)
    pairs = torch.randint(8, (2, 30))
    pairs = pairs[:, pairs[0] != pairs[1]]
    kinds = torch.randn(pairs.size(1))
    both, attributes = torch.cat([pairs, pairs.flip(0)], dim=1), kinds.repeat(2)
    found = elements(both, nodes=8, weight=attributes)
    order = torch.randperm(both.size(1))
    other = elements(both[:, order], nodes=8, weight=attributes[order])
    assert other.labels == found.labels
    assert torch.equal(other.of_column, found.of_column[order])
    assert torch.equal(other.addresses, found.addresses)


def test_elements_of_a_part_are_found_in_the_whole():
    torch.manual_seed(1)
    pairs = torch.randint(12, (2, 40))
    kinds = torch.randint(3, (40,))
    both, attributes = torch.cat([pairs, pairs.flip(0)], dim=1), kinds.repeat(2)
    whole = elements(both, nodes=12, kind=attributes)
    into = torch.isin(both[1], torch.tensor([0, 3, 5, 7]))  # as cuts have them
    part = elements(both[:, into], nodes=12, kind=attributes[into])
    places = part.places_in(whole)
    assert [whole.labels[place] for place in places.tolist()] == part.labels
    assert torch.equal(places[part.of_column], whole.of_column[into])
    back = whole.places_in(part)
    assert torch.equal(back[places], torch.arange(part.count))
    assert int((back < 0).sum()) == whole.count - part.count
    nothing = elements(both[:, :0], nodes=12, kind=attributes[:0])
    assert nothing.count == 0
    assert whole.places_in(nothing).tolist() == [-1] * whole.count


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], []),
        ([(1, 2)], [(1, 2)]),
        ([(2, 1), (1, 2)], [(1, 2)]),
        ([(1, 0)], [(0, 1, 0), (0, 1, 1)]),
        ([(1, 0, 1)], [(0, 1, 1)]),
        ([[2, 2]], [(2, 2)]),
        (torch.tensor([[1, 2], [2, 2]]), [(1, 2), (2, 2)]),
        ([torch.tensor([1, 0, 1])], [(0, 1, 1)]),
        (np.array([[2, 1]]), [(1, 2)]),
    ],
)
def test_edges_are_meant_by_their_nodes(asked, expected):
    found = elements(SEVERAL, edge_type=TYPES)
    chosen = found.chosen("edges", asked)
    assert [label for label, is_one in zip(found.labels, chosen, strict=True) if is_one] == expected


def test_of_a_directed_graph_the_direction_is_meant():
    found = elements(SEVERAL, edge_type=TYPES, directed=True)
    assert found.chosen("edges", [(2, 1)]).nonzero().flatten().tolist() == [5]
    one_way = elements(torch.tensor([[0], [1]]), directed=True)
    with pytest.raises(InputError, match=r"^edges\[0\]: expected an edge .*, got \(1, 0\)"):
        one_way.chosen("edges", [(1, 0)])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([(0, 2)], r"edges\[0\]: expected an edge that carries messages, got \(0, 2\)"),
        ([(1, 2), (0, 1, 2)], r"edges\[1\]: expected an edge .*, got \(0, 1, 2\)"),
        ([(0, 5)], r"edges\[0\]: .*5"),
        ([(0, -1)], r"edges\[0\]: .*-1"),
        ([(0, 1.5)], r"edges\[0\]: .*1\.5"),
        ([3], r"edges: expected pairs of nodes \(u, v\), got 3"),
        ([(1,)], r"edges: expected pairs of nodes \(u, v\), got \(1,\)"),
        (["12"], r"edges: expected pairs of nodes \(u, v\), got '12'"),
        ("12", r"edges: expected pairs of nodes \(u, v\), got '12'"),
        (7, r"edges: expected pairs of nodes \(u, v\), got 7"),
    ],
)
def test_what_is_no_edge_is_refused(asked, said):
    with pytest.raises(InputError, match=f"^{said}"):
        elements(SEVERAL, edge_type=TYPES).chosen("edges", asked)


def test_edges_elsewhere_make_no_difference():
    found = elements(torch.tensor([[0, 1], [1, 0]]), nodes=9)
    there = {(7, 8): 2}.get
    for meant in ((7, 8), (8, 7), (7, 8, 1)):
        chosen = found.chosen("edges", [(0, 1), meant], elsewhere=lambda u, v: there((u, v), 0))
        assert chosen.tolist() == [True]
    with pytest.raises(InputError, match=r"^edges\[0\]: .*\(7, 8, 2\)"):
        found.chosen("edges", [(7, 8, 2)], elsewhere=lambda u, v: there((u, v), 0))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([(0, 1), (1, 0)], False),
        ([(0, 1), (1, 0), (2, 2)], False),
        ([(0, 1)], True),
        ([(0, 1), (1, 0), (0, 1)], True),  # one of two has no reverse
        ([(0, 1), (1, 0), (1, 0), (0, 1)], False),
        ([], False),
    ],
)
def test_a_graph_is_directed_where_an_edge_has_no_reverse(columns, expected):
    edge_index = torch.tensor(columns, dtype=torch.long).reshape(-1, 2).t()
    assert is_directed(edge_index, 3) == expected


def test_columns_of_edges():
    options: dict[str, Any] = {"nodes": 5, "attributes": {"edge_type": TYPES}}
    kept = edge_columns([(0, 1, 1), (2, 2)], SEVERAL, directed=False, **options)
    assert kept.tolist() == [False, True, False, True, False, True, False]
    kept = edge_columns([(1, 2)], SEVERAL, directed=True, **options)
    assert kept.tolist() == [False] * 6 + [True]


def test_names():
    assert named((0, 1, 1)) == "0–1 (1)"
