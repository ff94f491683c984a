"""The sets of graphs by name, and the door through which sets of graphs come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import torch
from torch_geometric.data import Data

from zorro.arguments import check_seed
from zorro.data import molecules, motifs, tu
from zorro.data.graph_dataset import GraphDataset
from zorro.data.graph_split import TRAIN_VAL_TEST, deal
from zorro.data.graph_validation import check_graphs, check_members
from zorro.data.spelling import hint, known_as
from zorro.errors import DatasetError, InputError

_TRAIN_VAL = (9, 1)


def _ba_2motifs(seed: int) -> GraphDataset:
    graphs = motifs.ba_2motifs(seed=seed)
    return _divided("ba-2motifs", graphs, seed=seed, class_names=("house", "cycle"))


def _mutag(seed: int) -> GraphDataset:
    return _divided(
        "mutag",
        tu.read("MUTAG", edge_labels=True),
        seed=seed,
        class_names=("non-mutagen", "mutagen"),
        feature_names=("C", "N", "O", "F", "I", "Cl", "Br"),
        edge_label_names=("aromatic", "single", "double", "triple"),
    )


def _mutagenicity(seed: int) -> GraphDataset:
    atoms = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
    return _divided(
        "mutagenicity",
        tu.read("Mutagenicity", edge_labels=True),
        seed=seed,
        class_names=("mutagen", "non-mutagen"),  # the other way round than in MUTAG
        feature_names=atoms,
        edge_label_names=("single", "double", "triple"),
    )


def _proteins(seed: int) -> GraphDataset:
    return _divided(
        "proteins",
        tu.read("PROTEINS", edge_labels=False),
        seed=seed,
        class_names=("enzyme", "non-enzyme"),
        feature_names=("helix", "sheet", "turn"),
    )


def _benzene(seed: int) -> GraphDataset:
    return _molecules("benzene", seed=seed, class_names=("no benzene ring", "benzene ring"))


def _crippen(seed: int) -> GraphDataset:
    return _molecules("crippen", seed=seed, class_names=())


_LOADERS: dict[str, Callable[[int], GraphDataset]] = {
    "ba-2motifs": _ba_2motifs,
    "benzene": _benzene,
    "crippen": _crippen,
    "mutag": _mutag,
    "mutagenicity": _mutagenicity,
    "proteins": _proteins,
}

GRAPH_DATASETS = tuple(_LOADERS)


def load_graphs(dataset: str | Sequence[Data] | GraphDataset, *, seed: int = 0) -> GraphDataset:
    """Return the set of graphs that `dataset` names.

    They are divided: eight tenths of the graphs to train on, one to choose by, one to test with,
    each with its share of every class. Of benzene and crippen the test graphs are given, and a
    tenth of the training graphs is drawn to choose by. Graphs without targets are in no part. Of
    ba-2motifs `edge_truth` (E,) of each graph tells the edges inside of its motif.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import load_graphs
    >>> graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor(0))
    >>> load_graphs([graph] * 20).test.numel()
    2

    Args:
        dataset: one of `GRAPH_DATASETS` (capitals and separators do not matter); a list of PyG
            `Data`, which is checked and divided; or a `GraphDataset`, which is returned as it is.
        seed: draws the split, and of ba-2motifs the graphs too.
    """
    check_seed(seed)
    if isinstance(dataset, GraphDataset):
        return dataset
    if isinstance(dataset, str):
        return _named(dataset, seed)
    check_graphs(dataset)
    return _divided("graphs", dataset, seed=seed)


def is_graph_dataset(name: str) -> bool:
    """Whether `name` is one of `GRAPH_DATASETS`, however it is spelled, and no path.

    >>> from zorro.data import is_graph_dataset
    >>> is_graph_dataset("MUTAG"), is_graph_dataset("cora"), is_graph_dataset("./mutag")
    (True, False, False)

    Args:
        name: of whatever spelling.
    """
    return os.sep not in name and known_as(name, GRAPH_DATASETS) is not None


def _named(name: str, seed: int) -> GraphDataset:
    known = known_as(name, GRAPH_DATASETS)
    if known is None:
        raise InputError(
            f"dataset: expected one of {', '.join(GRAPH_DATASETS)}, or a list of "
            f"torch_geometric.data.Data, got {name!r}{hint(name, GRAPH_DATASETS)}"
        )
    try:
        return _LOADERS[known](seed)
    except InputError as error:  # its files were read, and what they hold is no set of graphs
        raise DatasetError(f"{known}: its files are damaged ({error}): get them again") from error


def _divided(
    name: str,
    graphs: Sequence[Data],
    *,
    seed: int,
    class_names: tuple[str, ...] = (),
    feature_names: tuple[str, ...] = (),
    edge_label_names: tuple[str, ...] = (),
) -> GraphDataset:
    targets = [graph.y.reshape(()) for graph in graphs if graph.get("y") is not None]
    train, val, test = deal(
        torch.stack(targets) if targets else torch.empty(0), TRAIN_VAL_TEST, seed=seed
    )
    return GraphDataset(
        name=name,
        graphs=tuple(graphs),
        train=train,
        val=val,
        test=test,
        class_names=class_names,
        feature_names=feature_names,
        edge_label_names=edge_label_names,
    )


def _molecules(name: str, *, seed: int, class_names: tuple[str, ...]) -> GraphDataset:
    graphs, members, test, smiles = molecules.read(name, classes=bool(class_names))
    check_members("train", members, graphs=len(graphs))
    targets = torch.cat([graph.y for graph in graphs])  # (B,)
    train, val = deal(targets[members], _TRAIN_VAL, seed=seed)
    return GraphDataset(
        name=name,
        graphs=tuple(graphs),
        train=members[train],
        val=members[val],
        test=test,
        class_names=class_names,
        feature_names=molecules.ATOMS,
        edge_label_names=molecules.BONDS,
        smiles=smiles,
    )
