"""Where the real data and the paper's material lie; tests that need them say so when they are left out."""

import os
from pathlib import Path

import pytest
import torch

# The tests' graphs are small: a second thread costs more than it brings, on busy machines most.
torch.set_num_threads(1)


def folder_named_by(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    folder = Path(value)
    if not folder.is_dir():
        pytest.skip(f"{variable} names {folder}, which is not a folder")
    return folder


@pytest.fixture
def data_dir() -> Path:
    return folder_named_by("ZORRO_DATA")


@pytest.fixture
def paper_dir() -> Path:
    return folder_named_by("ZORRO_PAPER")
