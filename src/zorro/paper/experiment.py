"""An experiment of the paper: a name, what it reproduces, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from zorro.paper.jobs import Variant
from zorro.paper.report import Report
from zorro.runs.engines import Engine, InProcess
from zorro.runs.task import Outcome


@dataclass(frozen=True)
class Settings:
    """How an experiment is to be run.

    Args:
        runs: a folder in which finished measurements are kept, and found again.
        nodes: query nodes of each cell; all of the paper's when None.
        methods: only these; the experiment's own when None.
        own: further methods in the tables.
        engine: what computes.
        device: of models and graphs.
        measures: whether to measure what is missing, or only to report what is kept.
        seed: of noise and of methods that draw.
        on_outcome: told of each finished measurement, and of how many there are.
    """

    runs: Path
    nodes: int | None = None
    methods: tuple[str, ...] | None = None
    own: tuple[Variant, ...] = ()
    engine: Engine = field(default_factory=InProcess)
    device: str = "cpu"
    measures: bool = True
    seed: int = 0
    on_outcome: Callable[[str, Outcome], None] = lambda what, outcome: None


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Args:
        name: as `zorro reproduce` takes it.
        title: what it shows.
        label: of the table or figure in the paper.
        run: measures and reports.
    """

    name: str
    title: str
    label: str
    run: Callable[[Settings], Report]
