"""The data sets by name, and the one door through which every graph comes in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import Data

from zorro.arguments import check_seed
from zorro.data import ba_community, motifs, npz, public
from zorro.data.graph_catalogue import GRAPH_DATASETS
from zorro.data.paper import paper_file
from zorro.data.spelling import hint, known_as
from zorro.errors import InputError
from zorro.graph.stored import open_stored
from zorro.graph.validation import check_graph

_LOADERS: dict[str, Callable[[int], Data]] = {
    "amazon-computers": lambda seed: public.amazon_computers(seed=seed),
    "ba-community": lambda seed: ba_community.generate(seed=seed),
    "ba-community-paper": lambda seed: npz.read(paper_file("ba_community.npz")),
    "ba-shapes": lambda seed: motifs.ba_shapes(seed=seed),
    "citeseer": lambda seed: public.citation("CiteSeer"),
    "cora": lambda seed: public.citation("Cora"),
    "pubmed": lambda seed: public.citation("PubMed"),
    "tree-cycles": lambda seed: motifs.tree_cycles(seed=seed),
    "tree-grid": lambda seed: motifs.tree_grid(seed=seed),
}

DATASETS = tuple(_LOADERS)


def load(dataset: str | Path | Data, *, seed: int = 0) -> Data:
    """Return the graph that `dataset` names.

    A stored graph is opened and not loaded: what comes is a `StoredGraph`, which can stand for a
    `Data` where predictions are explained. Of graphs with motifs (ba-community, ba-shapes,
    tree-cycles, tree-grid) `edge_truth` (E,) tells the edges inside of these.

    >>> from zorro.data import load
    >>> load("BA Community", seed=1).num_features
    10

    Args:
        dataset: one of `DATASETS` (capitals and separators do not matter); the path of an `.npz`
            with arrays `edge_index` and `x` and perhaps `y`, `train_mask`, `val_mask`, `test_mask`,
            `edge_weight`, `edge_attr`, `edge_type`; the folder of a stored graph; or a PyG `Data`,
            which is checked and returned as it is.
        seed: draws what is random about a data set: the split of amazon-computers and all of
            ba-community, ba-shapes, tree-cycles and tree-grid.
    """
    check_seed(seed)
    if isinstance(dataset, Data):
        check_graph(dataset.x, dataset.edge_index)
        return dataset
    if not isinstance(dataset, str | Path):
        raise InputError(
            f"dataset: expected a name, the path of an .npz or of a stored graph, or a "
            f"torch_geometric.data.Data, got {type(dataset).__name__}"
        )
    if is_name(dataset):
        return _LOADERS[canonical_name(str(dataset))](seed)
    if Path(dataset).is_dir():
        return open_stored(dataset)
    return npz.read(Path(dataset))


def is_name(dataset: str | Path) -> bool:
    """Whether `dataset` is to be read as a data set's name, and not as a path.

    A path is what ends in `.npz`, has a separator, or names a folder and no data set.

    >>> from zorro.data import is_name
    >>> is_name("cora"), is_name("./cora"), is_name("cora.npz")
    (True, False, False)

    Args:
        dataset: as a user writes it.
    """
    if isinstance(dataset, Path) or dataset.endswith(".npz") or os.sep in dataset:
        return False
    return known_as(dataset, DATASETS) is not None or not Path(dataset).is_dir()


def canonical_name(name: str) -> str:
    """Return the data set's name as `DATASETS` spells it, or raise `InputError`.

    >>> canonical_name("Amazon_Computers")
    'amazon-computers'
    """
    if (known := known_as(name, DATASETS)) is not None:
        return known
    if (graphs := known_as(name, GRAPH_DATASETS)) is not None:
        raise InputError(
            f"dataset: expected one graph whose nodes have classes, got {graphs!r}, which is a set "
            f"of graphs: zorro.data.load_graphs loads it"
        )
    raise InputError(
        f"dataset: expected one of {', '.join(DATASETS)} or the path of an .npz or of a stored "
        f"graph, got {name!r}{hint(name, [*DATASETS, *GRAPH_DATASETS])}"
    )
