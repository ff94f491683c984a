"""All commands under one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Annotated

import typer
from typer.core import TyperGroup

from zorro.cli import notes, runs
from zorro.cli.audit import audit
from zorro.cli.compare import compare
from zorro.cli.convert import convert
from zorro.cli.datasets import datasets
from zorro.cli.demo import demo
from zorro.cli.doctor import doctor
from zorro.cli.explain import explain
from zorro.cli.fidelity import fidelity
from zorro.cli.overview import overview
from zorro.cli.report import report
from zorro.cli.reproduce import reproduce
from zorro.cli.serve import serve
from zorro.cli.train import train
from zorro.cli.verify import verify
from zorro.version import __version__

_HELP = """Find out what a graph neural network's prediction rests on, and prove it.

For the model's answer for a node, a link or a whole graph, zorro searches for a small set of nodes,
features or edges that is enough for it: with these kept and all else redrawn at random, the model
still answers the same. How often it does is the set's fidelity, given with an interval.
"""

_EPILOG = """Environment: ZORRO_DATA is the folder of downloaded data sets (default: the user's
cache), ZORRO_PAPER the folder with the paper's material, ZORRO_MOLECULES that of the
molecules, ZORRO_HETERO that of dblp, ZORRO_TRUST_DATA=1 reads data sets' files that
differ from the published ones, ZORRO_DEBUG=1 does what --debug does.

Exit codes: 0 done, 1 something given cannot be used (one line says what), 2 wrong usage,
3 what --fail-on names is so, 70 unexpected failure, 130 interrupted.
"""

_EXAMPLES: dict[Callable[..., None], list[str]] = {
    demo: ["zorro demo"],
    doctor: ["zorro doctor"],
    train: ["zorro train --dataset ba-community --model gcn3 --out gcn3.safetensors"],
    explain: [
        "zorro explain --checkpoint gcn3.safetensors --nodes 616,1209 --out my-run",
        "zorro explain --dataset cora --model gcn --checkpoint paper --nodes 2521",
        "zorro explain --checkpoint gin.safetensors --graphs 5,9 --keep nodes",
        "zorro explain --checkpoint linker.safetensors --links 319-1205",
    ],
    fidelity: [
        "zorro fidelity --checkpoint gcn3.safetensors --node 616 \\",
        "    --keep-nodes 615,616 --keep-features 0,1",
    ],
    report: ["zorro report my-run -o report.html"],
    audit: ["zorro audit my-run -o audit.html"],
    compare: ["zorro compare run-before run-after --fail-on 'changed-grounds>.2'"],
    serve: ["zorro serve my-run"],
    convert: ["zorro convert --dataset pubmed --out pubmed-graph"],
    verify: ["zorro verify pubmed-graph"],
    datasets: ["zorro datasets"],
    reproduce: ["zorro reproduce real --nodes 20 --out my-results"],
}
_RUN_EXAMPLES: dict[str, tuple[Callable[..., None], list[str]]] = {
    "list": (runs.list_runs, ["zorro runs list"]),
    "show": (runs.show, ["zorro runs show my-run --node 616"]),
    "export": (runs.export, ["zorro runs export my-run --parquet explanations.parquet"]),
    "verify": (runs.verify, ["zorro runs verify my-run"]),
}

_ALL_EXAMPLES = [*_EXAMPLES.values(), *(examples for _, examples in _RUN_EXAMPLES.values())]


def _as_written(title: str, lines: Iterable[str]) -> str:
    """Return a paragraph of the help whose lines are not to be joined."""
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])


app = typer.Typer(
    help=f"{_HELP}\n" + _as_written("Start here:", chain.from_iterable(_ALL_EXAMPLES)),
    epilog=_EPILOG,
    rich_markup_mode=None,
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
for command, examples in _EXAMPLES.items():
    app.command(epilog=_as_written("Example:", examples))(command)

kept = typer.Typer(
    help="List, show, export and verify the runs that `zorro explain --out` has kept.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
for name, (command, examples) in _RUN_EXAMPLES.items():
    kept.command(name, epilog=_as_written("Example:", examples))(command)
app.add_typer(kept, name="runs")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zorro {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error. May stand anywhere."),
    ] = False,
) -> None:
    """Prepare what every command needs; `main` has acted on `debug` already."""
    notes.show()
    if context.invoked_subcommand is None:
        assert isinstance(context.command, TyperGroup)
        typer.echo(overview(context.command, context))
