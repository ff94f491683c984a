"""`zorro audit`: what a model rests on, by all explanations of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from zorro.cli import options, terminal
from zorro.cli.runs import Folder


def audit(
    run: Folder,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write it as one HTML file too; one that is there is replaced.",
        ),
    ] = None,
    as_json: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE|-", help="Write it as JSON; - is stdout, without the text."
        ),
    ] = None,
    graph: options.WithGraph = True,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    checkpoint: options.Checkpoint = None,
    dataset: options.Dataset = None,
    model: options.Model = None,
    data_seed: options.DataSeed = None,
) -> None:
    """Say what a model rests on, class by class, and what is different about its mistakes.

    Also which predictions somebody should look at, and which explanations say the same. Each
    share has an exact interval, and what is called more than chance is so at a false discovery
    rate of 5 %. The data set and the model are those that the run names; without them (--no-graph)
    chance and kinds of nodes are not known.
    """
    from zorro.cli import audit_text, made_with, output_file
    from zorro.runs import open_run
    from zorro.show import audit_page
    from zorro.show.page.run_inputs import run_inputs

    kept = open_run(run)
    for file in (out, None if as_json in (None, "-") else Path(str(as_json))):
        if file is not None:
            output_file.check(file, force=True)
    given = {"dataset": dataset, "model": model, "checkpoint": checkpoint, "data_seed": data_seed}
    found = None
    if graph:
        found = made_with.loaded(kept, given, otherwise="chance is not known")
    names = made_with.names_in(kept, found)
    inputs = None
    parts: dict[str, Any] = {}
    if found is not None:
        inputs = run_inputs(**made_with.as_shown(kept, found))
        inputs.asked_by(kept)  # refuses other data, or another model
        parts = {**found.data.audited(), "model": found.model, "model_kwargs": found.model_kwargs}
    audited = kept.audit(**parts, names=names, confidence=confidence)
    if as_json == "-":
        sys.stdout.write(f"{audited.to_json()}\n")
    else:
        audit_text.show(audited, kept, names, console=terminal.results)
        if as_json is not None:
            output_file.write(Path(as_json), f"{audited.to_json()}\n")
    if out is not None:
        size = audit_page.write(kept, audited, out, inputs=inputs)
        terminal.messages.print(f"{out}: {size / 1e6:.1f} MB", markup=False, highlight=False)
