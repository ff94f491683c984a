"""`zorro datasets`: list the data sets and models that have a name."""

from __future__ import annotations

import typer

DATASETS = {
    "amazon-computers": "purchases: 13,752 nodes, 767 features, 10 classes",
    "ba-community": "generated houses: 1,400 nodes, 10 features, 8 classes",
    "ba-community-paper": "the paper's own ba-community graph (needs ZORRO_PAPER)",
    "ba-shapes": "generated houses: 700 nodes, 4 classes by structure",
    "citeseer": "citations: 3,327 nodes, 3,703 features, 6 classes",
    "cora": "citations: 2,708 nodes, 1,433 features, 7 classes",
    "pubmed": "citations: 19,717 nodes, 500 features, 3 classes",
    "tree-cycles": "generated cycles: 991 nodes, 2 classes by structure",
    "tree-grid": "generated grids: 1,231 nodes, 2 classes by structure",
}
GRAPH_DATASETS = {
    "ba-2motifs": "1,000 generated graphs of 25 nodes: house or cycle?",
    "benzene": "12,000 graphs of 4 to 25 atoms, 14 features: benzene?",
    "crippen": "1,127 graphs of 4 to 119 atoms, 14 features: their logP",
    "mutag": "188 graphs of 10 to 28 atoms, 7 features: a mutagen?",
    "mutagenicity": "4,337 graphs of 4 to 417 atoms, 14 features: a mutagen?",
    "proteins": "1,113 graphs of 4 to 620 parts, 3 features: an enzyme?",
}
HETERO_DATASETS = {
    "dblp": "4,057 authors of 4 fields; papers, venues, terms",
    "dblp-pyg": "the same authors; terms have features",
    "imdb": "4,278 movies of 3 genres; directors, actors",
    "ogb-mag": "736,389 papers of 349 venues; authors, institutions",
}
MODELS = {
    "appnp": "perceptron, then two steps of personalised PageRank",
    "gat": "two graph attention layers",
    "gcn": "two graph convolutions",
    "gcn3": "three graph convolutions, for graphs with motifs",
    "gin": "two graph isomorphism layers",
}


_WIDTH = max(map(len, [*DATASETS, *GRAPH_DATASETS, *HETERO_DATASETS, *MODELS]))


def datasets() -> None:
    """List the data sets and models that have a name."""
    typer.echo("Data sets:")
    for name, line in DATASETS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Sets of graphs (benzene and crippen need ZORRO_MOLECULES):")
    for name, line in GRAPH_DATASETS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Graphs of several types of nodes (dblp needs ZORRO_HETERO):")
    for name, line in HETERO_DATASETS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Models:")
    for name, line in MODELS.items():
        typer.echo(f"  {name:<{_WIDTH}}  {line}")
    typer.echo("Of whole graphs: appnp, gat, gcn, gcn3, gin and gine, with three layers.")
    typer.echo("Of several types: hgt and hetero-sage, with two layers.")
    typer.echo("Your own: --dataset FILE.npz with x and edge_index, --model MODULE:CLASS.")
    typer.echo("Graphs too large for the memory: --dataset FOLDER that zorro.data.store wrote.")
