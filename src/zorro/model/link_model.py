"""Models that answer for links: by `edge_label_index`, or by `encode` and `decode`."""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor, nn

from zorro.errors import InputError
from zorro.model.function_model import FunctionModel, as_module

LINKS = "edge_label_index"


def as_link_model(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, edge_label_index=…)`."""
    module = as_module(model)
    if _takes_links(module):
        return module
    if callable(getattr(module, "encode", None)) and callable(getattr(module, "decode", None)):
        return EncodedLinks(module)
    raise InputError(
        f"model: expected one that takes {LINKS}, or has encode(x, edge_index) and "
        f"decode(z, {LINKS}), got {type(module).__name__}: wrap it in a function, "
        f"`lambda x, edge_index, {LINKS}: …`"
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
        encoded = self.model.encode(x, edge_index, **kwargs)  # type: ignore[operator]
        return self.model.decode(encoded, edge_label_index)  # type: ignore[operator]


def _takes_links(module: nn.Module) -> bool:
    called = module.function if isinstance(module, FunctionModel) else module.forward
    try:
        parameters = inspect.signature(called).parameters
    except (TypeError, ValueError):
        return True  # a scripted one, say: it will complain itself
    if LINKS in parameters:
        return True
    has_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return has_any and not hasattr(module, "decode")
