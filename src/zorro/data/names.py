"""Names that belong to the data sets known by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zorro.data import dblp
from zorro.data.catalogue import canonical_name, is_name
from zorro.data.graph_dataset import GraphDataset
from zorro.data.hetero_catalogue import HETERO_DATASETS
from zorro.data.name_files import names_in_archive
from zorro.data.spelling import known_as
from zorro.elements.types import Types
from zorro.graph.names import Labels, LabelsByType, Names

# The order of the classes was checked by their sizes. Of PubMed's two types of diabetes sources
# disagree on the order, and the words of none of these data sets were published with them.
_NAMES = {
    "cora": Names(
        node="paper",
        feature="word",
        classes=(
            "Theory",
            "Reinforcement Learning",
            "Genetic Algorithms",
            "Neural Networks",
            "Probabilistic Methods",
            "Case Based",
            "Rule Learning",
        ),
    ),
    "citeseer": Names(
        node="paper",
        feature="word",
        classes=("AI", "ML", "IR", "DB", "Agents", "HCI"),
    ),
    "pubmed": Names(node="paper", feature="word"),
    "amazon-computers": Names(node="product", feature="word"),
}


# By data set: what a node, a feature and a graph are.
_OF_GRAPHS = {
    **dict.fromkeys(
        ("mutag", "mutagenicity", "benzene", "crippen"), ("atom", "atom type", "molecule")
    ),
    "proteins": ("structure element", "type", "protein"),
}


def names_of(dataset: str | Path) -> Names:
    """Return what the nodes, features and classes of a data set are called.

    >>> names_of("Cora").of_class(3)
    'Neural Networks'
    >>> names_of("my-graph.npz").counted("nodes", 2)
    '2 nodes'
    """
    if not is_name(dataset):
        path = Path(dataset)
        return names_in_archive(path) if path.suffix == ".npz" and path.is_file() else Names()
    return _NAMES.get(canonical_name(str(dataset)), Names())


# By data set: names of the classes, of single nodes by type, and what features are by type.
_OF_TYPES: dict[str, tuple[tuple[str, ...], Mapping[str, Labels], Mapping[str, str]]] = {
    "dblp": (dblp.FIELDS, {"venue": dblp.VENUES}, {"author": "word", "paper": "word"}),
}


def names_of_types(dataset: str, types: Types) -> Names:
    """Return what the nodes, features and classes of a graph of several types are called.

    Args:
        dataset: its name, or a path.
        types: of its nodes.
    """
    classes, nodes, features = _OF_TYPES.get(known_as(dataset, HETERO_DATASETS) or "", ((), {}, {}))
    nouns = {name: features.get(name, "feature") for name in types.names}
    return Names(
        classes=classes,
        nodes=LabelsByType([(one.name, one.count) for one in types.nodes], nodes),
        features=LabelsByType([(one.name, one.features) for one in types.nodes], nouns=nouns),
    )


def names_of_graphs(dataset: GraphDataset) -> Names:
    """Return what the graphs, nodes, features and classes of a set of graphs are called."""
    node, feature, graph = _OF_GRAPHS.get(dataset.name, ("node", "feature", "graph"))
    return Names(
        node=node,
        feature=feature,
        graph=graph,
        classes=dataset.class_names,
        features=dataset.feature_names,
    )
