"""Names that belong to the data sets known by name."""

from __future__ import annotations

from pathlib import Path

from zorro.data.catalogue import canonical_name, is_name
from zorro.data.graph_dataset import GraphDataset
from zorro.graph.names import Names

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
        return Names()
    return _NAMES.get(canonical_name(str(dataset)), Names())


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
