"""`zorro datasets`: list the data sets and models that have a name."""

from __future__ import annotations

import typer

DATASETS = {
    "amazon-computers": "purchases: 13,752 nodes, 767 features, 10 classes",
    "ba-community": "generated houses: 1,400 nodes, 10 features, 8 classes",
    "ba-community-paper": "the paper's own ba-community graph (needs ZORRO_PAPER)",
    "citeseer": "citations: 3,327 nodes, 3,703 features, 6 classes",
    "cora": "citations: 2,708 nodes, 1,433 features, 7 classes",
    "pubmed": "citations: 19,717 nodes, 500 features, 3 classes",
}
GRAPH_DATASETS = {
    "benzene": "12,000 molecules: a benzene ring? (needs ZORRO_MOLECULES)",
    "crippen": "1,127 molecules with their logP (needs ZORRO_MOLECULES)",
    "mutag": "188 molecules, 7 kinds of atoms: mutagens or not",
    "mutagenicity": "4,337 molecules, 14 kinds of atoms: mutagens or not",
    "proteins": "1,113 proteins, 3 kinds of structures: enzymes or not",
}
MODELS = {
    "appnp": "perceptron, then two steps of personalised PageRank",
    "gat": "two graph attention layers",
    "gcn": "two graph convolutions",
    "gcn3": "three graph convolutions, for ba-community",
    "gin": "two graph isomorphism layers",
}


_WIDTH = max(map(len, [*DATASETS, *GRAPH_DATASETS, *MODELS]))


def datasets() -> None:
    """List the data sets and models that have a name."""
    typer.echo("Data sets:")
    for name, line in DATASETS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Sets of graphs:")
    for name, line in GRAPH_DATASETS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Models:")
    for name, line in MODELS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Of whole graphs there are appnp, gat, gcn, gin and gine, with three layers.")
    typer.echo("Your own: --dataset FILE.npz with x and edge_index, --model MODULE:CLASS.")
    typer.echo("Graphs too large for the memory: --dataset FOLDER that zorro.data.store wrote.")
