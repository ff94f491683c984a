"""A small model and graph, and tasks that misbehave (in a module that workers can import)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import run_tasks


@pytest.fixture
def task():
    return run_tasks.small_task()
