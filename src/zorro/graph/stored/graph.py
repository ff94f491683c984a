"""A stored graph, opened: of its arrays only the parts that are read are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zorro.errors import DatasetError, InputError
from zorro.graph.column_values import ColumnValues
from zorro.graph.features import DenseRows, Rows, SparseRows
from zorro.graph.grouping import Grouping
from zorro.graph.stored import verification
from zorro.graph.stored.arrays import mapped, path_of
from zorro.graph.stored.layout import EDGE_TENSORS, MASKS, Record
from zorro.graph.stored.verification import OnProgress


@dataclass(frozen=True)
class Source:
    """Where a stored graph lies, and what it was when it was opened."""

    folder: Path
    digest: str
    read_ahead: bool

    def verify(self, on_progress: OnProgress = lambda done, total: None) -> None:
        """Raise `DatasetError` unless the graph is still there, and all of it as recorded."""
        if verify_stored(self.folder, on_progress=on_progress).digest != self.digest:
            raise DatasetError(f"{self.folder} holds another graph now than when it was opened")


class StoredEdges:
    """The edges of a stored graph, in the place of PyG's edge index.

    Edges are in the order of the node that they lead to. Pickled, it is the folder's path.
    """

    in_memory: None = None

    def __init__(self, source: Source, senders: Tensor, into: Grouping, out_of: Grouping) -> None:
        self.source = source
        self._senders = senders  # (E,)
        self._groupings = (out_of, into)
        self.num_nodes = into.start.numel() - 1
        self.num_edges = senders.numel()

    def nodes(self, row: int, edges: Tensor) -> Tensor:
        """Return the nodes that `edges` (e,) come from (row 0) or lead to (row 1), (e,)."""
        if row == 0:
            return self._senders[edges].long()
        start = self.grouped_by(1).start
        return torch.searchsorted(start, edges.to(start.dtype), right=True) - 1

    def grouped_by(self, row: int) -> Grouping:
        """Return the edges grouped by the node that they come from (0) or lead to (1)."""
        return self._groupings[row]

    @property
    def digest(self) -> str:
        """One digest (SHA-256) of the graph's content."""
        return self.source.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return _part, (self.source, "edge_index")

    def __repr__(self) -> str:
        return f"StoredEdges({self.num_edges:,} of {self.source.folder})"


class StoredFeatures:
    """The features of a stored graph, in the place of a matrix (N, d).

    Pickled, it is the folder's path.
    """

    in_memory: None = None

    def __init__(self, source: Source, rows: Rows, columns: ColumnValues, means: Tensor) -> None:
        self.source = source
        self._rows = rows
        self._columns = columns
        self._means = means  # (d,)
        self.shape = (columns.num_rows, columns.count.numel())
        self.dtype = columns.values.dtype
        self.device = torch.device("cpu")

    def rows(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d)."""
        return self._rows.of(nodes)

    def by_column(self) -> ColumnValues:
        """Return the non-zero values of each column."""
        return self._columns

    def column_means(self) -> Tensor:
        """Return the mean (d,) of each column."""
        return self._means

    @property
    def digest(self) -> str:
        """One digest (SHA-256) of the graph's content."""
        return self.source.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return _part, (self.source, "x")

    def __repr__(self) -> str:
        nodes, features = self.shape
        return f"StoredFeatures({nodes:,} × {features:,} of {self.source.folder})"


