"""Links of a graph to train on, to choose by and to test on, and pairs that are none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import is_undirected, negative_sampling

from zorro.arguments import check_seed
from zorro.errors import InputError
from zorro.graph.validation import check_graph
from zorro.model.randomness import seeded

_VALIDATION, _TEST = 0.05, 0.1


@dataclass(frozen=True)
class LinkSplit:
    """The same nodes three times, each time with what is asked and with what carries messages.

    `edge_index` carries messages: never the links of a later part. `edge_label_index` (2, k) are
    the links that are asked about and `edge_label` (k,) says which are there: all in `train`, half
    of them in `val` and `test`.

    >>> from zorro.data import karate_club
    >>> from zorro.models import split_links
    >>> split = split_links(karate_club())
    >>> asked = split.test.edge_label_index[:, 0]
    >>> known = {tuple(edge) for edge in split.test.edge_index.t().tolist()}
    >>> split.test.edge_label[0], tuple(asked.tolist()) in known
    (tensor(1.), False)

    Args:
        train: links to learn from; its `edge_index` are the same links.
        val: links and pairs that are none, to choose by.
        test: links and pairs that are none, to test with.
    """

    train: Data
    val: Data
    test: Data


def split_links(data: Data, *, seed: int = 0) -> LinkSplit:
    """Return a random split of a graph's links: 85 % to train on, 5 % to choose by, 10 % to test.

    Where each edge stands in both directions, a link is both of them.

    >>> from zorro.data import karate_club
    >>> from zorro.models import split_links
    >>> split = split_links(karate_club())  # 78 links
    >>> [part.edge_label_index.size(1) for part in (split.train, split.val, split.test)]
    [68, 6, 14]
    >>> split.test.edge_label.sum(), split.test.edge_label.numel()  # half of them are links
    (tensor(7.), 14)

    Args:
        data: with `x` (N, d) and `edge_index` (2, E), perhaps a row per edge of other things.
        seed: of the split and of the pairs that are no links.
    """
    check_graph(data.x, data.edge_index)
    both = is_undirected(data.edge_index, num_nodes=data.num_nodes)
    links = data.edge_index.size(1) // (2 if both else 1)
    if int(links * _VALIDATION) < 1:
        raise InputError(
            f"edge_index: expected at least {round(1 / _VALIDATION)} links to split, got {links}"
        )
    divide = RandomLinkSplit(
        num_val=_VALIDATION,
        num_test=_TEST,
        is_undirected=both,
        add_negative_train_samples=False,  # they are drawn anew in each epoch
    )
    with drawn_with(seed, data.x.device):
        return LinkSplit(*divide(data))


def pairs_without_links(data: Data, count: int) -> Tensor:
    """Return random pairs of nodes (2, count) that are no edges of a graph."""
    pairs: Tensor = negative_sampling(
        data.edge_index, num_nodes=data.num_nodes, num_neg_samples=count
    )
    return pairs


@contextmanager
def drawn_with(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's generators and Python's, from which PyG draws pairs, and restore them."""
    state = random.getstate()
    with seeded(check_seed(seed), device):
        random.seed(seed)
        try:
            yield
        finally:
            random.setstate(state)
