"""`zorro verify`: whether a stored graph is what was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorro.cli import terminal


def verify(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH", help="A folder that `zorro convert` wrote.", show_default=False
        ),
    ],
) -> None:
    """Read all of a stored graph, and say whether it is what was stored.

    A run does so before it keeps anything. Opening a large graph does not.
    """
    from zorro.cli import verifying
    from zorro.data import verify_stored

    with verifying.shown() as report:
        graph = verify_stored(folder, on_progress=report)
    terminal.results.print(
        f"verified  {folder}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features; digest {graph.digest[:12]}",
        markup=False,
    )
