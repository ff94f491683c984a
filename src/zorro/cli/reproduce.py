"""`zorro reproduce`: regenerate the paper's tables and figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from zorro.cli import options, terminal
from zorro.cli.terminal import show_fitted

if TYPE_CHECKING:
    from zorro.paper.jobs import Variant
    from zorro.runs.task import Outcome

_EVERY = 25  # measurements between two lines


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="Which; --list shows them.", show_default=False),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="The first N query nodes of each cell.", show_default="all"
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Only these methods, by the names in the tables.",
            show_default="the experiment's own",
        ),
    ] = None,
    explainer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.py",
            help="A file that registers explainers of your own: they are put into the tables.",
            show_default=False,
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with the paper's checkpoints and query nodes.",
            show_default="ZORRO_PAPER",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Where tables and figures go; finished measurements are kept in its folder runs, "
            "and the same command goes on with what is missing.",
        ),
    ] = Path("results"),
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="As of `zorro explain`.")
    ] = "in-process",
    workers: Annotated[
        int | None, typer.Option(help="Worker processes.", show_default="one per core")
    ] = None,
    device: Annotated[str, typer.Option(help="Of models and graphs: cpu, cuda.")] = "cpu",
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--report-only",
            help="Measure what is missing, or only make tables of what is kept.",
        ),
    ] = True,
    seed: Annotated[int, typer.Option(help="Of noise and of methods that draw.")] = 0,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the experiments and end.")
    ] = False,
    threads: options.Threads = 1,
) -> None:
    """Regenerate a table or figure of the paper, the published values beside ours."""
    import os

    import torch

    from zorro.arguments import check_device
    from zorro.errors import InputError
    from zorro.paper import EXPERIMENTS, Settings
    from zorro.runs.engines import engine_of

    if show_list:
        _list()
        return
    if name not in EXPERIMENTS:
        raise InputError(f"NAME: expected one of {', '.join(EXPERIMENTS)}, got {name!r}")
    if checkpoints is not None:
        os.environ["ZORRO_PAPER"] = str(checkpoints)
    check_device("--device", device)
    torch.set_num_threads(threads)
    settings = Settings(
        runs=out / "runs",
        nodes=nodes,
        methods=None if methods is None else tuple(part.strip() for part in methods.split(",")),
        own=() if explainer is None else _own(explainer),
        engine=engine_of(engine, queries=nodes or 300, workers=workers, threads=threads),
        device=device,
        measures=measure,
        seed=seed,
        on_outcome=_Lines(),
    )
    report = EXPERIMENTS[name].run(settings)
    command = " ".join(["zorro", *sys.argv[1:]])
    for path in report.write(out, name, command=command):
        terminal.messages.print(str(path), markup=False)


def _own(path: Path) -> tuple[Variant, ...]:
    from zorro.methods import methods_in
    from zorro.paper.jobs import Variant

    source = str(path.absolute())
    return tuple(Variant(name, name, source=source) for name in methods_in(path))


def _list() -> None:
    from zorro.paper import EXPERIMENTS

    shown = Table(box=SIMPLE_HEAD, show_edge=False)
    for header in ("name", "shows", "in the paper"):
        shown.add_column(header)
    for experiment in EXPERIMENTS.values():
        shown.add_row(experiment.name, experiment.title, experiment.label)
    show_fitted(shown, terminal.results)


class _Lines:
    """A line now and then."""

    def __init__(self) -> None:
        self._done = 0

    def __call__(self, what: str, outcome: Outcome) -> None:
        self._done += 1
        if outcome.error is not None:
            terminal.messages.print(f"{what}, node {outcome.query.key}: {outcome.error}")
        elif self._done % _EVERY == 0:
            terminal.messages.print(f"{self._done} measured, now {what}", markup=False)
