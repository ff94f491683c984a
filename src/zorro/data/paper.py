"""Where the paper's own material lies: its synthetic graph, query nodes and trained models."""

from __future__ import annotations

import os
from pathlib import Path

from zorro.errors import DatasetError

VARIABLE = "ZORRO_PAPER"


def paper_file(*parts: str) -> Path:
    """Return the path of a file of the paper's material, which must exist."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise DatasetError(
            f"the paper's {'/'.join(parts)} is needed but {VARIABLE} is not set: "
            f"set it to the folder that holds the paper's material"
        )
    path = Path(folder).joinpath(*parts)
    if not path.is_file():
        raise DatasetError(f"{VARIABLE} is {folder}, but there is no file {'/'.join(parts)} in it")
    return path
