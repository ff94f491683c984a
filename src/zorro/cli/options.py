"""Options that more than one command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|MODULE:CLASS",
        help="gcn, gat, gin, appnp, gcn3, hgt, hetero-sage, or your own class or function, called "
        "with the numbers of features and classes; of several types with the graph, the target "
        "and the number of classes. The current folder is searched too.",
        show_default="what --checkpoint's record says",
    ),
]
Dataset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.npz|FOLDER",
        help="A name that `zorro datasets` lists, a file with arrays x and edge_index, or a folder "
        "that `zorro convert` wrote. Its edge_weight, edge_attr and edge_type go into the model, "
        "if that takes arguments of these names.",
        show_default="what --checkpoint's record says",
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|paper",
        help="Trained weights: a file written by `zorro train`, other safetensors (with --model), "
        "or `paper` for the paper's own model, from ZORRO_PAPER.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help="The type of nodes that is asked about, in a graph of several types.",
        show_default="what --checkpoint's record says, else the only one that has classes",
    ),
]
DataSeed = Annotated[
    int | None,
    typer.Option(
        help="Seed of what is random about a data set: the graph of ba-community, the split of "
        "amazon-computers, of sets of graphs and of links.",
        show_default="what --checkpoint's record says, else 0",
    ),
]
Noise = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What replaces the values outside a set: column-marginals (each from its own "
        "feature's column), rows, zeros, means, gaussian, or published (the paper's code's draw).",
    ),
]
Hops = Annotated[
    int | None,
    typer.Option(
        help="How far away a node can matter to the model.",
        show_default="found out by redrawing what lies further away",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="For a model that returns one number per node, link or graph: 0 if it is the logit of "
        "class 1, 0.5 if it is its probability.",
        show_default="what --checkpoint's record says, else refuse such a model",
    ),
]
Label = Annotated[
    int | None,
    typer.Option(
        metavar="COLUMN",
        help="For a model with several labels, each there or not: which is explained; with "
        "--threshold.",
        show_default="the class",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        help="For a model that returns a value: how far it may move and still be the same answer.",
        show_default="no value",
    ),
]
ToleranceShare = Annotated[
    float | None,
    typer.Option(
        help="The same, as a share of the standard deviation of the model's outputs.",
        show_default="no value",
    ),
]
Side = Annotated[
    str,
    typer.Option(
        metavar="both|up|down",
        help="What a value may not do: move either way, fall (it is to stay up) or rise by more.",
    ),
]
Output = Annotated[
    int | None,
    typer.Option(metavar="COLUMN", help="Of several values: which.", show_default="the first"),
]
ClassNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What classes are called: a text with a name on each line, a CSV of names or of "
        "numbers and names, or an .npz with an array class_names.",
        show_default="what the data set knows",
    ),
]
FeatureNames = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The same of features.", show_default="as above"),
]
NodeNames = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The same of nodes.", show_default="as above"),
]
WithGraph = Annotated[
    bool,
    typer.Option(
        "--graph/--no-graph",
        help="Load data set and model again, to draw and to compare, or go without them.",
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Processor threads for torch. On small graphs, and on a busy machine, more than one "
        "is slower.",
    ),
]
FeatureGroups = Annotated[
    str | None,
    typer.Option(
        metavar="GROUPS|one-hot",
        help="Columns that are one element together, kept and redrawn as one: 0-6;7,9. "
        "`one-hot` takes those that look like categories, and says which. Of several types: "
        "author:0-6;paper:7,9.",
        show_default="each by itself",
    ),
]
EdgePresence = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        help="With what probability an edge that is not kept is there, where edges can be.",
        show_default="0.5",
    ),
]
EdgeNoise = Annotated[
    str,
    typer.Option(
        metavar="presence|rewire",
        help="What happens to edges that are not kept: they may be missing, or exchange ends.",
    ),
]
EdgeEffect = Annotated[
    str,
    typer.Option(
        metavar="structure|message",
        help="What it means that an edge is missing: it really is, or it only sends nothing.",
    ),
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether an edge is another than its reverse.",
        show_default="if some edge has no reverse",
    ),
]
CarriesMessages = Annotated[
    bool,
    typer.Option(
        "--carries-messages",
        help="Of links: one that is asked about and is an edge of the graph stays one meanwhile.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what --out holds already.")]
