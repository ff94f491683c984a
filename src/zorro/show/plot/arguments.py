"""What the figures' arguments must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges, EdgesByReceiver


def check_explanation(explanation: Any) -> None:
    """Raise `InputError` unless it is an explanation."""
    if not isinstance(explanation, Explanation):
        raise InputError(f"explanation: expected an Explanation, got {type(explanation).__name__}")


def check_size(edge_index: Tensor | Edges | EdgesByReceiver, total: int) -> None:
    """Raise `InputError` if edges cannot be those of a graph with `total` nodes."""
    if isinstance(edge_index, Tensor):
        largest = int(edge_index.max()) if edge_index.numel() else 0
        if largest >= total:
            raise InputError(
                f"edge_index: expected edges between the {total} nodes of the explained graph, "
                f"got node {largest}"
            )
    elif isinstance(edge_index, (Edges, EdgesByReceiver)) and edge_index.num_nodes != total:
        raise InputError(
            f"edge_index: expected the edges of a graph with {total} nodes, got "
            f"{edge_index.num_nodes}"
        )


def class_numbers(classes: Tensor | Sequence[int], total: int) -> list[int]:
    """Return the class of each node, or raise `InputError`."""
    values = classes if isinstance(classes, Tensor) else torch.as_tensor(list(classes))
    if values.shape != (total,) or values.is_floating_point() or values.is_complex():
        raise InputError(
            f"classes: expected a class number for each of {total} nodes, got {values.dtype} of "
            f"shape {tuple(values.shape)}"
        )
    if values.numel() and int(values.min()) < 0:
        raise InputError(f"classes: expected class numbers from 0, got {int(values.min())}")
    return [int(value) for value in values.tolist()]
