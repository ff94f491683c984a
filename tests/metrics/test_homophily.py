import math

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import homophily

TRUE = torch.tensor([0, 0, 1, 0, 2, 1])
PREDICTED = torch.tensor([1, 0, 1, 0, 1, 1])
SELECTED = torch.tensor([True, True, True, False, True, False])


def test_true_and_predicted_homophily_by_hand():
    # The query 0 and its nodes 1, 2, 4: true labels 0 | 0, 1, 2; predicted 1 | 0, 1, 1.
    assert homophily(SELECTED, query=0, labels=TRUE) == pytest.approx(1 / 3)
    assert homophily(SELECTED, query=0, labels=PREDICTED) == pytest.approx(2 / 3)


def test_whether_the_query_itself_is_selected_does_not_matter():
    without = SELECTED.clone()
    without[0] = False
    assert homophily(without, query=0, labels=TRUE) == pytest.approx(1 / 3)


@pytest.mark.parametrize("selected", [[], [3]])
def test_no_other_node_gives_nan(selected):
    mask = torch.zeros(6, dtype=torch.bool)
    mask[selected] = True
    assert math.isnan(homophily(mask, query=3, labels=TRUE))


def test_names_of_nodes_and_classes_do_not_matter():
    order = torch.randperm(6, generator=torch.Generator().manual_seed(0))
    query = order.tolist().index(0)
    renamed = torch.tensor([7, 5, 9])[TRUE]
    value = homophily(SELECTED[order], query=query, labels=renamed[order])
    assert value == pytest.approx(1 / 3)


def test_the_selection_is_left_as_it_was():
    before = SELECTED.clone()
    homophily(SELECTED, query=0, labels=TRUE)
    assert torch.equal(SELECTED, before)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"query": 6}, "query"),
        ({"query": -1}, "query"),
        ({"labels": TRUE[:5]}, "labels"),
    ],
)
def test_what_does_not_fit_is_refused(change, complaint):
    with pytest.raises(InputError, match=complaint):
        homophily(SELECTED, **{"query": 0, "labels": TRUE, **change})


def test_a_soft_mask_is_refused():
    with pytest.raises(InputError, match="hard"):
        homophily(torch.full((6,), 0.5), query=0, labels=TRUE)
