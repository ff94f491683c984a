"""Which graphs of a set to explain."""

from __future__ import annotations

from zorro.data.graph_dataset import GraphDataset
from zorro.data.selection import select


def parse_graphs(spec: str, dataset: GraphDataset, *, seed: int = 0) -> list[int]:
    """Return the numbers of the graphs that `spec` names.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import load_graphs, parse_graphs
    >>> pair = torch.tensor([[0, 1], [1, 0]])
    >>> dataset = load_graphs([Data(x=torch.ones(2, 1), edge_index=pair, y=torch.tensor(0))] * 20)
    >>> parse_graphs("12, 3", dataset)
    [12, 3]
    >>> parse_graphs("test", dataset) == dataset.test.tolist(), len(parse_graphs("all", dataset))
    (True, 20)

    Args:
        spec: numbers ("12,57"), "random:20" (of the test graphs, or of all graphs where there are
            none; ascending), "test" or "all".
        dataset: whose graphs they are.
        seed: of "random".
    """
    return select(
        spec,
        what="graphs",
        count=len(dataset.graphs),
        test=lambda: dataset.test.numpy() if dataset.test.numel() else None,
        lacking="test graphs",
        seed=seed,
    )
