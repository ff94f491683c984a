"""The documentation's pages: their code prints what they show, and their links lead to files."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from page_blocks import pictures, run_page, without_numbers
from PIL import Image
from test_documents import DOCUMENTS, blocks, commands, run_all

import zorro
from zorro.evaluation.traced.layers.registry import LAYERS
from zorro.methods import registry

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *sorted(
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("docs/**/*.md")
        if "docs/api/" not in path.as_posix()
        and path.relative_to(ROOT).as_posix() not in DOCUMENTS  # these are tested as documents
    ),
]
WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]
TO_PASTE = [page for page in PAGES if page in WITH_PYTHON or commands(page)]
NOT_RUN = [(page, block) for page in PAGES for block in blocks(page, "python not-run")]
GALLERY = [page for page in WITH_PYTHON if page.startswith("docs/gallery/")]
NEEDED = {  # what stands in a page that takes data which are downloaded, and who has these
    r'load\("cora"\)|load_graphs\("mutag"\)|--dataset (cora|mutag)': "data_dir",
    r"--dataset dblp": "hetero_dir",
}
LARGEST_PICTURE = 80_000  # bytes, in the gallery


@pytest.fixture
def _own_registry(monkeypatch):
    """Forget the methods and layers that a page registers."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    before = dict(LAYERS)
    yield
    LAYERS.clear()
    LAYERS.update(before)


@pytest.mark.usefixtures("_own_registry")
@pytest.mark.parametrize("page", TO_PASTE)
def test_a_page_can_be_pasted_and_prints_what_it_shows(page, run, tmp_path, request, monkeypatch):
    for sign, fixture in NEEDED.items():
        if any(re.search(sign, block) for block in [*blocks(page, "python"), *blocks(page, "")]):
            request.getfixturevalue(fixture)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")

    def compare(printed: str, shown: str | None) -> None:
        assert without_numbers(printed) == without_numbers(shown or "")

    run_page(ROOT / page, compare)
    if page in GALLERY:
        for name in pictures(ROOT / page):
            assert is_drawn(tmp_path / name), f"{page} does not save {name}"
    if commands(page):
        run_all(run, commands(page))


def is_drawn(picture: Path) -> bool:
    """Tell if a file is a picture with something on it."""
    if not picture.exists():
        return False
    with Image.open(picture) as drawn:
        colours = drawn.convert("RGB").getcolors(drawn.width * drawn.height)
        return colours is not None and len(colours) > 2


@pytest.mark.parametrize("page", GALLERY)
def test_a_page_of_the_gallery_has_a_picture_and_a_card_with_it(page):
    (name,) = pictures(ROOT / page)
    picture = ROOT / page.replace(Path(page).name, name)
    assert is_drawn(picture)
    assert picture.stat().st_size <= LARGEST_PICTURE
    cards = (ROOT / "docs/gallery/index.md").read_text(encoding="utf-8")
    assert f"]({name})]({Path(page).name})" in cards
    assert f"<{Path(page).stem}>" in cards, "it is not in the table of contents"


@pytest.mark.parametrize(("page", "code"), NOT_RUN)
def test_code_that_is_not_run_could_be(page, code):
    """It can be compiled, what it calls stands on its page, and has these options."""
    before = "".join(blocks(page, "python"))
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    names = {call.func.id: call for call in calls if isinstance(call.func, ast.Name)}
    zorros = {name: call for name, call in names.items() if hasattr(zorro, name)}
    assert zorros
    for name, call in zorros.items():
        assert name in before
        options = inspect.signature(getattr(zorro, name)).parameters
        assert {option.arg for option in call.keywords} <= set(options)


@pytest.mark.parametrize("page", ["docs/reading_report.md", "docs/explorer.md"])
def test_what_is_named_of_a_page_stands_on_it(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"\*\*(.+?)\*\*", text))
    assert len(named) > 5
    files = [*ROOT.glob("src/zorro/show/**/*.js"), *ROOT.glob("src/zorro/show/**/*.html")]
    pages = [file.read_text(encoding="utf-8") for file in files]
    assert {name for name in named if not any(name in page for page in pages)} == set()


def test_most_pages_show_something():
    assert len(WITH_PYTHON) > 10
    shown = sum("```text\n" in (ROOT / page).read_text(encoding="utf-8") for page in WITH_PYTHON)
    assert shown == len(WITH_PYTHON)


def test_numbers_alone_may_differ():
    assert without_numbers("nodes  1, 22 of 0.5") == without_numbers("nodes 3 of 7")
    assert without_numbers("certified") != without_numbers("conditional")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md", *DOCUMENTS, *PAGES])
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    missing = [
        target
        for target in targets
        if "://" not in target and not (ROOT / page).parent.joinpath(target).exists()
    ]
    assert missing == []
