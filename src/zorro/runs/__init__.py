"""Many nodes: runs that are kept, resumed, and computed on one machine or many."""

from __future__ import annotations

from zorro.runs.engines import ENGINES, Engine, EngineName
from zorro.runs.run import Failure, Run, explain_many, open_run
from zorro.runs.task import Outcome, Query, Task

__all__ = [
    "ENGINES",
    "Engine",
    "EngineName",
    "Failure",
    "Outcome",
    "Query",
    "Run",
    "Task",
    "explain_many",
    "open_run",
]
