"""Many nodes, links or graphs: runs that are kept, resumed, and computed on one machine or many."""

from __future__ import annotations

from zorro.runs.engines import ENGINES, Engine, EngineName
from zorro.runs.known import Known
from zorro.runs.listing import BrokenRun, ListedRun, find_runs
from zorro.runs.many import explain_graphs, explain_hetero, explain_links, explain_many
from zorro.runs.run import Failure, Row, Run, open_run
from zorro.runs.store import DamagedRow
from zorro.runs.task import Outcome, Query, Task

__all__ = [
    "ENGINES",
    "BrokenRun",
    "DamagedRow",
    "Engine",
    "EngineName",
    "Failure",
    "Known",
    "ListedRun",
    "Outcome",
    "Query",
    "Row",
    "Run",
    "Task",
    "explain_graphs",
    "explain_hetero",
    "explain_links",
    "explain_many",
    "find_runs",
    "open_run",
]
