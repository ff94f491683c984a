"""What is kept of a run, to be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, SupportsIndex

from zorro.arguments import whole_number
from zorro.elements import KEPT
from zorro.errors import InputError, MissingExtraError, RunError
from zorro.explanation import Explanation, GraphSummary
from zorro.question import Level
from zorro.runs import folder as folders
from zorro.runs.flat import flat_rows
from zorro.runs.manifest import Manifest
from zorro.runs.store import Counts, DamagedRow, Store
from zorro.runs.task import Outcome

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Failure:
    """A node or graph that could not be explained, and why."""

    node: int  # or the graph's number, as the run's level says
    error: str
    trace: str | None


Row = Explanation | Failure | DamagedRow


def described(row: DamagedRow, level: Level) -> str:
    """Say which row of a run of that level is damaged, and why."""
    where = "a row" if row.position is None else f"row {row.position}"
    whose = "" if row.node is None else f" ({level} {row.node})"
    return f"{where}{whose} is damaged: {row.reason}"


class Run:
    """What is kept of a run, read while it goes on or after it.

    >>> run = open_run("runs/cora")                                # doctest: +SKIP
    >>> [len(explanation.nodes) for explanation in run]            # doctest: +SKIP
    [2, 3, 1]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest: Manifest = folders.read_manifest(self.path)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield the explanations, in the order in which they were asked for.

        A damaged row raises `RunError`; with `rows` the others can be read.
        """
        for row in self.rows(failed=False):
            if isinstance(row, DamagedRow):
                raise RunError(
                    f"{self.path}: {described(row, self.level)}: the other rows can be read"
                )
            if isinstance(row, Explanation):
                yield row

    def __len__(self) -> int:
        return self.counts().explained

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"Run({str(self.path)!r}: {counts.explained} of {self.asked} {self.level}s "
            f"explained, "
            f"{counts.certified} certified, {counts.failed} failed)"
        )

    @property
    def asked(self) -> int:
        """How many nodes or graphs were asked for."""
        return int(self.manifest["queries"]["count"])

    def counts(self) -> Counts:
        """Return how many queries have ended, and how."""
        if not (self.path / folders.OUTCOMES).exists():
            return Counts(0, 0, 0)
        with self._store() as store:
            return store.counts()

    def median_sizes(self) -> dict[str, float]:
        """Return the median number of elements that explanations hold of each selectable kind."""
        parameters = self.manifest["parameters"]
        kinds = [kind for kind in KEPT if kind in parameters.get("keep", KEPT)]
        if parameters.get("feature_groups"):  # of which the store knows the columns alone
            sizes = [[len(e.elements(kind)) for kind in kinds] for e in self.explanations()]
            each = zip(*sizes, strict=True)
            return {kind: float(median(some)) for kind, some in zip(kinds, each, strict=True)}
        with self._store() as store:
            return {kind: store.median_length(kind) for kind in kinds}

    def explanation(self, node: SupportsIndex) -> Explanation:
        """Return the explanation of a node, or of a graph in a run of graphs."""
        node = whole_number(self.level, node)
        for row in self.rows(node=node):
            if isinstance(row, Failure):
                raise InputError(f"{self.level}: {node} could not be explained: {row.error}")
            if isinstance(row, DamagedRow):
                raise RunError(f"{self.path}: {described(row, self.level)}")
            return row
        raise InputError(f"{self.level}: {node} has not been explained in {self.path}")

    def explanations(self) -> Iterator[Explanation]:
        """Yield the explanations that can be read; of damaged rows only `rows` tells."""
        for row in self.rows(failed=False):
            if isinstance(row, Explanation):
                yield row

    def failures(self) -> list[Failure]:
        """Return the nodes or graphs that could not be explained."""
        return [row for row in self.rows(failed=True) if isinstance(row, Failure)]

    def damaged(self) -> list[DamagedRow]:
        """Return the rows that cannot be read."""
        return [row for row in self.rows() if isinstance(row, DamagedRow)]

    def rows(self, **which: Any) -> Iterator[Row]:
        """Yield every row in the order in which it was asked for, whatever became of it.

        An explanation, a failure, or a damaged row with the reason why it cannot be used: columns
        of other types, a text that is no explanation, one of another query, or one that disagrees
        with the row about what was shown. If the file itself ends in the middle, the last one is
        damaged and says so.

        Args:
            which: see `Store.rows`.
        """
        for _, row in self.stored_rows(**which):
            yield row

    def stored_rows(self, **which: Any) -> Iterator[tuple[Outcome | None, Row]]:
        """Yield every row as it is stored and as `rows` does; the former is None if it is damaged.

        Args:
            which: see `Store.rows`.
        """
        if not (self.path / folders.OUTCOMES).exists():
            return
        with self._store() as store:
            try:
                for stored in store.rows(**which):
                    if isinstance(stored, DamagedRow):
                        yield None, stored
                        continue
                    row = self._row(stored)
                    yield None if isinstance(row, DamagedRow) else stored, row
            except RunError as error:
                yield None, DamagedRow(None, None, str(error))

    def outcomes(self, **which: Any) -> Iterator[Outcome]:
        """Yield what the store holds, see `Store.outcomes`."""
        if not (self.path / folders.OUTCOMES).exists():
            return
        with self._store() as store:
            yield from store.outcomes(**which)

    def frame(self) -> pandas.DataFrame:
        """Return one row per query, see `flat.columns`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a data frame", "runs") from None
        return pandas.DataFrame(list(flat_rows(self.stored_rows(), self.level)))

    def _row(self, outcome: Outcome) -> Row:
        """Return what an outcome stands for, if it is consistent."""
        query = outcome.query
        if outcome.explanation is None:
            return Failure(query.node, outcome.error or "", outcome.trace)
        if not 0 <= query.position < self.asked:
            return DamagedRow(
                query.position, query.node, f"position: {self.asked} {self.level}s were asked for"
            )
        try:
            found = Explanation.from_json(outcome.explanation)
        except InputError as error:
            return DamagedRow(query.position, query.node, str(error))
        told = (query.node, outcome.status, outcome.certified)
        if found.status == "conditional":  # which earlier versions called something else
            told = (query.node, "conditional", False)
        if (found.query.index, found.status, found.certified) != told:
            reason = f"{self.level}, status or certified: not those of the explanation"
            return DamagedRow(query.position, query.node, reason)
        if found.query.level != self.level:
            reason = f"level: {found.query.level}, in a run of level {self.level}"
            return DamagedRow(query.position, query.node, reason)
        if not self._is_about_its_data(found.graph):
            return DamagedRow(query.position, query.node, "graph: another size than the run's")
        return found

    @property
    def level(self) -> Level:
        """Whether nodes of one graph were asked about, or graphs of several."""
        return "graph" if "graphs" in self.manifest["data"] else "node"

    def _is_about_its_data(self, graph: GraphSummary) -> bool:
        """Whether a graph has the size that the run's has, or that one of its graphs can have."""
        nodes: int = self.manifest["data"]["nodes"]
        features: int = self.manifest["data"]["features"]
        fits = graph.num_nodes == nodes if self.level == "node" else graph.num_nodes <= nodes
        return fits and graph.num_features == features

    def _store(self) -> Store:
        return Store(self.path / folders.OUTCOMES)


def open_run(path: str | Path) -> Run:
    """Return a run that `explain_many`, `explain_graphs` or `zorro explain --out` made."""
    return Run(path)
