"""What documents tell people to type works, in their order and with nothing but what is there.

Commands run in this process, all of a document in one folder; Python blocks run as one session.
What would take minutes is shortened, and nothing else is changed. Here are a page that starts
processes, and what README says that is neither; `test_pages.py` has the others.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer

from zorro.cli.app import app
from zorro.evaluation.traced.layers import COMPOSITIONS, LAYERS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("docs/many_nodes.md",)
SHORTER = {
    "--dataset ba-community --model gcn3": "--dataset ba-community --model gcn3 --epochs 300",
    "--dataset cora --model gcn": "--dataset cora --model gcn --epochs 20",
    "--dataset mutag --model gin": "--dataset mutag --model gin --epochs 10",
    "dblp-pyg": "dblp",  # which need not be downloaded
    "--dataset dblp --model hgt": "--dataset dblp --model hgt --epochs 2",
    "--nodes 12,40": "--nodes 12",
    "--graphs test": "--graphs 5,9",
    "--nodes test": "--nodes 322,302",
    "--nodes random:20": "--nodes random:2",
    "--links random:20": "--links random:2",
    "data.test_mask": "data.test_mask.nonzero().flatten()[-2:]",
}
SECONDS_TO_END = 60


def blocks(document: str, language: str) -> list[str]:
    """Return a document's blocks of code in some language ("" where none is named)."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"^```(.*?)\n(.*?)^```$", text, re.M | re.S)
    return [content for name, content in found if name == language]


def commands(document: str) -> list[list[str]]:
    """Return the words of each command of a document."""
    typed = [block for block in blocks(document, "") if re.search(r"^zorro ", block, re.M)]
    return [words for block in typed for words in words_of(block) if words[:1] == ["zorro"]]


def words_of(block: str) -> list[list[str]]:
    """Return the words of each command of a block."""
    lines = shortened(block).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines]


def shortened(text: str) -> str:
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    return text


def run_all(run, every: list[list[str]]) -> None:
    assert every
    for command, *words in every:
        assert command == "zorro"
        if "--address" in words:
            parse(words)  # there is no such cluster
        elif words[0] == "serve":
            start_and_stop(words)
        else:
            result = run(*words)
            assert result.code == 0, f"{words}: {result.err}"
            if "--why-not" in words:
                assert "1 of 1 are certified" in result.out, "the example shows nothing"


def parse(words: list[str]) -> None:
    """Have the command's options read, and nothing done."""
    group: Any = typer.main.get_command(app)
    with group.make_context("zorro", list(words)) as context:
        name, command, rest = group.resolve_command(context, words)
        with command.make_context(name, rest, parent=context):
            pass


def start_and_stop(words: list[str]) -> None:
    code = "from zorro.cli import main; main()"
    server = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        said = ""
        assert server.stderr is not None
        for line in server.stderr:
            said += line
            if "Serving at http://" in line:
                break
        assert "Serving at http://" in said, said
        server.send_signal(signal.SIGINT)
        server.wait(SECONDS_TO_END)
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_can_be_pasted(run, document):
    run_all(run, commands(document))
    for query in blocks(document, "sql"):
        answer = duckdb.sql(query)
        assert answer is not None
        assert answer.fetchall()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_can_be_pasted(document, tmp_path):
    session = "\n".join(shortened(block) for block in blocks(document, "python"))
    environment = {**os.environ, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        # As it is at a prompt: a worker process must not find a script that it would run again.
        [sys.executable, "-c", session],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_to_be_installed_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (block,) = (block for block in blocks("README.md", "") if block.startswith("pip "))
    for line in block.splitlines():
        pip, install, editable, what = shlex.split(line, comments=True)
        assert (pip, install, editable) == ("pip", "install", "-e")
        parts = re.fullmatch(r"(.+)\[(.+)\]", what)
        assert parts is not None
        folder, extras = parts.groups()
        assert folder == "."
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_the_layers_that_are_fast_are_those_that_are_named():
    text = (ROOT / "docs/which_models.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"down to layers among (.*?), with linear layers", text, re.S)
    named = set(re.findall(r"`(\w+)`", told))
    assert named == {layer.__name__ for layer in [*LAYERS, *COMPOSITIONS]}
    of_one_type = [name for name in named if not name.startswith("Hetero")]
    assert f"[{len(of_one_type)} of PyG's layers]" in (ROOT / "README.md").read_text("utf-8")


def test_options_that_do_not_exist_are_noticed():
    with pytest.raises(Exception, match="No such option: --colour"):
        parse(["serve", "my-run", "--colour", "red"])
