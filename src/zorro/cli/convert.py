"""`zorro convert`: keep a graph as a folder of arrays that need not be loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorro.cli import terminal
from zorro.errors import InputError


def convert(
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.npz",
            help="A name that `zorro datasets` lists, or a file with arrays x and edge_index.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder to write; it must not exist.")
    ],
    data_seed: Annotated[
        int,
        typer.Option(
            help="Seed of what is random about a data set: the graph of ba-community, the split "
            "of amazon-computers."
        ),
    ] = 0,
) -> None:
    """Store a graph on disk, to be explained without being loaded.

    Give the folder as --dataset to `zorro explain` or `zorro fidelity`.
    """
    from zorro import data as datasets

    if datasets.is_graph_dataset(dataset):
        raise InputError(
            f"--dataset: expected one graph, got {dataset}, which is a set of graphs: those are "
            "explained from memory"
        )
    if out.exists():
        raise InputError(f"--out: expected a new folder, got {out}, which exists already")
    datasets.store(datasets.load(dataset, seed=data_seed), out)
    graph = datasets.open_stored(out)
    size = sum(file.stat().st_size for file in out.iterdir())
    terminal.results.print(
        f"stored  {out}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features; {size / 1e6:,.1f} MB",
        markup=False,
    )
