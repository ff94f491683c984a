"""The documentation's pages: their code prints what they show, and their links lead to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_blocks import run_page, without_numbers
from test_documents import DOCUMENTS, blocks, run_all, words_of

from zorro.methods import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.glob("docs/**/*.md")
    if "docs/api/" not in path.as_posix()
    and path.relative_to(ROOT).as_posix() not in DOCUMENTS  # these are tested as documents
)
WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.fixture
def _own_registry(monkeypatch):
    """Forget the methods that a page registers."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))


@pytest.mark.usefixtures("_own_registry")
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_a_page_can_be_pasted_and_prints_what_it_shows(page, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")

    def compare(printed: str, shown: str | None) -> None:
        assert without_numbers(printed) == without_numbers(shown or "")

    run_page(ROOT / page, compare)
    every = [words for block in blocks(page, "") for words in words_of(block)]
    commands = [words for words in every if words[0] == "zorro"]
    if commands:
        run_all(run, commands)


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
