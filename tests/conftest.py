"""Fixtures for tests that need the real data sets or the paper's own material."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch_geometric.data import Data

from zorro.data import load
from zorro.data.dblp import hetero_file
from zorro.errors import DatasetError

# The tests' graphs are small: a second thread costs more than it brings, on busy machines most.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # in the processes that tests start, too

_LONGEST = "test_ray.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the file that takes longest: no worker is left alone with it at the end."""
    items.sort(key=lambda item: item.path.name != _LONGEST)


def pytest_collection_finish() -> None:
    """Spare the collector what stays: torch, and thousands of tests."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let go of it: DuckDB reports all that the collector has not taken down at exit as leaked."""
    gc.unfreeze()


def _folder(variable: str, holding: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names the folder with {holding}")
    if not Path(value).is_dir():
        pytest.skip(f"{variable} is {value}, which is not a folder: it should hold {holding}")
    return Path(value)


@pytest.fixture(scope="session")
def hetero_dir() -> Path:
    """The folder of graphs of several types: ZORRO_HETERO, or beside the paper's material."""
    try:
        return hetero_file("dblp.npz").parent
    except DatasetError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def paper_dir() -> Path:
    """The folder with the paper's graph, query nodes and trained models."""
    return _folder("ZORRO_PAPER", "the paper's graph, query nodes and trained models")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the public data sets in PyG's raw layout."""
    return _folder("ZORRO_DATA", "the public data sets")


@pytest.fixture(scope="session", autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what PyG derives from the data sets out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def real_graph(data_dir: Path) -> Callable[[str], Data]:
    """Load a public data set by name, once a session."""
    return functools.cache(load)


class Touched(TorchDispatchMode):
    """Notes the operations that are given, or give, a tensor with one of some large sizes."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.operations = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        # What gets only the type from a tensor has not read it.
        given = () if func.overloadpacket.__name__.startswith("new_") else (args, kwargs)
        tensors = [t for t in tree_iter((given, result)) if isinstance(t, torch.Tensor)]
        if any(self.sizes & set(tensor.shape) for tensor in tensors):
            self.operations.add(func.overloadpacket.__name__)
        return result


@pytest.fixture
def touched() -> type[Touched]:
    """A context that notes which operations see a large tensor."""
    return Touched
