"""What people call the nodes, features and classes of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from zorro.elements.edges import Member
from zorro.errors import InputError
from zorro.question import Query

Labels = Sequence[str] | Mapping[int, str]
LINK_CLASSES = ("no link", "link")  # of a model that tells whether there is one


class LabelsByType(Mapping[int, str]):
    """What nodes, or features, of several types are called: by their type and number in it.

    >>> labels = LabelsByType([("author", 3), ("venue", 2)], {"venue": ["AAAI", "KDD"]})
    >>> labels[1], labels[4], labels.get(5)
    ('author 1', 'venue KDD', None)

    Args:
        counts: how many each type has, in the order of their numbers among all.
        own: names of single ones, by type and number in it.
        nouns: what stands between a type and a number, by type.
    """

    def __init__(
        self,
        counts: Sequence[tuple[str, int]],
        own: Mapping[str, Labels] | None = None,
        nouns: Mapping[str, str] | None = None,
    ) -> None:
        self._counts = tuple(counts)
        self._own = own or {}
        self._nouns = nouns or {}

    def __getitem__(self, number: int) -> str:
        first = 0
        for name, count in self._counts:
            if first <= number < first + count:
                called = label(self._own.get(name, ()), number - first) or str(number - first)
                return " ".join(filter(None, [name, self._nouns.get(name), called]))
            first += count
        raise KeyError(number)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return sum(count for _, count in self._counts)


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
        """Return the name of a node, with its noun, or its type where there are several."""
        if isinstance(self.nodes, LabelsByType):
            return self.nodes[number]
        return f"{self.node} {label(self.nodes, number) or number}"

    def of_query(self, query: Query) -> str:
        """Return what was asked about, with its noun."""
        if query.level == "graph":
            return f"{self.graph} {query.index}"
        if query.types:
            ends = [query.index] if query.to is None else [query.index, query.to]
            told = [label(self.nodes, end) for end in ends]
            return " and ".join(filter(None, told)) if all(told) else str(query)
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

    def member(self, kind: str, member: Member) -> str:
        """Return the short name of a node, a feature or an edge: its number without one.

        >>> Names(nodes=["a", "b"]).member("edges", (0, 1)), Names().member("features", 3)
        ('a–b', '3')
        """
        if isinstance(member, tuple):
            u, v, *number = member
            return self.of_link(u, v) + "".join(f" ({k})" for k in number)
        named = {"nodes": self.nodes, "features": self.features}.get(kind, {})
        return label(named, member) or str(member)

    def element(self, kind: str, members: Sequence[Member]) -> str:
        """Return the name of an element with its noun; of a group of features all of them.

        >>> Names(node="paper").element("nodes", (3,)), Names().element("edges", ((1, 2),))
        ('paper 3', 'edge 1–2')
        """
        if kind == "features" and len(members) == 1 and isinstance(members[0], int):
            return self.of_feature(members[0])
        nouns = {"nodes": self.node, "features": f"{self.feature}s", "edges": "edge"}
        noun = nouns.get(kind, "the attributes of edge")
        return f"{noun} {', '.join(self.member(kind, member) for member in members)}"

    def counted(self, kind: str, count: int) -> str:
        """Return a number of elements of a kind in words."""
        nouns = {
            "types": f"type of {self.node}s",
            "nodes": self.node,
            "features": self.feature,
            "relations": "relation",
            "edges": "edge",
        }
        if kind == "types" and count != 1:
            return f"{count:,} types of {self.node}s"
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