@dataclass(frozen=True, repr=False)
class StoredGraph:
    """A graph whose arrays are mapped from a folder; it takes the place of PyG's `Data`.

    `Zorro(model, graph.x, graph.edge_index)` explains on it; what belongs to its edges goes into
    `model_kwargs`. Pickled, it is the folder's path, so that processes share one copy in memory.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club, open_stored, store
    >>> store(karate_club(), "club")
    >>> club = open_stored("club")
    >>> club.num_nodes, club.num_edges, club.num_features
    (34, 156, 4)
    >>> Zorro(SimpleConv(), club.x, club.edge_index).explain(11)
    Explanation(node 11 → class 1: 1 nodes × 2 features, fidelity ≥ 0.97, certified)

    Args:
        x: the features, read where they are needed.
        edge_index: the edges, read where they are needed.
        source: the folder and the digest of what it holds.
        y: (N,), true classes, if they were stored.
        train_mask: (N,), which nodes to train on.
        val_mask: (N,), which nodes to choose by.
        test_mask: (N,), which nodes to test with.
        edge_weight: (E,), one number per edge, in the order of the stored edges.
        edge_attr: (E, k), attributes of the edges.
        edge_type: (E,), the number of each edge's type.
    """

    x: StoredFeatures
    edge_index: StoredEdges
    source: Source
    y: Tensor | None = None
    train_mask: Tensor | None = None
    val_mask: Tensor | None = None
    test_mask: Tensor | None = None
    edge_weight: Tensor | None = None
    edge_attr: Tensor | None = None
    edge_type: Tensor | None = None

    @property
    def folder(self) -> Path:
        """Where the graph lies."""
        return self.source.folder

    @property
    def digest(self) -> str:
        """One digest (SHA-256) of the graph's content."""
        return self.source.digest

    @property
    def num_nodes(self) -> int:
        """How many there are."""
        return self.edge_index.num_nodes

    @property
    def num_edges(self) -> int:
        """How many there are."""
        return self.edge_index.num_edges

    @property
    def num_features(self) -> int:
        """How many there are of each node."""
        return self.x.shape[1]

    def verify(self, on_progress: OnProgress = lambda done, total: None) -> None:
        """Read all of the graph, see `verify_stored`."""
        self.source.verify(on_progress)

    def to(self, device: str | torch.device) -> StoredGraph:
        """Return the graph itself: it is read on the CPU, and nowhere else."""
        if torch.device(device).type != "cpu":
            raise InputError(f"device: expected the CPU for a stored graph, got {str(device)!r}")
        return self

    def get(self, name: str) -> Tensor | None:
        """Return labels, a mask or an edge-level tensor by name, None where there is none."""
        return getattr(self, name) if name in _OPTIONAL else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.source,)

    def __repr__(self) -> str:
        counts = f"{self.num_nodes:,} nodes, {self.num_edges:,} edges, {self.num_features:,}"
        return f"StoredGraph({self.folder}: {counts} features)"


_SMALL = 1 << 25  # bytes of a graph that is read and verified when it is opened
_OPTIONAL = ("y", *MASKS, *EDGE_TENSORS)
_SCATTERED = ("in_", "out_", "x", "edge_")  # of these a query reads a few bytes here and there


def open_stored(folder: str | Path, *, read_ahead: bool = False) -> StoredGraph:
    """Open the graph that `store` wrote into `folder`, without loading it.

    That the files are there and of the right sizes is checked. The content of a small graph
    (32 MB) is verified too; of a larger one it is not read. `verify_stored` does it for any, and
    so does a run before it keeps anything.

    >>> from zorro.data import karate_club, open_stored, store
    >>> store(karate_club(), "club")
    >>> club = open_stored("club")
    >>> club.folder.name, club.num_nodes, club.y[:4]
    ('club', 34, tensor([1, 1, 1, 1]))

    Args:
        folder: of the graph.
        read_ahead: let the system load what lies around the entries that a query reads, too. The
            first queries are faster, and after some of them all of the graph is in the page
            cache: for graphs that fit the memory that is free.
    """
    graph, record = _opened(Path(folder).absolute(), read_ahead=read_ahead)
    if sum(path_of(graph.folder, name).stat().st_size for name in record.arrays) <= _SMALL:
        verification.verify(graph.folder, record)
    return graph


def verify_stored(
    folder: str | Path, *, on_progress: OnProgress = lambda done, total: None
) -> StoredGraph:
    """Read all of a stored graph, and return it if it is what `store` wrote.

    Raises `DatasetError` if a file was changed or damaged, or does not fit the others.

    >>> from zorro.data import karate_club, store, verify_stored
    >>> store(karate_club(), "club")
    >>> verify_stored("club").num_edges
    156
    >>> with open("club/y.npy", "r+b") as file:  # somebody meddles
    ...     _ = file.seek(-1, 2), file.write(b"!")
    >>> verify_stored("club")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    zorro.errors.DatasetError: ...y.npy: expected the values of its digest in graph.json, got ...

    Args:
        folder: of the graph.
        on_progress: told how many bytes are done, and of how many.
    """
    graph, record = _opened(Path(folder).absolute(), read_ahead=False)
    verification.verify(graph.folder, record, on_progress=on_progress)
    return graph


