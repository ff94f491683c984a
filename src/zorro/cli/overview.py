"""What `zorro` alone shows: what it is for, and the commands by what they are good for."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from zorro.version import __version__

_WAYS = {
    "Begin": {
        "demo": "see it in a minute: train, explain and report on a generated graph",
        "doctor": "what is installed, and what a run on this machine could use",
        "datasets": "the data sets and models that have a name",
    },
    "Explain": {
        "train": "train a model, or bring your own",
        "explain": "what predictions rest on, certified; --out keeps them as a run",
        "fidelity": "how often a set of your own keeps a prediction",
    },
    "Look": {
        "report": "a run as one HTML file, to send and to keep",
        "serve": "runs in the browser: change a set, and see what that does",
        "runs": "list, show, export and verify runs",
    },
    "Judge": {
        "audit": "what a model rests on, class by class, and what stands out",
        "compare": "two runs: which answers changed, and which rest on other grounds",
    },
    "Graphs on disk": {
        "convert": "store a graph, to be explained without being loaded",
        "verify": "is a stored graph what was stored?",
    },
    "The paper": {
        "reproduce": "its tables and figures again, the published values beside",
    },
}
_SHORT = 66  # characters of a line of help


def overview(group: TyperGroup, context: typer.Context) -> str:
    """Return what there is, a line each; commands that no heading names come last.

    Args:
        group: all commands.
        context: the group's.
    """
    lines = [
        f"zorro {__version__}: what does a graph neural network's prediction rest on?",
        "",
        "It finds a small set of nodes, features or edges that is enough for it, and",
        "proves that: with all else redrawn at random, the model still answers the same.",
    ]
    for title, told in {**_WAYS, "More": _others(group, context)}.items():
        if told:
            lines += ["", f"{title}:", *(f"  {name:<10}  {line}" for name, line in told.items())]
    return "\n".join([*lines, "", "`zorro COMMAND --help` has examples."])


def _others(group: TyperGroup, context: typer.Context) -> dict[str, str]:
    """Return the commands that no heading names, with the beginning of their help."""
    named = {name for told in _WAYS.values() for name in told}
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {
        name: command.get_short_help_str(_SHORT)
        for name, command in commands.items()
        if command is not None and name not in named
    }
