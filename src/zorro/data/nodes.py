"""Which nodes to explain: the paper's query nodes, and a short notation for any others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from zorro.data import ba_community
from zorro.data.catalogue import canonical_name
from zorro.data.paper import paper_file
from zorro.data.selection import NUMBERS, in_range, select
from zorro.errors import DatasetError, InputError
from zorro.graph.stored import StoredGraph
from zorro.graph.validation import check_mask

_FORMS = f'{NUMBERS}, "paper", "test" or "all"'
_SAMPLED = ("citeseer", "cora", "pubmed")


def paper_nodes(dataset: str) -> list[int]:
    """Return the nodes that the paper explains, in the paper's order.

    They are 300 nodes of a citation data set, or every house node of BA-Community.

    >>> from zorro.data import paper_nodes
    >>> nodes = paper_nodes("ba-community")  # of "cora" they are read from the paper's material
    >>> len(nodes), nodes[:5]
    (800, [300, 301, 302, 303, 304])

    Args:
        dataset: one of the citation data sets, or BA-Community.
    """
    name = canonical_name(dataset)
    if name.startswith("ba-community"):
        return ba_community.motif_nodes()
    if name not in _SAMPLED:
        raise InputError(
            f"dataset: expected one of {', '.join(_SAMPLED)} and ba-community, whose query nodes "
            f"the paper tells, got {name!r}: name the nodes or draw them with random:300"
        )
    path = paper_file("nodes", f"{name}.txt")
    try:
        return [int(line) for line in path.read_text().split()]
    except ValueError as error:
        raise DatasetError(
            f"{path}: expected one node number a line, got something else: {error}"
        ) from error


def parse_nodes(
    spec: str, data: Data | StoredGraph, *, dataset: str | None = None, seed: int = 0
) -> list[int]:
    """Return the nodes of `data` that `spec` names.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import parse_nodes
    >>> parse_nodes("3, 1", Data(num_nodes=4))
    [3, 1]
    >>> parse_nodes("test", Data(num_nodes=4, test_mask=torch.tensor([True, False, True, False])))
    [0, 2]

    Args:
        spec: node numbers ("12,57"), "random:20" (of the test nodes, or of all nodes where there is
            no test mask; ascending), "paper", "test" or "all".
        data: whose nodes they are.
        dataset: its name, which "paper" needs.
        seed: of "random".
    """
    count = data.num_nodes
    if spec.strip().lower() == "paper":
        if dataset is None:
            raise InputError(
                'nodes: expected one of the paper\'s data sets by name for "paper", got none: '
                "name the data set, or give node numbers"
            )
        return in_range(paper_nodes(dataset), what="nodes", count=count)
    return select(
        spec,
        what="nodes",
        count=count,
        test=lambda: _test_nodes(data),
        lacking="a test_mask",
        seed=seed,
        forms=_FORMS,
    )


def _test_nodes(data: Data | StoredGraph) -> NDArray[np.int64] | None:
    mask = data.get("test_mask")
    if mask is None:
        return None
    check_mask("test_mask", mask, nodes=data.num_nodes)
    return np.flatnonzero(mask.cpu().numpy())
