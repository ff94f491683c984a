"""Which nodes to explain: the paper's query nodes, and a short notation for any others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from zorro.arguments import check_seed
from zorro.data import ba_community
from zorro.data.catalogue import canonical_name
from zorro.data.paper import paper_file
from zorro.errors import DatasetError, InputError
from zorro.graph.stored import StoredGraph
from zorro.graph.validation import check_mask

_FORMS = '"12,57", "random:20", "paper", "test" or "all"'
_SAMPLED = ("citeseer", "cora", "pubmed")


def paper_nodes(dataset: str) -> list[int]:
    """Return the nodes that the paper explains, in the paper's order.

    They are 300 nodes of a citation data set, or every house node of BA-Community.
    """
    name = canonical_name(dataset)
    if name.startswith("ba-community"):
        return ba_community.motif_nodes()
    if name not in _SAMPLED:
        raise InputError(
            f"the paper's query nodes are known for {', '.join(_SAMPLED)} and ba-community, "
            f"not for {name!r}: name the nodes or draw them with random:300"
        )
    path = paper_file("nodes", f"{name}.txt")
    try:
        return [int(line) for line in path.read_text().split()]
    except ValueError as error:
        raise DatasetError(f"{path} must hold one node number a line: {error}") from error


def parse_nodes(
    spec: str, data: Data | StoredGraph, *, dataset: str | None = None, seed: int = 0
) -> list[int]:
    """Return the nodes of `data` that `spec` names.

    `spec` is node numbers ("12,57"), "random:20" (drawn with `seed` from the test nodes, or from
    all nodes where there is no test mask; ascending), "paper" (`dataset` says whose), "test" or
    "all".

    >>> parse_nodes("3, 1", Data(num_nodes=4))
    [3, 1]
    """
    check_seed(seed)
    word = spec.strip().lower()
    if word == "all":
        return list(range(data.num_nodes))
    if word == "test":
        nodes: list[int] = _test_nodes(data).tolist()
        return nodes
    if word == "paper":
        if dataset is None:
            raise InputError(
                'nodes "paper" needs one of the paper\'s data sets by name, got none: '
                "name the data set, or give node numbers"
            )
        return _in_range(paper_nodes(dataset), data)
    if word.startswith("random:"):
        return _random_nodes(spec, word.removeprefix("random:"), data, seed=seed)
    return _in_range(_numbers(spec), data)


def _numbers(spec: str) -> list[int]:
    try:
        numbers = [int(part) for part in spec.split(",")]
    except ValueError:
        raise InputError(f"nodes must be {_FORMS}, got {spec!r}") from None
    return list(dict.fromkeys(numbers))


def _in_range(nodes: list[int], data: Data | StoredGraph) -> list[int]:
    for node in nodes:
        if not 0 <= node < data.num_nodes:
            raise InputError(f"nodes must lie between 0 and {data.num_nodes - 1}, got {node}")
    return nodes


def _test_nodes(data: Data | StoredGraph) -> NDArray[np.int64]:
    mask = data.get("test_mask")
    if mask is None:
        raise InputError('nodes "test" needs a test_mask, which the data set lacks: use "all"')
    check_mask("test_mask", mask, nodes=data.num_nodes)
    return np.flatnonzero(mask.cpu().numpy())


def _random_nodes(spec: str, amount: str, data: Data | StoredGraph, *, seed: int) -> list[int]:
    if not amount.strip().isdecimal() or int(amount) == 0:
        raise InputError(f"nodes must be {_FORMS}, got {spec!r}: give a count of at least 1")
    count = int(amount)
    has_test = data.get("test_mask") is not None
    pool = _test_nodes(data) if has_test else np.arange(data.num_nodes)
    if count > len(pool):
        kind = "test nodes" if has_test else "nodes"
        raise InputError(f"{spec!r} asks for {count} nodes, but there are only {len(pool)} {kind}")
    drawn = np.random.default_rng(seed).choice(pool, size=count, replace=False)
    return sorted(drawn.tolist())
