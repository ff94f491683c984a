"""Every kind of model of the zoos by its name, and what builds and trains one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from honesty_audit.audit import Case
from honesty_audit.edge_zoo import EDGE_ZOO, EdgeEntry, prepare_edges
from honesty_audit.graph_zoo import GRAPH_ZOO, GraphEntry, prepare_graphs
from honesty_audit.link_zoo import LINK_ZOO, LinkEntry, prepare_links
from honesty_audit.typed_zoo import TYPED_ZOO, GraphsEntry, TypedEntry, prepare_types
from honesty_audit.value_zoo import VALUE_ZOO, ValueEntry, prepare_values
from honesty_audit.zoo import ZOO, Entry, prepare

AnyEntry = Entry | GraphEntry | LinkEntry | ValueEntry | EdgeEntry | TypedEntry | GraphsEntry
ZOOS: dict[str, list[Any]] = {
    "Nodes": ZOO,
    "Graphs": GRAPH_ZOO,
    "Links": LINK_ZOO,
    "Values": VALUE_ZOO,
    "Edges": EDGE_ZOO,
    "Several types": TYPED_ZOO,
}
ENTRIES: dict[str, AnyEntry] = {entry.name: entry for zoo in ZOOS.values() for entry in zoo}
_PREPARE: dict[type, Callable[[Any], Case]] = {
    Entry: prepare,
    GraphEntry: prepare_graphs,
    LinkEntry: prepare_links,
    ValueEntry: prepare_values,
    EdgeEntry: prepare_edges,
    TypedEntry: prepare_types,
    GraphsEntry: prepare_types,
}


def prepare_any(entry: AnyEntry, size: int | None = None) -> Case:
    """Build and train a model; the same one each time.

    Args:
        entry: the kind of model.
        size: nodes of the graph, if it is asked about nodes; the entry's own when None.
    """
    if isinstance(entry, Entry):
        return prepare(entry, size)
    return _PREPARE[type(entry)](entry)
