"""`zorro serve`: runs in a browser, where they can be explored further."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, terminal

if TYPE_CHECKING:
    from zorro.cli.model_and_data import ModelAndData
    from zorro.runs import Run
    from zorro.show.web.served import Broken, Served


def serve(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs' folders.", show_default=False)
    ],
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen; the default can be reached from this machine only.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8765,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    token: Annotated[
        bool,
        typer.Option(
            "--token/--no-token",
            help="Serve only those who have opened the printed address, which holds a token. "
            "Without it every user of this machine can read the runs and start work, with your "
            "rights; other machines are never served without it.",
        ),
    ] = True,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|MODULE:CLASS",
            help="The model of runs that name none; or a class of your own that runs were made "
            "with. It is imported, from the current folder too; what only a run's files name is "
            "not. May be given several times.",
            show_default=False,
        ),
    ] = None,
    dataset: options.Dataset = None,
    checkpoint: options.Checkpoint = None,
    data_seed: options.DataSeed = None,
    threads: options.Threads = 1,
) -> None:
    """Show runs in a browser: explain more, change explanations, measure their fidelity.

    The data sets and models are those that the runs name, or those that are named here if they lie
    elsewhere by now; a run whose graph or model cannot be found is shown as it is. Ctrl-C ends the
    server.
    """
    from zorro.errors import MissingExtraError

    if any(find_spec(package) is None for package in ("fastapi", "uvicorn")):
        raise MissingExtraError("the explorer", "web")
    import torch

    from zorro.show.web import server
    from zorro.show.web.guard import access_to
    from zorro.show.web.served import Broken

    torch.set_num_threads(threads)
    kept = _opened(runs)
    given = {"dataset": dataset, "checkpoint": checkpoint, "data_seed": data_seed}
    loaded: dict[str, ModelAndData] = {}
    # Before anything is loaded, which takes time: the port may be taken.
    with server.listen(host, port) as listening:
        access = access_to(host, listening.getsockname()[1], token=token)
        server.serve(
            [
                run
                if isinstance(run, Broken)
                else _served(run, loaded, trusted=model or [], given=given)
                for run in kept
            ],
            listening,
            access=access,
            threads=threads,
            open_page=open_page,
            announce=_announce,
        )


def _announce(address: str) -> None:
    terminal.messages.print(
        f"Serving at {address} (Ctrl-C ends it)", markup=False, highlight=False, soft_wrap=True
    )


def _opened(paths: list[Path]) -> list[Run | Broken]:
    """Return runs, and of those that cannot be opened why; raise that if there are no others."""
    from zorro.errors import RunError
    from zorro.runs import open_run
    from zorro.show.page.contents import reason
    from zorro.show.web.served import Broken

    found: list[Run | Broken] = []
    for path in paths:
        try:
            found.append(open_run(path))
        except Exception as error:  # damaged files lead to anything
            found.append(Broken(path, reason(error)))
    broken = [one for one in found if isinstance(one, Broken)]
    if len(broken) == len(found):
        raise RunError(broken[0].reason)
    for one in broken:
        _note(f"{one.folder} cannot be shown: {one.reason}")
    return found


def _served(
    run: Run,
    loaded: dict[str, ModelAndData],
    *,
    trusted: list[str],
    given: dict[str, Any] | None = None,
) -> Served | Broken:
    """Return a run with what it was made with, or alone and with a note why.

    Args:
        run: to serve.
        loaded: what other runs were made with, by their options.
        trusted: models that were named: of a run that names none, and classes that may be imported.
        given: what to take instead of what the run names.
    """
    from zorro.cli import made_with, model_and_data, naming
    from zorro.show.page.contents import reason
    from zorro.show.page.run_inputs import run_inputs
    from zorro.show.web.served import Broken, Served

    try:
        chosen = dict(given or {})
        if len(trusted) == 1 and naming.names_no_model(run):
            chosen["model"] = trusted[0]
        named: dict[str, Any] | None = naming.named_by(run, **chosen, trusted=trusted)
        if named is None:
            _note(f"{run.path} does not name its data set: it is shown without its graph")
            return Served(run, missing="the run does not name its data set")
        key = repr(sorted(named.items(), key=lambda item: item[0]))
        if key not in loaded:
            loaded[key] = model_and_data.load(**named, trusted=trusted)
        found = loaded[key]
        return Served(run, run_inputs(**made_with.as_shown(run, found)))
    except Exception as error:  # a damaged run, or a model of the user's own, leads to anything
        missing = reason(error)
        _note(f"{run.path} is shown without its graph: {missing}")
    try:
        return Served(run, missing=missing)
    except Exception as error:  # so damaged that its question cannot be read
        return Broken(run.path, reason(error))


def _note(text: str) -> None:
    terminal.messages.print(text, markup=False, highlight=False)
