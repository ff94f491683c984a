"""Run the command line in this process, and a small graph to run it on."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from zorro.cli import main
from zorro.cli.notes import NoteHandler
from zorro.data import load
from zorro.models import TrainingSettings, train
from zorro.models import checkpoint as checkpoints


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def _graph() -> dict[str, Any]:
    """A path of 39 nodes whose second half has larger values of feature 0, and a lone node 39."""
    rng = np.random.default_rng(0)
    y = (np.arange(40) >= 20).astype(np.int64)
    x = rng.normal(size=(40, 5)).astype(np.float32)
    x[:, 0] += 3 * y
    path = np.stack([np.arange(38), np.arange(1, 39)])
    train_mask = np.arange(40) % 4 > 0
    return {
        "x": x,
        "edge_index": np.concatenate([path, path[::-1]], axis=1),
        "y": y,
        "train_mask": train_mask,
        "test_mask": ~train_mask,
    }


@pytest.fixture
def graph() -> dict[str, Any]:
    return _graph()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Do as the command line does: several threads on a busy machine wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph and a GCN trained on it, as `zorro train` leaves it."""
    folder = tmp_path_factory.mktemp("trained")
    np.savez(folder / "graph.npz", **_graph())
    data = load(folder / "graph.npz")
    settings = TrainingSettings(epochs=40)
    with _one_thread():
        model = train("gcn", data, settings)
    record = checkpoints.describe(model, "gcn", data, dataset="graph.npz", settings=settings)
    checkpoints.save(folder / "gcn.safetensors", model, record)
    return folder


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Run]:
    """Run `zorro` with the words given, in an empty folder, and put the process back after."""
    modules = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run_it(*words: object) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        seen = capsys.readouterr()
        return Result(int(ended.value.code or 0), seen.out, seen.err)

    with _one_thread():
        yield run_it
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]
    logger = logging.getLogger("zorro")
    for handler in [handler for handler in logger.handlers if isinstance(handler, NoteHandler)]:
        logger.removeHandler(handler)


@pytest.fixture
def graph_file(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained / "graph.npz", tmp_path))


@pytest.fixture
def checkpoint(run: Run, trained: Path, graph_file: Path, tmp_path: Path) -> Path:
    """The trained model, in the current folder together with its record and its graph."""
    shutil.copy(trained / "gcn.json", tmp_path)
    return Path(shutil.copy(trained / "gcn.safetensors", tmp_path))
