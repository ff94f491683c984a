"""Models that answer for links: by `edge_label_index`, or by `encode` and `decode`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import Tensor, nn

from zorro.errors import InputError
from zorro.model.as_module import uncalled
from zorro.model.data_model import DataModel, takes_data
from zorro.model.signature import names, parameters_of, renaming_line, takes

LINKS = "edge_label_index"
_WORDS = ("label", "link", "pair", "edges")
_ENCODED: ContextVar[list[Tensor] | None] = ContextVar("encoded", default=None)


def as_link_model(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, edge_label_index=…)`.

    One with `encode` and `decode` is called by these unless its `forward` takes links itself. Where
    that does nothing but decode what was encoded, an attribute `forward_decodes` may say so.
    """
    module = uncalled(model)
    encodes = callable(getattr(module, "encode", None)) and callable(
        getattr(module, "decode", None)
    )
    decodes = getattr(module, "forward_decodes", False)
    if encodes and (decodes or LINKS not in names(parameters_of(module) or ())):
        return EncodedLinks(module)
    if takes_data(module):
        return DataModel(module)
    if takes(module, LINKS):
        return module
    raise InputError(
        f"model: expected one that takes {LINKS}, or has encode(x, edge_index) and "
        f"decode(z, {LINKS}), got {type(module).__name__}: wrap it in a function, "
        f"{renaming_line(module, LINKS, words=_WORDS)}"
    )


class EncodedLinks(nn.Module):
    """Decodes links of what a model encodes, as PyG's autoencoders and examples do."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor, **kwargs: Any
    ) -> Any:
        """Return the decoded scores of links (2, k)."""
        kept = _ENCODED.get()
        if kept:
            encoded = kept[0].clone()  # a decoder may write to it
        else:
            encoded = self.model.encode(x, edge_index, **kwargs)  # type: ignore[operator]
            if kept is not None and isinstance(encoded, Tensor):
                kept.append(encoded.clone())
        return self.model.decode(encoded, edge_label_index)  # type: ignore[operator]


@contextmanager
def encoded_once(kept: list[Tensor]) -> Iterator[None]:
    """Encode nodes in the first run with a list alone, for all runs that share model and inputs.

    Args:
        kept: empty at first; gets what the nodes are encoded in. A model that does not encode
            and decode leaves it empty.
    """
    token = _ENCODED.set(kept)
    try:
        yield
    finally:
        _ENCODED.reset(token)
