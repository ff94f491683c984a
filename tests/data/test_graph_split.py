import pytest
import torch

from zorro.data.graph_split import deal
from zorro.errors import InputError

LABELS = torch.tensor([0] * 60 + [1] * 40)


def test_every_graph_is_in_one_part():
    parts = deal(LABELS, (8, 1, 1), seed=3)
    assert [part.numel() for part in parts] == [80, 10, 10]
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(100))


def test_every_part_has_its_share_of_every_class():
    shuffled = LABELS[torch.randperm(100, generator=torch.Generator().manual_seed(0))]
    for part, size in zip(deal(shuffled, (8, 1, 1), seed=0), (8, 1, 1), strict=True):
        assert shuffled[part].bincount().tolist() == [6 * size, 4 * size]


def test_values_are_spread_over_the_parts():
    """Of each ten consecutive values one is for testing."""
    _, _, test = deal(torch.arange(100).flip(0) / 7, (8, 1, 1), seed=0)
    assert sorted((test // 10).tolist()) == list(range(10))


def test_seed_decides():
    first, again, other = (deal(LABELS, (9, 1), seed=seed)[1] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("graphs", range(9))
def test_few_graphs_are_for_training(graphs):
    train, val, test = deal(torch.zeros(graphs), (8, 1, 1), seed=0)
    assert (train.numel(), val.numel(), test.numel()) == (graphs, 0, 0)


def test_seed_is_checked():
    with pytest.raises(InputError, match="seed"):
        deal(LABELS, (8, 1, 1), seed=-1)
