"""`zorro runs`: list, show and export what `zorro explain --out` has kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from zorro.cli import options, table, terminal
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
    from zorro.runs import BrokenRun, find_runs

    if not folder.is_dir():
        raise InputError(f"FOLDER: expected a folder, got {folder}")
    runs = list(find_runs(folder))
    if not runs:
        terminal.messages.print(f"There are no runs in {folder}.", markup=False)
        return
    shown = Table(box=SIMPLE_HEAD, show_edge=False)
    for header in ("run", "explains", "τ", "explained", "certified", "failed", "made"):
        shown.add_column(header, justify="left" if header in ("run", "explains") else "right")
    for listed in runs:
        if isinstance(listed, BrokenRun):
            shown.add_row(escape(str(listed.path)), "broken, see below", *[""] * 5)
            continue
        run, counts = listed.run, listed.counts
        shown.add_row(
            escape(str(run.path)),
            escape(_subject(run)),
            _number(run.manifest["parameters"].get("tau")),
            f"{counts.explained}/{run.asked}",
            str(counts.certified),
            str(counts.failed),
            escape(run.manifest["made"]["at"][:16].replace("T", " ")),
        )
    show_fitted(shown, terminal.results)
    for listed in runs:
        if isinstance(listed, BrokenRun):
            terminal.messages.print(f"{listed.path} is broken: {listed.reason}", markup=False)


def show(
    run: Folder,
    node: Annotated[
        int | None, typer.Option(help="Show the explanation of this node in full.")
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="U-V", help="Of this link, if the run is of links.")
    ] = None,
    graph: Annotated[
        int | None, typer.Option(help="Of this graph, if the run is of graphs.")
    ] = None,
) -> None:
    """Show what a run was asked and what came of it."""
    from zorro.cli.asked import one_asked
    from zorro.cli.levels import Told, agreed
    from zorro.runs import open_run

    kept = open_run(run)
    if node is not None or link is not None or graph is not None:
        told, asked = one_asked(node=node, link=link, graph=graph)
        agreed([Told("RUN", "", kept.level), told])
        shown = kept.explanation(asked).described(kept.known.names)
        terminal.results.print(shown, markup=False)
        return
    counts = kept.counts()
    if 0 < counts.explained <= _MOST_LISTED:
        listed = list(kept.explanations())
        table.show(listed, kept.known, description=_subject(kept), console=terminal.results)
        terminal.results.print()
    else:
        terminal.results.print(_subject(kept), markup=False)
    if counts.explained:
        size = table.sizes_in_words(kept.median_sizes())
        terminal.results.print(f"The median size is {size}.", markup=False)
    terminal.results.print(
        f"{counts.explained} of {kept.asked} {kept.about.nouns} explained, {counts.certified} of "
        f"them certified, {counts.failed} failed.",
        markup=False,
    )
    if kept.added:
        terminal.results.print(
            f"{kept.added} of them were added later, one by one, in the explorer.", markup=False
        )
    for failure in kept.failures():
        terminal.results.print(f"{failure.query}: {failure.error}", markup=False)
    _say_what_is_damaged(kept)


def export(run: Folder, parquet: Target = None, csv: Target = None, jsonl: Target = None) -> None:
    """Write a run as one file for other tools.

    Parquet and CSV have one row per node, link (by its source and target) or graph, those that
    failed too, with lists of nodes and features (in CSV as JSON); a damaged row has that as its
    status. JSON lines hold each explanation whole, as `Explanation.from_json` reads it.
    """
    from zorro.errors import InputError
    from zorro.runs import open_run
    from zorro.runs.export import FORMATS

    wanted = {"parquet": parquet, "csv": csv, "jsonl": jsonl}
    if not any(wanted.values()):
        raise InputError("export: expected at least one of --parquet, --csv and --jsonl, got none")
    kept = open_run(run)
    for name, path in wanted.items():
        if path is not None:
            count = FORMATS[name](kept, path)
            terminal.messages.print(f"{path}: {count} rows", markup=False)
    _say_what_is_damaged(kept)


def verify(
    run: Folder,
    graph: Annotated[
        bool,
        typer.Option(
            "--graph/--no-graph", help="Load data set and model, and compare them too, or not."
        ),
    ] = True,
    claims: Annotated[
        bool,
        typer.Option(
            "--claims/--no-claims", help="Count every certified claim again, or only compare."
        ),
    ] = True,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the noise that claims are counted on.", show_default="drawn, and printed"
        ),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="On which each claim is counted.")] = 1000,
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write what came of each claim.")
    ] = None,
    model: options.Model = None,
) -> None:
    """Check all that a run keeps: its rows, data set and model, and every claim.

    The sets of all claims are counted again on noise of another seed. The status is 3 if what they
    give is not explained by bad luck, be it one claim or many, and 1 if rows are damaged or do not
    keep to what the run was asked.
    """
    import json

    from zorro.audit.plain import plain
    from zorro.cli import claims as counting
    from zorro.cli import model_and_data, naming, output_file
    from zorro.errors import RunError
    from zorro.runs import open_run
    from zorro.runs.again import refuse_other_data, refuse_other_model
    from zorro.runs.manifest import check_complete

    kept = open_run(run)
    check_complete(kept.manifest, run)
    kept.counts()
    count = sum(1 for _ in kept.rows())
    if damaged := _say_what_is_damaged(kept):
        raise RunError(f"{run}: {damaged} of {count} rows are damaged")
    said = f"{count} of {kept.asked} rows"
    named = naming.named_by(kept, model=model) if graph else None
    if named is not None:
        loaded = model_and_data.load(**named)
        refuse_other_data(kept, loaded.data.given(), loaded.model_kwargs)
        refuse_other_model(kept, loaded.model)
        said += f", {loaded.description}"
        if claims:
            seed = counting.other_seed(kept) if seed is None else seed
            checked = counting.count_again(kept, loaded, seed=seed, samples=samples)
            counting.show(checked, kept, seed=seed, samples=samples)
            if as_json is not None:
                told = {"seed": seed, "samples": samples, **plain(checked)}
                output_file.write(as_json, f"{json.dumps(told)}\n")
            if checked.is_broken:
                raise typer.Exit(3)
            said += f", {checked.made:,} claim{'s' * (checked.made != 1)}"
    terminal.results.print(f"verified  {run}: {said}", markup=False)


def _say_what_is_damaged(run: Run) -> int:
    """Name the first rows that are damaged; return how many there are."""
    from zorro.runs.run import described

    damaged = run.damaged()
    for row in damaged[:_MOST_LISTED]:
        terminal.messages.print(described(row, run.about), markup=False)
    if len(damaged) > _MOST_LISTED:
        terminal.messages.print(f"and {len(damaged) - _MOST_LISTED} more", markup=False)
    return len(damaged)


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "–"


def _subject(run: Run) -> str:
    asked = run.manifest["asked"].get("subject")
    return str(asked or run.manifest["model"]["class"])
