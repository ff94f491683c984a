"""`zorro runs`: list, show and export what `zorro explain --out` has kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from zorro.cli import table, terminal
from zorro.cli.terminal import show_fitted

if TYPE_CHECKING:
    from zorro.runs import Run

Folder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)
]
Target = Annotated[Path | None, typer.Option(metavar="FILE", help="Write this file.")]
_MOST_LISTED = 50


def list_runs(
    folder: Annotated[
        Path, typer.Argument(help="Where to look, with all that lies below.")
    ] = Path(),
) -> None:
    """List the runs in a folder."""
    from zorro.errors import InputError
    from zorro.runs import open_run
    from zorro.runs.folder import MANIFEST

    if not folder.is_dir():
        raise InputError(f"FOLDER: expected a folder, got {folder}")
    runs = [open_run(path.parent) for path in sorted(folder.rglob(MANIFEST))]
    if not runs:
        terminal.messages.print(f"There are no runs in {folder}.", markup=False)
        return
    shown = Table(box=SIMPLE_HEAD, show_edge=False)
    for header in ("run", "explains", "τ", "explained", "certified", "failed", "made"):
        shown.add_column(header, justify="left" if header in ("run", "explains") else "right")
    for run in runs:
        counts = run.counts()
        shown.add_row(
            str(run.path),
            _subject(run),
            f"{run.manifest['parameters']['tau']:g}",
            f"{counts.explained}/{run.asked}",
            str(counts.certified),
            str(counts.failed),
            str(run.manifest["made"]["at"])[:16].replace("T", " "),
        )
    show_fitted(shown, terminal.results)


def show(
    run: Folder,
    node: Annotated[
        int | None, typer.Option(help="Show the explanation of this node in full.")
    ] = None,
) -> None:
    """Show what a run was asked and what came of it."""
    from zorro.runs import open_run

    kept = open_run(run)
    if node is not None:
        terminal.results.print(str(kept.explanation(node)), markup=False)
        return
    counts = kept.counts()
    if 0 < counts.explained <= _MOST_LISTED:
        table.show(list(kept), None, description=_subject(kept), console=terminal.results)
        terminal.results.print()
    else:
        terminal.results.print(_subject(kept), markup=False)
    if counts.explained:
        nodes, features = kept.median_sizes()
        terminal.results.print(
            f"The median size is {nodes:g} nodes × {features:g} features.", markup=False
        )
    terminal.results.print(
        f"{counts.explained} of {kept.asked} nodes explained, {counts.certified} of them "
        f"certified, {counts.failed} failed.",
        markup=False,
    )
    for failure in kept.failures():
        terminal.results.print(f"node {failure.node}: {failure.error}", markup=False)


def export(run: Folder, parquet: Target = None, csv: Target = None, jsonl: Target = None) -> None:
    """Write a run as one file for other tools.

    Parquet and CSV have one row per node, those that failed too, with lists of nodes and features
    (in CSV as JSON). JSON lines hold each explanation whole, as `Explanation.from_json` reads it.
    """
    from zorro.errors import InputError
    from zorro.runs import open_run
    from zorro.runs.export import FORMATS

    wanted = {"parquet": parquet, "csv": csv, "jsonl": jsonl}
    if not any(wanted.values()):
        raise InputError("export: name at least one file: --parquet, --csv or --jsonl")
    kept = open_run(run)
    for name, path in wanted.items():
        if path is not None:
            count = FORMATS[name](kept, path)
            terminal.messages.print(f"{path}: {count} rows", markup=False)


def _subject(run: Run) -> str:
    asked = run.manifest["asked"].get("subject")
    return str(asked or run.manifest["model"]["class"])
