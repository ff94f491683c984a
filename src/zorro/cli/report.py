"""`zorro report`: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, terminal

if TYPE_CHECKING:
    from zorro.runs import Run
    from zorro.show.page import payload

_EVERY = 25  # queries between two lines


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The HTML file; one that is there is replaced."
        ),
    ] = Path("report.html"),
    graph: options.WithGraph = True,
    alternatives: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Find up to N further explanations of each query, disjoint from the one it has; "
            "as long as so many searches take.",
        ),
    ] = 0,
    checkpoint: options.Checkpoint = None,
    dataset: options.Dataset = None,
    model: options.Model = None,
    data_seed: options.DataSeed = None,
) -> None:
    """Write a run as one HTML file that opens in any browser, without a network.

    The data set and the model are those that the run names. If they lie elsewhere by now, or the
    run does not name them, name them here; they must be the same.
    """
    from zorro.cli import made_with, output_file
    from zorro.runs import open_run
    from zorro.show.report import write

    kept = open_run(run)
    output_file.check(out, force=True)
    given = {
        "dataset": dataset,
        "model": model,
        "checkpoint": checkpoint,
        "data_seed": data_seed,
    }
    shown: dict[str, Any] = {"names": made_with.names_in(kept, None)}
    if graph and (found := made_with.loaded(kept, given, otherwise="the report draws nothing")):
        shown = made_with.as_shown(kept, found)
    others = _alternatives(kept, alternatives, shown) if alternatives else None
    size = write(kept, out, alternatives=others, **shown)
    terminal.messages.print(
        f"{out}: {len(kept)} explanations, {size / 1e6:.1f} MB", markup=False, highlight=False
    )


def _alternatives(run: Run, count: int, shown: dict[str, Any]) -> payload.Alternatives:
    """Find further explanations, saying how far it is."""
    from zorro.errors import InputError
    from zorro.show.report import alternatives_of

    if "model" not in shown:
        raise InputError(
            "--alternatives: expected a run with its data set and model, got none, see --graph"
        )
    done: list[int] = []

    def tell(query: int) -> None:
        done.append(query)
        if len(done) % _EVERY == 0:
            terminal.messages.print(f"alternatives of {len(done)} of {len(run)} {run.about.nouns}")

    only_shown = ("y", "names", "links", "node_class_names")
    given = {name: it for name, it in shown.items() if name not in only_shown}
    return alternatives_of(run, count, on_query=tell, **given)