def _opened(folder: Path, *, read_ahead: bool) -> tuple[StoredGraph, Record]:
    """Open a graph whose content is not read."""
    record = Record.read(folder)
    arrays = _arrays(folder, record, read_ahead=read_ahead)
    source = Source(folder, record.digest, read_ahead)
    into = Grouping(arrays["in_indptr"], None)
    out_of = Grouping(arrays["out_indptr"], arrays["out_edges"])
    rows: Rows
    if record.sparse:
        rows = SparseRows(
            arrays["x_indptr"], arrays["x_columns"], arrays["x_values"], record.features
        )
    else:
        rows = DenseRows(arrays["x"])
    columns = ColumnValues(
        arrays["column_values"], arrays["column_counts"], record.nodes, record.one_value_each
    )
    graph = StoredGraph(
        x=StoredFeatures(source, rows, columns, arrays["column_means"]),
        edge_index=StoredEdges(source, arrays["in_senders"], into, out_of),
        source=source,
        **{name: arrays[name] for name in _OPTIONAL if name in arrays},
    )
    return graph, record


def _arrays(folder: Path, record: Record, *, read_ahead: bool) -> dict[str, Tensor]:
    """Map every array of a graph, once their sizes are known to fit together."""
    arrays = {}
    shapes, types = record.shapes(), record.types()
    if min(record.nodes, record.features) < 1:
        raise DatasetError(
            f"{folder}: expected nodes and features, got none: store the graph again"
        )
    for name, shape in shapes.items():
        if name not in record.arrays:
            raise DatasetError(f"{folder} lists no array {name}: store the graph again")
        found, dtype = record.arrays[name].shape, record.arrays[name].dtype
        if dtype not in types.get(name, (dtype,)):
            wanted_types = " or ".join(types[name])
            raise _unfit(folder, name, f"expected {wanted_types}, got {dtype}")
        if len(found) != len(shape) or any(
            wanted not in (None, size) for wanted, size in zip(shape, found, strict=True)
        ):
            wanted = tuple("any" if size is None else size for size in shape)
            raise _unfit(folder, name, f"expected shape {wanted}, got {found}")
        scattered = not read_ahead and name.startswith(_SCATTERED)
        arrays[name] = mapped(folder, name, record.arrays[name], scattered=scattered)
    for name in record.arrays.keys() - shapes.keys():
        raise DatasetError(
            f"{folder} lists an array {name!r} that does not belong to it: store it again"
        )
    ends = {"in_indptr": record.edges, "out_indptr": record.edges}
    if record.sparse:
        ends["x_indptr"] = arrays["x_values"].numel()
        if arrays["x_columns"].numel() != ends["x_indptr"]:
            entries = arrays["x_columns"].numel()
            raise _unfit(folder, "x_columns", f"expected {ends['x_indptr']}, got {entries} entries")
    for name, end in ends.items():
        first, last = int(arrays[name][0]), int(arrays[name][-1])
        if (first, last) != (0, end):
            raise _unfit(folder, name, f"expected values from 0 to {end}, got {first} to {last}")
    if int(arrays["column_counts"].sum()) != arrays["column_values"].numel():
        raise _unfit(folder, "column_counts", "expected as many as column_values, got others")
    return arrays


def _unfit(folder: Path, name: str, problem: str) -> DatasetError:
    return DatasetError(f"{path_of(folder, name)}: {problem}: store the graph again")


def _reopened(source: Source) -> StoredGraph:
    # Verified, if that was asked for, by the process that sent it.
    graph, _ = _opened(source.folder, read_ahead=source.read_ahead)
    if graph.digest != source.digest:
        raise DatasetError(f"{source.folder} holds another graph now than when it was opened")
    return graph


def _part(source: Source, name: str) -> StoredEdges | StoredFeatures:
    part: StoredEdges | StoredFeatures = getattr(_reopened(source), name)
    return part
