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


def file_beside(name: str, folder: str, variable: str, *, otherwise: str) -> Path:
    """Return where a file lies that is not the paper's: in a folder of its own, or beside that.

    Args:
        name: of the file.
        folder: beside the paper's material.
        variable: of the environment, that names another one.
        otherwise: what to do where there is neither.
    """
    given, papers = os.environ.get(variable), os.environ.get(VARIABLE)
    beside = Path(papers).absolute().parent / folder if papers else None
    found = Path(given) if given else beside
    if found is None or not (given or found.is_dir()):
        raise DatasetError(f"{name} is needed but {variable} is not set: {otherwise}")
    if not (found / name).is_file():
        raise DatasetError(f"{variable}: expected a folder with a file {name}, got {found}")
    return found / name
