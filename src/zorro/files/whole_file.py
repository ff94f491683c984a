"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` when all is written, and is gone otherwise.

    The folder may be somebody else's. What is written has a name that nobody can foresee, and
    nothing that lies there is opened: where `path` is a link, the link is replaced.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    file = partial.open("xb")  # O_CREAT with O_EXCL, which follows no link
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
