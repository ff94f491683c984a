"""What the pages' scripts share as `zorro` is there: the linter sees no further than one file."""

import re
from pathlib import Path

import pytest

import zorro.show
from zorro.show.page.html import AUDIT_SCRIPTS, REPORT_SCRIPTS

SHOW = Path(zorro.show.__file__).parent
EXPLORER = (SHOW / "web" / "static" / "explorer.html").read_text(encoding="utf-8")


def files_of(page: str) -> list[Path]:
    """Return a page's scripts, in the order in which they are read."""
    if page == "explorer":
        named = re.findall(r'<script defer src="/static/([^"]+)">', EXPLORER)
        return [
            SHOW / "page/static" / name.removeprefix("page/")
            if name.startswith("page/")
            else SHOW / "web/static" / name
            for name in named
        ]
    scripts = {"report": REPORT_SCRIPTS, "audit": AUDIT_SCRIPTS}[page]
    return [SHOW / "page/static" / name for name in scripts]


def own_code(page: str) -> dict[str, str]:
    """Return the text of each script that is ours, without its comments."""
    return {
        path.name: re.sub(r"^\s*//.*$|\s// .*$", "", path.read_text(encoding="utf-8"), flags=re.M)
        for path in files_of(page)
        if "vendor" not in path.parts
    }


@pytest.mark.parametrize("page", ["report", "audit", "explorer"])
def test_every_shared_name_is_set_by_a_script_of_the_page(page):
    code = own_code(page)
    assert len(code) > 15
    defined = [name for text in code.values() for name in re.findall(r"zorro\.(\w+) = ", text)]
    used = {
        (file, name)
        for file, text in code.items()
        for name in re.findall(r"(?<!window\.)(?<![\w.])zorro\.(\w+)", text)
    }
    assert [each for each in sorted(used) if each[1] not in defined] == []
    twice = {name for name in defined if defined.count(name) > 1}
    assert twice == set()


def test_every_script_is_on_some_page():
    named = {path for page in ("report", "audit", "explorer") for path in files_of(page)}
    folders = (SHOW / folder / "static" for folder in ("page", "web"))
    there = {path for folder in folders for path in folder.rglob("*.js")}
    assert there == named
