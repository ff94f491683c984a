"""What lies in the folder of a stored graph.

Edges are grouped by the node that they lead to (row 1 of PyG's edge index), in their first order
within a group; the place of an edge in that order is its id.

    graph.json                           this record: counts, layout, digests
    in_indptr, in_senders                (N + 1,), (E,): where the edges into a node begin, and the
                                         node each of them comes from
    out_indptr, out_edges                (N + 1,), (E,): ids of the edges that leave a node
    x                                    (N, d), dense features, or else
    x_indptr, x_columns, x_values        (N + 1,), (nnz,), (nnz,): sparse ones, as CSR
    column_values, column_counts         (m,), (d,): the non-zero features, column after column
    column_means                         (d,)
    y, train_mask, val_mask, test_mask   (N,), where there are such
    edge_weight, edge_attr, edge_type    (E, …), where there are such
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from zorro.errors import DatasetError
from zorro.files.plain_json import parse
from zorro.files.whole_file import whole_file

RECORD = "graph.json"
MASKS = ("train_mask", "val_mask", "test_mask")
EDGE_TENSORS = ("edge_weight", "edge_attr", "edge_type")

_FORMAT = "zorro graph"
_VERSION = 1
# The others follow from these.
_CONTENT = (
    *("in_indptr", "in_senders", "x", "x_indptr", "x_columns", "x_values", "y"),
    *MASKS,
    *EDGE_TENSORS,
)


@dataclass(frozen=True)
class ArrayRecord:
    """What an array's file must hold."""

    dtype: str
    shape: tuple[int, ...]
    sha256: str  # of its values


@dataclass(frozen=True)
class Record:
    """What `graph.json` says."""

    nodes: int
    edges: int
    features: int
    sparse: bool
    one_value_each: bool  # no column has two different non-zero values
    arrays: Mapping[str, ArrayRecord]

    @property
    def digest(self) -> str:
        """One digest of all that makes the graph what it is."""
        content = [[name, asdict(self.arrays[name])] for name in _CONTENT if name in self.arrays]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def types(self) -> dict[str, tuple[str, ...]]:
        """Return the types that arrays may have, as NumPy spells them; others may have any."""
        x = self.arrays.get("x_values" if self.sparse else "x")
        same = () if x is None else (x.dtype,)
        ids = ("in_indptr", "in_senders", "out_indptr", "out_edges", "x_indptr", "x_columns")
        return {
            **dict.fromkeys(ids, ("<i4", "<i8")),
            **dict.fromkeys(("x", "x_values"), ("<f2", "<f4", "<f8")),
            **dict.fromkeys(("column_values", "column_means"), same),
            **dict.fromkeys(("column_counts", "y"), ("<i8",)),
            **dict.fromkeys(MASKS, ("|b1",)),
        }

    def shapes(self) -> dict[str, tuple[int | None, ...]]:
        """Return the shapes of the arrays that there must be, None for any size."""
        n, e, d = self.nodes, self.edges, self.features
        features: dict[str, tuple[int | None, ...]] = (
            {"x_indptr": (n + 1,), "x_columns": (None,), "x_values": (None,)}
            if self.sparse
            else {"x": (n, d)}
        )
        return {
            "in_indptr": (n + 1,),
            "in_senders": (e,),
            "out_indptr": (n + 1,),
            "out_edges": (e,),
            **features,
            "column_values": (None,),
            "column_counts": (d,),
            "column_means": (d,),
            **{name: (n,) for name in ("y", *MASKS) if name in self.arrays},
            **{
                name: (e, *[None] * (len(self.arrays[name].shape) - 1))
                for name in EDGE_TENSORS
                if name in self.arrays
            },
        }

    def write(self, folder: Path) -> None:
        """Write the record into a folder."""
        told = {"format": _FORMAT, "version": _VERSION, "digest": self.digest, **asdict(self)}
        with whole_file(folder / RECORD) as file:
            file.write(f"{json.dumps(told, indent=1)}\n".encode())

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Read the record of a folder, or raise `DatasetError`."""
        path = folder / RECORD
        if not path.is_file():
            raise DatasetError(
                f"{folder} holds no stored graph: there is no {RECORD} in it; write one with "
                f"zorro.data.store or `zorro convert`"
            )
        try:
            told = parse(path.read_bytes())
            if not isinstance(told, dict) or told.get("format") != _FORMAT:
                raise ValueError(f'it does not say "format": "{_FORMAT}"')
            if told.get("version") != _VERSION:
                raise ValueError(f"its version is {told.get('version')!r}, expected {_VERSION}")
            record = cls._of(told)
            if told["digest"] != record.digest:
                raise ValueError("its digest is not that of the arrays it lists")
        except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise DatasetError(f"{path} is not the record of a stored graph ({what})") from error
        return record

    @classmethod
    def _of(cls, told: dict[str, Any]) -> Record:
        return cls(
            nodes=int(told["nodes"]),
            edges=int(told["edges"]),
            features=int(told["features"]),
            sparse=bool(told["sparse"]),
            one_value_each=bool(told["one_value_each"]),
            arrays={
                name: ArrayRecord(
                    str(array["dtype"]), tuple(map(int, array["shape"])), str(array["sha256"])
                )
                for name, array in dict(told["arrays"]).items()
            },
        )
