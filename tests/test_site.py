"""What makes the documentation's site: the page about the design, and the check of its links."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "docs"))
sys.path.append(str(Path(__file__).parent))
import check_links
import house
from test_architecture import IMPORTS, LAYERS, ROOT, part_of

DOCS = Path(__file__).parents[1] / "docs"


def test_the_house_has_every_package_in_the_order_of_the_layers():
    text = house.house()
    names = [name for layer in LAYERS for name in layer]
    shown = [line.split("**")[1] for line in text.splitlines() if line.startswith("**")]
    assert [name.rstrip("/").removesuffix(".py") for name in shown] == [
        "zorro" if name == "__init__" else name for name in names
    ]
    assert text.count("### Layer") == len(LAYERS)


@pytest.mark.parametrize("part", [name for layer in LAYERS for name in layer])
def test_what_the_house_says_of_a_package_is_so(part):
    module = __import__("zorro" if part == "__init__" else f"zorro.{part}", fromlist=["__doc__"])
    assert module.__doc__ is not None
    assert house.purpose(house.file_of(part)) == " ".join(module.__doc__.split("\n\n")[0].split())
    imported = {
        part_of(target)
        for source, targets in IMPORTS.items()
        for target in targets
        if part_of(source) == part
    }
    assert house.uses(part) == imported - {part, "__init__"}
    assert all((ROOT / name).exists() or (ROOT / f"{name}.py").exists() for name in imported)


def test_the_page_has_a_place_for_the_house():
    assert (DOCS / "design.md").read_text(encoding="utf-8").count(house.MARKER) == 1


@pytest.fixture
def site(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="here">one</h1><a href="deep/two.html#there">good</a><a href="#here">good</a>'
        '<a href="https://nowhere.invalid/x#y">not ours</a><img src="deep/a%20b.png">'
    )
    (tmp_path / "deep" / "two.html").write_text('<p id="there"></p><a href="..">good</a>')
    (tmp_path / "deep" / "a b.png").write_bytes(b"")
    return tmp_path


def test_links_that_lead_somewhere_pass(site, capsys):
    assert check_links.dead_links(site) == []
    assert check_links.main(str(site)) == 0
    assert "2 pages" in capsys.readouterr().out


@pytest.mark.parametrize(
    "link",
    [
        '<a href="three.html">',
        '<a href="index.html#gone">',
        '<a href="#gone">',
        '<img src="c.png">',
    ],
)
def test_links_that_lead_nowhere_are_named(site, link, capsys):
    (site / "bad.html").write_text(link)
    assert check_links.main(str(site)) == 1
    assert capsys.readouterr().out.strip() == f"bad.html: {link.split(chr(34))[1]}"


def test_a_folder_without_pages_is_no_site(tmp_path, capsys):
    assert check_links.main(str(tmp_path)) == 1
    assert "got no page" in capsys.readouterr().out
