"""The help can be read at 80 columns, explains every option, and its examples are valid."""

from __future__ import annotations

import shlex

import pytest
from typer.main import get_command

from zorro import __version__
from zorro.cli.app import app
from zorro.cli.datasets import DATASETS, MODELS
from zorro.data import DATASETS as KNOWN_DATASETS
from zorro.models import MODELS as KNOWN_MODELS

COMMANDS = get_command(app).commands


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_fits_80_columns(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*[command][: command is not None], "--help")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) < 80
    assert "\x1b" not in result.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    assert all(parameter.help for parameter in COMMANDS[name].params)


def test_every_example_is_a_valid_command_line(run):
    text = run("--help").out.replace("\\\n", " ")
    examples = [line.split() for line in text.splitlines() if line.startswith("    zorro ")]
    assert {words[1] for words in examples} == set(COMMANDS)
    for words in examples:
        COMMANDS[words[1]].make_context(words[1], shlex.split(" ".join(words[2:])))


def test_version_is_the_packages(run):
    assert run("--version").out == f"zorro {__version__}\n"


def test_everything_with_a_name_is_listed(run):
    assert (set(DATASETS), set(MODELS)) == (set(KNOWN_DATASETS), set(KNOWN_MODELS))
    lines = run("datasets").out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [*DATASETS, *MODELS]
    assert max(map(len, lines)) <= 80
