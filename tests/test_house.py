"""What is written down in several places is the same in all of them."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from zorro import __version__, errors
from zorro.cli.table import EXPLAINED_IN_DOCS
from zorro.errors import TROUBLESHOOTING

sys.path.append(str(Path(__file__).parent / "release"))
import try_versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINNED = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
)


def read_yaml(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version_and_of_the_paper():
    cited = read_yaml("CITATION.cff")
    assert cited["version"] == __version__
    assert cited["license"] == PROJECT["project"]["license"]
    assert PROJECT["project"]["urls"]["Paper"].endswith(cited["preferred-citation"]["doi"])


def test_the_pythons_that_are_promised_are_those_that_are_tested():
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    promised = re.findall(r"Python :: (3\.\d+)", classifiers)
    tested = read_yaml(".github/workflows/check.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert tested["python"] == promised
    assert PROJECT["project"]["requires-python"] == f">={promised[0]}"


def test_the_oldest_and_the_newest_versions_are_tried_by_the_workflow():
    tried = read_yaml(".github/workflows/check.yml")["jobs"]["versions"]["strategy"]["matrix"]
    rows = {name: row.python for name, row in try_versions.ROWS.items() if not row.constraints}
    assert {each["row"]: each["python"] for each in tried["include"]} == rows


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ("| 3.11.7 | 11 claims hold on cpu | 1184 passed, 29 skipped |", 0),
        ("| 3.11.7 | 11 claims hold on cpu | 2 failed, 1182 passed |", 1),
        ("| 3.11.7 | library; web FAILED | not run |", 1),
        ("| 3.11.7 | 11 claims hold on cpu | 1184 passed, 1 error |", 1),
    ],
)
def test_a_version_with_which_something_fails_is_noticed(row, status):
    assert try_versions.failed(row) == status


def test_what_the_workflows_call_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        called = re.findall(r"run: make (\S+)", path.read_text(encoding="utf-8"))
        assert called
        assert set(called) <= targets


def test_every_package_that_is_asked_for_has_a_pinned_version():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["project"]["dependencies"],
        *(each for some in extras.values() for each in some),
    ]
    names = {re.split(r"[^\w-]", each)[0] for each in asked} - {"zorro-gnn"}
    pinned = {name.lower().replace("_", "-") for name in PINNED}
    assert {name.lower().replace("_", "-") for name in names} - pinned == set()


def test_what_errors_and_statuses_point_to_is_on_the_page():
    page = (ROOT / TROUBLESHOOTING).read_text(encoding="utf-8")
    headings = {name.lower().replace(" ", "-") for name in re.findall(r"^## (.+)$", page, re.M)}
    pointed_to = {status.replace(" ", "-") for status in EXPLAINED_IN_DOCS}
    pointed_to |= {kind.section for kind in vars(errors).values() if hasattr(kind, "section")}
    assert "refused" in pointed_to
    assert pointed_to - {None} <= headings
