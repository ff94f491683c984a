"""The data sets by name, and the one door through which every graph comes in."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import Data

from zorro.data import ba_community, npz, public
from zorro.data.paper import paper_file
from zorro.data.validation import check_graph, check_seed
from zorro.errors import InputError

_LOADERS: dict[str, Callable[[int], Data]] = {
    "amazon-computers": lambda seed: public.amazon_computers(seed=seed),
    "ba-community": lambda seed: ba_community.generate(seed=seed),
    "ba-community-paper": lambda seed: npz.read(paper_file("ba_community.npz")),
    "citeseer": lambda seed: public.citation("CiteSeer"),
    "cora": lambda seed: public.citation("Cora"),
    "pubmed": lambda seed: public.citation("PubMed"),
}

DATASETS = tuple(_LOADERS)


def load(dataset: str | Path | Data, *, seed: int = 0) -> Data:
    """Return the graph that `dataset` names.

    `dataset` is one of `DATASETS` (capitals and separators do not matter), the path of an `.npz`
    with arrays `edge_index` and `x` and perhaps `y`, `train_mask`, `val_mask`, `test_mask`, or a
    PyG `Data`, which is checked and returned as it is. `seed` draws what is random about a data
    set: the split of amazon-computers and all of ba-community.

    >>> load("BA Community", seed=1).num_features
    10
    """
    check_seed(seed)
    if isinstance(dataset, Data):
        check_graph(dataset.x, dataset.edge_index)
        return dataset
    if not isinstance(dataset, str | Path):
        raise InputError(
            f"dataset must be a name, the path of an .npz or a torch_geometric.data.Data, "
            f"got {type(dataset).__name__}"
        )
    if isinstance(dataset, Path) or dataset.endswith(".npz"):
        return npz.read(Path(dataset))
    return _LOADERS[canonical_name(dataset)](seed)


def canonical_name(name: str) -> str:
    """Return the data set's name as `DATASETS` spells it, or raise `InputError`.

    >>> canonical_name("Amazon_Computers")
    'amazon-computers'
    """
    known = {_plain(candidate): candidate for candidate in DATASETS}
    if _plain(name) in known:
        return known[_plain(name)]
    close = difflib.get_close_matches(_plain(name), known, n=1)
    hint = f" (did you mean {known[close[0]]!r}?)" if close else ""
    raise InputError(
        f"dataset must be one of {', '.join(DATASETS)} or the path of an .npz, got {name!r}{hint}"
    )


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
