"""Models that answer for links: by `edge_label_index`, or by `encode` and `decode`."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from zorro.errors import InputError
from zorro.model.as_module import uncalled
from zorro.model.data_model import DataModel, takes_data
from zorro.model.signature import names, parameters_of, renaming_line, takes

LINKS = "edge_label_index"
_WORDS = ("label", "link", "pair", "edges")


def as_link_model(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, edge_label_index=…)`."""
    module = uncalled(model)
    encodes = callable(getattr(module, "encode", None)) and callable(
        getattr(module, "decode", None)
    )
    if encodes and LINKS not in names(parameters_of(module) or ()):
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
        encoded = self.model.encode(x, edge_index, **kwargs)  # type: ignore[operator]
        return self.model.decode(encoded, edge_label_index)  # type: ignore[operator]
