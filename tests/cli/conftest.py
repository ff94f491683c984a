"""Run the command line in this process, and a small graph to run it on."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from zorro.cli import main
from zorro.cli.notes import NoteHandler

ISOLATED = 39


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def small_graph() -> dict[str, np.ndarray]:
    """Two groups of twenty nodes told apart by feature 0; the last node has no neighbours."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 5)).astype(np.float32)
    x[:, 0] += 3 * y
    rows = np.arange(38)
    edges = np.stack([rows, rows + 1]) if False else np.stack([rows[:-1], rows[1:]])
    train_mask = np.arange(40) < 30
    return {
        "x": x,
        "edge_index": np.concatenate([edges, edges[::-1]], axis=1),
        "y": y,
        "train_mask": train_mask,
        "test_mask": ~train_mask,
    }


@pytest.fixture
def graph() -> dict[str, np.ndarray]:
    return small_graph()


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Run]:
    """Run `zorro` with the words given, in an empty folder, and put the process back after."""
    threads = torch.get_num_threads()
    modules = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run_it(*words: object) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        seen = capsys.readouterr()
        return Result(int(ended.value.code or 0), seen.out, seen.err)

    yield run_it
    torch.set_num_threads(threads)
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]
    logger = logging.getLogger("zorro")
    for handler in [handler for handler in logger.handlers if isinstance(handler, NoteHandler)]:
        logger.removeHandler(handler)


@pytest.fixture
def graph_file(tmp_path: Path, graph: dict[str, np.ndarray]) -> Path:
    path = tmp_path / "graph.npz"
    np.savez(path, **graph)
    return path


@pytest.fixture
def checkpoint(run: Run, graph_file: Path, tmp_path: Path) -> Path:
    """A GCN that the command line trained on `graph_file`."""
    path = tmp_path / "gcn.safetensors"
    made = run("train", "--dataset", graph_file, "--model", "gcn", "--out", path, "--epochs", 40)
    assert made.code == 0, made.err
    return path
