"""`zorro demo`: what zorro does, on a graph that is generated."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from zorro.cli import terminal
from zorro.errors import InputError


def demo(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="A folder that is new or empty."),
    ] = Path("zorro-demo"),
    epochs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Of the training; fewer are quicker, and the model is worse.",
            show_default="the paper's",
        ),
    ] = None,
) -> None:
    """Train a model on a generated graph, explain five of its predictions and write a report.

    Needs no data, no network and about a minute. Each command is shown before it runs, so that you
    can go on from there.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out: expected a folder that is new or empty, got {out}")
    for words in _commands(out, epochs):
        terminal.messages.print(f"$ zorro {shlex.join(words)}", markup=False, style="bold")
        # As if it had been typed; its errors are this command's.
        context.find_root().command.main(args=words, prog_name="zorro", standalone_mode=False)
    terminal.results.print(f"The report: {(out / 'report.html').absolute().as_uri()}", markup=False)
    terminal.results.print(f"The explorer: zorro serve {shlex.quote(str(out / 'run'))}")


def _commands(out: Path, epochs: int | None) -> list[list[str]]:
    checkpoint, run = str(out / "gcn3.safetensors"), str(out / "run")
    trained = ["train", "--dataset", "ba-community", "--model", "gcn3", "--out", checkpoint]
    return [
        trained if epochs is None else [*trained, "--epochs", str(epochs)],
        # Right and wrong ones, in both communities.
        ["explain", "--checkpoint", checkpoint, "--nodes", "300,304,322,1002,1004", "--out", run],
        ["report", run, "--alternatives", "2", "--out", str(out / "report.html")],
    ]
