"""Run the Python of a page of the documentation, and see that it prints what the page shows.

    python tests/cli/page_blocks.py docs/get_started.md

writes what is printed here and now into the page, and beside it the pictures that its code saved
and the page shows, with fewer colours and so a third of the size. Numbers differ between machines
and versions, so that a test compares all else. A block that begins with ```python not-run is left
alone.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from PIL import Image

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<shown>.*?)^```$)?", re.M | re.S
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s/]+\.png)\)")
_COLOURS = 128  # of a picture that is kept
_NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
_REPEATED = re.compile(r"(\S[^,]*)(?:, \1)+")

# What a block of code printed, and what the page shows below it, if anything.
Printed = Callable[[str, str | None], None]


def run_page(page: Path, on_block: Printed) -> None:
    """Run all blocks of a page as one session, in the current folder."""
    text = page.read_text(encoding="utf-8")
    session = ModuleType("__page__")
    sys.modules[session.__name__] = session  # PyG looks up the module of a layer
    try:
        for block in _BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("code"))
            code = compile("\n" * line + block["code"], str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, session.__dict__)
            on_block(out.getvalue(), block["shown"])
    finally:
        del sys.modules[session.__name__]


def pictures(page: Path) -> list[str]:
    """Return the names of the pictures that a page shows and that lie beside it."""
    return _PICTURE.findall(page.read_text(encoding="utf-8"))


def without_numbers(text: str) -> list[str]:
    """Return the lines of a text with a sign for each number, and one for a list of them."""
    lines = (" ".join(_NUMBER.sub("#", line).split()) for line in text.splitlines())
    return [_REPEATED.sub(r"\1", line) for line in lines]


def _write(page: Path) -> None:
    printed: list[str] = []
    run_page(page, lambda out, shown: printed.append(out))
    outputs = iter(printed)

    def block(match: re.Match[str]) -> str:
        out = next(outputs)
        shown = f"\n\n```text\n{out.rstrip()}\n```" if out.strip() else ""
        return f"```python\n{match['code']}```{shown}"

    page.write_text(_BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")
    for name in filter(os.path.exists, pictures(page)):
        with Image.open(name) as picture:
            few = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
            few.save(page.parent / name, optimize=True)


if __name__ == "__main__":
    pages = [Path(name).absolute() for name in sys.argv[1:]]
    for each in pages:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            _write(each)
        print(os.path.relpath(each))
