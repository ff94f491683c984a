"""Messages scaled edge by edge after all else, as PyG's explainers scale them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import MessagePassing

from zorro.model.hetero_model import HeteroModel


def passes_messages(model: nn.Module) -> bool:
    """Whether a model has layers of PyG whose messages can be scaled."""
    return any(
        isinstance(module, MessagePassing) and module.explain is not False
        for module in model.modules()
    )


@contextmanager
def message_masks(model: nn.Module, mask: Tensor, edge_index: Tensor) -> Iterator[None]:
    """Scale the messages along each edge (e,), while degrees stay what they are.

    Args:
        model: whose layers are told; they forget it afterwards.
        mask: (e,).
        edge_index: (2, e), that the model is called with.
    """
    if isinstance(model, HeteroModel):
        model.message_mask = mask  # it tells its layers, relation by relation
        try:
            yield
        finally:
            model.message_mask = None
        return
    set_masks(model, mask, edge_index, apply_sigmoid=False)
    try:
        yield
    finally:
        clear_masks(model)
