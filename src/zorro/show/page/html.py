"""One HTML file that holds everything it needs, and may load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from zorro.errors import RunError
from zorro.files.whole_file import whole_file

# In the order in which they are read: later ones use earlier ones.
REPORT_SCRIPTS = (
    "vendor/d3.min.js",
    "typed.js",
    "levels.js",
    "answers.js",
    "wording.js",
    "worlds.js",
    "fitted.js",
    "marks.js",
    "scene_fit.js",
    "scene_keys.js",
    "scene.js",
    "heatmap.js",
    "curve.js",
    "histogram.js",
    "band.js",
    "distributions.js",
    "filters.js",
    "csv.js",
    "table.js",
    "explanation.js",
    "summary.js",
    "report.js",
)

_SHARED = REPORT_SCRIPTS[: REPORT_SCRIPTS.index("summary.js") + 1]
AUDIT_SCRIPTS = (
    *_SHARED,
    "uses.js",
    "mistakes.js",
    "audit_lists.js",
    "audit.js",
)


def static(name: str) -> str:
    """Return the text of a file of the front end."""
    return files("zorro.show.page").joinpath("static", name).read_text(encoding="utf-8")


def inlined(
    template: str,
    *,
    title: str,
    data: Any,
    scripts: Sequence[str],
    styles: Sequence[str] = ("style.css",),
) -> str:
    """Return a page with its style, scripts and data inside.

    The policy allows exactly these scripts and this style, by their hashes, and no network: even
    if markup got into the page, it would not run.

    Args:
        template: the page's file, with marks in double braces for what goes in.
        title: of the page.
        data: plain data, for the scripts to read.
        scripts: files of the front end, in order.
        styles: the same of style sheets.
    """
    style = "\n".join(map(static, styles))
    code = [_closed(static(name)) for name in scripts]
    allowed = " ".join(map(_hash, code))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(title),
        "style": style,
        "scripts": "\n".join(f"<script>{text}</script>" for text in code),
        "data": embedded(data),
        "licence": static("vendor/d3.LICENSE"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], static(template))


def saved(path: str | Path, page: str) -> int:
    """Write a page that appears whole or not at all; return its size in bytes."""
    target = Path(path)
    try:
        with whole_file(target) as file:
            return file.write(page.encode())
    except OSError as error:
        raise RunError(f"{target} could not be written: {error.strerror or error}") from error


def embedded(data: Any) -> str:
    """Return JSON that can stand in a script element: no character of it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _closed(code: str) -> str:
    """Return a script's text if it can stand in the page as it is."""
    if re.search(r"</script|<!--", code, re.IGNORECASE):
        raise ValueError("a script of the front end would end its own element")
    return code


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
