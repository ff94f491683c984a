"""Check that the links of the built site lead somewhere, without a network.

    python docs/check_links.py build/docs

Every link within the site must lead to a file, and one with an anchor to an element of that name.
Addresses elsewhere are not looked at. The exit status is 1 if some lead nowhere.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}


class _Page(HTMLParser):
    """The links of a page, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {"", "top"}  # the top of the page, in all browsers
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.anchors |= {name for name in (named.get("id"), named.get("name")) if name}
        target = named.get(_LINKS.get(tag, ""))
        if target:
            self.links.append(target)


@cache
def _read(file: Path) -> _Page:
    return _Page(file.read_text(encoding="utf-8"))


def dead_links(site: Path) -> list[str]:
    """Return what leads nowhere: the page and the link."""
    dead = []
    for page in sorted(site.rglob("*.html")):
        for link in _read(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = page
            if parts.path.startswith("/"):
                target = site / unquote(parts.path).lstrip("/")
            elif parts.path:
                target = page.parent / unquote(parts.path)
            target = target / "index.html" if target.is_dir() else target
            is_page = target.suffix == ".html" and target.exists()
            if not target.exists() or (
                is_page and unquote(parts.fragment) not in _read(target.resolve()).anchors
            ):
                dead.append(f"{page.relative_to(site)}: {link}")
    return dead


def main(folder: str) -> int:
    """Say what leads nowhere, and return the exit status."""
    site = Path(folder).resolve()
    pages = len(list(site.rglob("*.html")))
    if not pages:
        print(f"{folder}: expected a built site, got no page")
        return 1
    dead = dead_links(site)
    print("\n".join(dead) if dead else f"All links within {pages} pages lead somewhere.")
    return int(bool(dead))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
