"""Pairs of nodes in a short notation."""

import pytest
import torch

from zorro.data import parse_links
from zorro.data.pairs import parse_pair
from zorro.errors import InputError

TEST = torch.tensor([[0, 4, 2, 0], [3, 1, 2, 3]])


@pytest.mark.parametrize("text", ["3-7", " 3 - 7 ", "3–7"])
def test_a_pair_is_two_numbers_and_a_dash(text):
    assert parse_pair(text) == (3, 7)


def test_pairs_are_named_each_once_and_in_order():
    assert parse_links("3-1,0-2, 3–1,1-3", nodes=4) == [(3, 1), (0, 2), (1, 3)]
    assert parse_links("test", nodes=5, test=TEST) == [(0, 3), (4, 1), (2, 2)]


def test_random_pairs_are_of_the_test_pairs_and_depend_on_the_seed():
    drawn = {tuple(parse_links("random:2", nodes=5, test=TEST, seed=seed)) for seed in range(20)}
    assert len(drawn) > 1
    assert {pair for pairs in drawn for pair in pairs} == {(0, 3), (4, 1), (2, 2)}
    again = [parse_links("random:2", nodes=5, test=TEST, seed=3) for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize(
    "wrong", ["", "3", "3-", "-3", "3--7", "3-7-9", "3:7", "3-x", "²-3", "all"]
)
def test_what_is_no_pair_is_refused(wrong):
    with pytest.raises(
        InputError, match=r'^links: expected "3-7,12-5", "random:20" or "test", got'
    ):
        parse_links(wrong, nodes=9)
    with pytest.raises(InputError, match=r'^--link: expected two nodes such as "3-7", got'):
        parse_pair(wrong, name="--link")


def test_nodes_that_are_not_there_and_pairs_that_nobody_tells_are_refused():
    with pytest.raises(InputError, match=r"^links: expected nodes from 0 to 6, got 7"):
        parse_links("1-2,3-7", nodes=7)
    for spec in ("test", "random:1"):
        with pytest.raises(InputError, match="only a checkpoint of `zorro train --links` tells"):
            parse_links(spec, nodes=7)
    with pytest.raises(InputError, match=r"^links: expected at most 4, .* got 'random:5'"):
        parse_links("random:5", nodes=7, test=TEST)
