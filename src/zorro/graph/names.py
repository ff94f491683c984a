"""What people call the nodes, features and classes of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zorro.errors import InputError
from zorro.question import Query

Labels = Sequence[str] | Mapping[int, str]
LINK_CLASSES = ("no link", "link")  # of a model that tells whether there is one


@dataclass(frozen=True)
class Names:
    """Nouns for nodes, features and graphs, and names of single ones where they have some.

    >>> names = Names(node="paper", feature="word", classes=["Theory", "Neural Networks"])
    >>> names.of_class(1), names.of_node(1346), names.counted("features", 1)
    ('Neural Networks', 'paper 1346', '1 word')
    """

    node: str = "node"
    feature: str = "feature"
    graph: str = "graph"
    classes: Labels = field(default_factory=dict)
    nodes: Labels = field(default_factory=dict)
    features: Labels = field(default_factory=dict)

    def of_class(self, number: int) -> str:
        """Return the name of a class."""
        return label(self.classes, number) or f"class {number}"

    def of_label(self, number: int) -> str:
        """Return the name of a label, of which a query may have several."""
        return label(self.classes, number) or f"label {number}"

    def of_node(self, number: int) -> str:
        """Return the name of a node, with its noun."""
        return f"{self.node} {label(self.nodes, number) or number}"

    def of_query(self, query: Query) -> str:
        """Return what was asked about, with its noun."""
        if query.level == "graph":
            return f"{self.graph} {query.index}"
        if query.to is None:
            return self.of_node(query.index)
        one, other = (label(self.nodes, end) or str(end) for end in (query.index, query.to))
        return f"{self.node}s {one} and {other}"

    def of_link(self, one: int, other: int) -> str:
        """Return what a link is called by its ends."""
        return "–".join(label(self.nodes, end) or str(end) for end in (one, other))

    def of_feature(self, number: int) -> str:
        """Return the name of a feature, with its noun unless it has a name of its own."""
        return label(self.features, number) or f"{self.feature} {number}"

    def counted(self, kind: str, count: int) -> str:
        """Return a number of elements of a kind in words."""
        nouns = {"nodes": self.node, "features": self.feature, "edges": "edge"}
        return counted(count, nouns.get(kind, "edge's attribute"))


def label(labels: Labels, number: int) -> str | None:
    """Return the name that a thing has, None if it has none."""
    if isinstance(labels, Mapping):
        return labels.get(number)
    return labels[number] if number < len(labels) else None


def check_labels(argument: str, labels: Labels, size: int | None) -> None:
    """Raise `InputError` unless there is a text for each of `size` things, or a mapping of some."""
    if isinstance(labels, str) or not isinstance(labels, Sequence | Mapping):
        raise InputError(
            f"{argument}: expected a list of texts or a mapping of numbers to texts, got "
            f"{type(labels).__name__}"
        )
    texts = labels.values() if isinstance(labels, Mapping) else labels
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{argument}: expected texts, got {text!r}")
    if isinstance(labels, Sequence) and labels and size is not None and len(labels) != size:
        raise InputError(f"{argument}: expected {size} texts, got {len(labels)}")


def counted(count: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "node"), counted(2000, "node")
    ('1 node', '2,000 nodes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
