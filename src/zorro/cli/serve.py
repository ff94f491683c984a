"""`zorro serve`: runs in a browser, where they can be explored further."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, terminal

if TYPE_CHECKING:
    from zorro.cli.subject import Subject
    from zorro.runs import Run
    from zorro.web.served import Served


def serve(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs' folders.", show_default=False)
    ],
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen. On other addresses than this machine's own loopback, the "
            "printed URL holds a token without which nobody is served.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8765,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:CLASS",
            help="A class of your own that runs were made with. It is imported, from the current "
            "folder too; what only a run's files name is not. May be given several times.",
            show_default=False,
        ),
    ] = None,
    threads: options.Threads = 1,
) -> None:
    """Show runs in a browser: explain more nodes, change explanations, measure their fidelity.

    The data sets and models are those that the runs name; a run whose graph or model cannot be
    found is shown as it is. Ctrl-C ends the server.
    """
    from zorro.errors import MissingExtraError
    from zorro.runs import open_run

    if any(find_spec(package) is None for package in ("fastapi", "uvicorn")):
        raise MissingExtraError("the explorer", "web")
    import torch

    from zorro.web import server

    torch.set_num_threads(threads)
    kept = [open_run(path) for path in runs]
    loaded: dict[str, Subject] = {}
    # Before anything is loaded, which takes time: the port may be taken.
    with server.listen(host, port) as listening:
        server.serve(
            [_served(run, loaded, trusted=model or []) for run in kept],
            listening,
            host=host,
            threads=threads,
            open_page=open_page,
            announce=_announce,
        )


def _announce(address: str) -> None:
    terminal.messages.print(f"Serving at {address} (Ctrl-C ends it)", markup=False, highlight=False)


def _served(run: Run, loaded: dict[str, Subject], *, trusted: list[str]) -> Served:
    """Return a run with what it was made with, or alone and with a note why.

    Args:
        run: to serve.
        loaded: what other runs were made with, by their options.
        trusted: classes that may be imported.
    """
    from zorro.cli import subject
    from zorro.data.names import names_of
    from zorro.errors import ZorroError
    from zorro.web.desk import Ground
    from zorro.web.served import Served

    try:
        named: dict[str, Any] | None = subject.named_by(run, trusted=trusted)
        if named is None:
            _note(f"{run.path} does not name its data set: it is shown without its graph")
            return Served(run)
        key = repr(sorted(named.items(), key=lambda item: item[0]))
        if key not in loaded:
            loaded[key] = subject.load(**named, trusted=trusted)
        found = loaded[key]
        return Served(
            run,
            Ground(found.model, found.data.x, found.data.edge_index),
            y=found.data.y,
            names=names_of(found.dataset),
        )
    except ZorroError as error:
        _note(f"{run.path} is shown without its graph: {error}")
        return Served(run)


def _note(text: str) -> None:
    terminal.messages.print(text, markup=False, highlight=False)
