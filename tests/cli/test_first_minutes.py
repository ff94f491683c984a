"""What somebody sees who has just installed it: `zorro`, `zorro demo`, `zorro doctor`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from zorro import __version__, open_run
from zorro.cli import doctor
from zorro.cli.app import app

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    name = re.match(r"[\w-]+", requirement)
    assert name is not None
    return name[0]


def test_zorro_alone_names_every_command(run):
    result = run()
    assert (result.code, result.err) == (0, "")
    shown = re.findall(r"^  ([a-z]+)  ", result.out, re.M)
    group: Any = get_command(app)
    assert sorted(shown) == sorted(group.commands)
    assert max(map(len, result.out.splitlines())) <= 90


def test_the_demo_leaves_a_run_and_a_report(run, tmp_path):
    result = run("demo", "--out", "shown", "--epochs", 20)
    assert result.code == 0, result.err
    assert {path.name for path in (tmp_path / "shown").iterdir()} == {
        "gcn3.safetensors",
        "gcn3.json",
        "run",
        "report.html",
    }
    assert len(open_run(tmp_path / "shown" / "run")) == 5
    assert (tmp_path / "shown" / "report.html").as_uri() in result.out
    commands = re.findall(r"^\$ zorro (\w+)", result.err, re.M)
    assert commands == ["train", "explain", "report"]


def test_the_demo_overwrites_nothing(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all of it")
    result = run("demo", "--out", "mine")
    assert result.code == 1
    assert result.err == ("zorro: error: --out: expected a folder that is new or empty, got mine\n")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_the_doctor_knows_what_the_project_needs():
    assert {name_of(each) for each in PROJECT["dependencies"]} == set(doctor.CORE)
    extras = {
        extra: tuple(name_of(each) for each in needed)
        for extra, needed in PROJECT["optional-dependencies"].items()
        if extra not in ("dev", "docs")
    }
    assert extras == doctor.EXTRAS


def test_the_doctor_tells_what_is_there_and_what_is_not(run, tmp_path, monkeypatch):
    (tmp_path / "sets" / "Cora").mkdir(parents=True)
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "sets"))
    monkeypatch.setenv("ZORRO_PAPER", str(tmp_path / "nowhere"))
    monkeypatch.setitem(doctor.EXTRAS, "molecules", ("a-package-that-is-not-there",))
    result = run("doctor")
    assert result.code == 0
    assert result.out.startswith(f"zorro {__version__}, Python 3.")
    assert f"{tmp_path / 'sets'}: Cora" in result.out
    assert f"{tmp_path / 'nowhere'}, which is no folder" in result.out
    assert "not installed: pip install 'zorro-gnn[molecules]'" in result.out
    assert re.search(r"cpu: \d+ cores for this process, \d+\.\d GB", result.out)


@pytest.mark.parametrize("package", ["torch_geometric", "scipy"])
def test_the_doctor_finds_what_is_broken(run, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails from now on
    result = run("doctor")
    assert result.code == 1
    assert re.search(rf"{package} [\d.]+ cannot be imported", result.out)
