"""The help can be read at 80 columns, explains every option, and its examples are valid."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from typer.main import get_command

from zorro import __version__
from zorro.cli.app import app
from zorro.cli.datasets import DATASETS, GRAPH_DATASETS, HETERO_DATASETS, MODELS
from zorro.data import DATASETS as KNOWN_DATASETS
from zorro.data import GRAPH_DATASETS as KNOWN_GRAPH_DATASETS
from zorro.data import HETERO_DATASETS as KNOWN_HETERO_DATASETS
from zorro.models import MODELS as KNOWN_MODELS

APP: Any = get_command(app)
TOP = APP.commands
# By the words that name them: runs has commands of its own.
COMMANDS = {name: command for name, command in TOP.items() if name != "runs"} | {
    f"runs {name}": command for name, command in TOP["runs"].commands.items()
}


@pytest.mark.parametrize("command", ["", "runs", *COMMANDS])
def test_help_fits_80_columns(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*command.split(), "--help")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) < 80
    assert "\x1b" not in result.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    assert all(parameter.help for parameter in COMMANDS[name].params)


def test_every_example_is_a_valid_command_line(run):
    text = run("--help").out.replace("\\\n", " ")
    examples = [line.split() for line in text.splitlines() if line.startswith("    zorro ")]
    shown = set()
    for words in examples:
        name = " ".join(words[1 : 3 if words[1] == "runs" else 2])
        shown.add(name)
        rest = words[1 + len(name.split()) :]
        COMMANDS[name].make_context(name, shlex.split(" ".join(rest)))
    assert shown == set(COMMANDS)


def test_version_is_the_packages(run):
    assert run("--version").out == f"zorro {__version__}\n"


def test_everything_with_a_name_is_listed(run):
    assert (set(DATASETS), set(MODELS)) == (set(KNOWN_DATASETS), set(KNOWN_MODELS))
    assert set(GRAPH_DATASETS) == set(KNOWN_GRAPH_DATASETS)
    assert set(HETERO_DATASETS) == set(KNOWN_HETERO_DATASETS)
    named = [*DATASETS, *GRAPH_DATASETS, *HETERO_DATASETS, *MODELS]
    lines = run("datasets").out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == named
    assert max(map(len, lines)) <= 80
