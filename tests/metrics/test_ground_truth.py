import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.utils import k_hop_subgraph

from zorro.errors import InputError
from zorro.metrics import (
    ground_truth_accuracy,
    ground_truth_auroc,
    ground_truth_jaccard,
    ground_truth_precision,
    ground_truth_recall,
)


def mask(*selected, length=10):
    nodes = torch.zeros(length, dtype=torch.bool)
    nodes[list(selected)] = True
    return nodes


HOUSE = mask(0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("selected", "accuracy", "precision", "recall", "jaccard"),
    [
        (mask(0, 1, 2, 3, 4), 1.0, 1.0, 1.0, 1.0),
        (mask(0, 1, 7), 0.6, 2 / 3, 0.4, 2 / 6),  # 2 of 5 found, 4 of 5 others left out
        (mask(2), 0.6, 1.0, 0.2, 0.2),
        (mask(5, 6, 7, 8, 9), 0.0, 0.0, 0.0, 0.0),
        (mask(), 0.5, 0.0, 0.0, 0.0),  # the empty explanation
        (mask(*range(10)), 0.5, 0.5, 1.0, 0.5),
    ],
)
def test_by_hand(selected, accuracy, precision, recall, jaccard):
    assert ground_truth_accuracy(selected, truth=HOUSE) == pytest.approx(accuracy)
    assert ground_truth_precision(selected, truth=HOUSE) == pytest.approx(precision)
    assert ground_truth_recall(selected, truth=HOUSE) == pytest.approx(recall)
    assert ground_truth_jaccard(selected, truth=HOUSE) == pytest.approx(jaccard)


def test_where_there_is_nothing_to_find():
    assert ground_truth_recall(mask(1), truth=mask()) == 1
    assert ground_truth_jaccard(mask(), truth=mask()) == 1
    assert ground_truth_jaccard(mask(1), truth=mask()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_that_of_counted_pairs(seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(4, (12,), generator=generator).float()  # with ties
    truth = torch.arange(12) < 2 + seed
    pairs = [
        0.5 if mine == other else float(mine > other)
        for mine in scores[truth].tolist()
        for other in scores[~truth].tolist()
    ]
    assert ground_truth_auroc(scores, truth=truth) == pytest.approx(sum(pairs) / len(pairs))
    assert ground_truth_auroc(-scores, truth=truth) == pytest.approx(1 - sum(pairs) / len(pairs))


@pytest.mark.parametrize("truth", [mask(), mask(*range(10))])
def test_an_area_needs_nodes_of_both_kinds(truth):
    with pytest.raises(InputError, match="truth: expected some of the 10 elements and not all"):
        ground_truth_auroc(torch.rand(10), truth=truth)


def test_zeros_and_ones_are_hard_masks_too():
    assert ground_truth_precision(mask(0, 7).float(), truth=HOUSE.long()) == 0.5


def test_the_order_of_nodes_does_not_matter():
    order = torch.randperm(10, generator=torch.Generator().manual_seed(0))
    selected = mask(0, 1, 7)
    assert ground_truth_accuracy(selected[order], truth=HOUSE[order]) == pytest.approx(0.6)
    assert ground_truth_precision(selected[order], truth=HOUSE[order]) == pytest.approx(2 / 3)


@pytest.mark.skipif(
    not os.environ.get("ZORRO_PAPER"), reason="needs the paper's synthetic graph (ZORRO_PAPER)"
)
def test_the_papers_accuracy_and_precision_of_the_empty_explanation():
    graph = np.load(Path(os.environ["ZORRO_PAPER"]) / "ba_community.npz")
    edge_index, num_nodes = torch.from_numpy(graph["edge_index"]), len(graph["x"])
    accuracies = []
    for query in [*range(300, 700), *range(1000, 1400)]:
        nodes, *_ = k_hop_subgraph(query, 3, edge_index, num_nodes=num_nodes)
        first = query - query % 5
        truth = torch.isin(nodes, torch.arange(first, first + 5))
        nothing = torch.zeros_like(truth)
        accuracies.append(ground_truth_accuracy(nothing, truth=truth))
        assert ground_truth_precision(nothing, truth=truth) == 0.0
    assert round(sum(accuracies) / len(accuracies), 2) == 0.84


@pytest.mark.parametrize(
    "measure",
    [ground_truth_accuracy, ground_truth_precision, ground_truth_recall, ground_truth_jaccard],
)
@pytest.mark.parametrize(
    ("selected", "truth", "complaint"),
    [
        (torch.rand(10), HOUSE, "selected: expected a hard mask"),
        (HOUSE, torch.rand(10), "truth: expected a hard mask"),
        (mask(0, length=9), HOUSE, "truth: expected 9 values"),
        (torch.zeros(0), torch.zeros(0), "at least one element"),
    ],
)
def test_what_does_not_fit_is_refused(measure, selected, truth, complaint):
    with pytest.raises(InputError, match=complaint):
        measure(selected, truth=truth)
