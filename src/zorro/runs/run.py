"""What is kept of a run, to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, SupportsIndex

from torch import Tensor
from torch_geometric.data import Data

from zorro import audit as audits
from zorro.arguments import whole_number
from zorro.elements import KEPT, KINDS, TYPES
from zorro.errors import InputError, MissingExtraError, RunError
from zorro.explanation import Explanation, GraphSummary
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.names import Names
from zorro.model.predictor import Model
from zorro.question import About, Level, Query
from zorro.question.query import NUMBERS
from zorro.question.reading import READINGS, reading_of
from zorro.runs import folder as folders
from zorro.runs.flat import flat_rows
from zorro.runs.known import Known
from zorro.runs.manifest import Manifest, about_of, added_to, asked_for, other_settings
from zorro.runs.store import Counts, DamagedRow, Store
from zorro.runs.task import Outcome

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Failure:
    """A query that could not be explained, and why.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(
    ...     SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/why-not", why_not=1
    ... )
    >>> run
    Run('runs/why-not': 1 of 2 nodes explained, 0 certified, 1 failed)
    >>> failure = run.failures()[0]
    >>> print(failure.query, failure.error)  # doctest: +NORMALIZE_WHITESPACE
    node 11 InputError: why_not: expected another class than the prediction of node 11,
    got 1, which is predicted

    Args:
        query: what was asked about.
        error: its type and message.
        trace: where it was raised, as Python prints it; None where that is not known.
    """

    query: Query
    error: str
    trace: str | None


Row = Explanation | Failure | DamagedRow


def described(row: DamagedRow, about: About) -> str:
    """Say which row of a run about such queries is damaged, and why."""
    where = "a row" if row.position is None else f"row {row.position}"
    whose = "" if row.key is None else f" ({_named(about, row.key)})"
    return f"{where}{whose} is damaged: {row.reason}"


def _named(about: About, key: int) -> str:
    """Return what the query of a key is called; of a key that none has, the key."""
    try:
        return str(about.of_key(key))
    except ValueError:
        return f"{about.kind} {key}"


class Run:
    """What is kept of a run, read while it goes on or after it.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [9, 11, 17], out="runs/votes")
    >>> [len(found.nodes) for found in run], run.median_sizes()
    ([1, 1, 2], {'nodes': 1.0, 'features': 2.0})
    >>> run.explanation(11)
    Explanation(node 11 → class 1: 1 nodes × 2 features, fidelity ≥ 0.97, certified)
    >>> run.counts()
    Counts(explained=3, failed=0, certified=3)

    Args:
        path: of its folder.
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
                    f"{self.path}: {described(row, self.about)}: the other rows can be read"
                )
            if isinstance(row, Explanation):
                yield row

    def __len__(self) -> int:
        return self.counts().explained

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"Run({str(self.path)!r}: {counts.explained} of {self.asked} {self.about.nouns} "
            f"explained, "
            f"{counts.certified} certified, {counts.failed} failed)"
        )

    @property
    def asked(self) -> int:
        """How many nodes, links or graphs were asked for, those that were added included."""
        return asked_for(self.manifest) + self.added

    @property
    def added(self) -> int:
        """How many of them were asked for after the run, one by one."""
        return added_to(self.manifest)

    def counts(self) -> Counts:
        """Return how many queries have ended, and how."""
        if not folders.has_outcomes(self.path):
            return Counts(0, 0, 0)
        with self._store() as store:
            return store.counts()

    def median_sizes(self) -> dict[str, float]:
        """Return the median number of elements that explanations hold of each selectable kind."""
        parameters = self.manifest["parameters"]
        kinds = [kind for kind in KINDS if kind in parameters.get("keep", KEPT)]
        if parameters.get("feature_groups"):  # of which the store knows the columns alone
            sizes = [[len(e.elements(kind)) for kind in kinds] for e in self.explanations()]
            each = zip(*sizes, strict=True)
            return {kind: float(median(some)) for kind, some in zip(kinds, each, strict=True)}
        with self._store() as store:
            return {kind: store.median_length(kind) for kind in kinds}

    def explanation(self, asked: SupportsIndex | Sequence[SupportsIndex]) -> Explanation:
        """Return the explanation of a query: of a node or graph by its number, of a link by (u, v).

        Args:
            asked: as it is asked of `Zorro.explain`.
        """
        query = self._query(asked)
        for row in self.rows(key=query.key):
            if isinstance(row, Failure):
                raise InputError(
                    f"{query.kind}: expected one that could be explained, got {query.label}: "
                    f"{row.error}"
                )
            if isinstance(row, DamagedRow):
                raise RunError(f"{self.path}: {described(row, self.about)}")
            return row
        raise InputError(
            f"{query.kind}: expected one that has been explained in {self.path}, got {query.label}"
        )

    def explanations(self) -> Iterator[Explanation]:
        """Yield the explanations that can be read; of damaged rows only `rows` tells."""
        for row in self.rows(failed=False):
            if isinstance(row, Explanation):
                yield row

    def failures(self) -> list[Failure]:
        """Return the queries that could not be explained."""
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
        if not folders.has_outcomes(self.path):
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
        if not folders.has_outcomes(self.path):
            return
        with self._store() as store:
            yield from store.outcomes(**which)

    def frame(self) -> pandas.DataFrame:
        """Return one row per query, see `flat.columns`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a data frame", "runs") from None
        return pandas.DataFrame(list(flat_rows(self.stored_rows(), self.about, typed=self.typed)))

    @cached_property
    def known(self) -> Known:
        """What its things are called and what is true, as far as it was told when it was made."""
        return Known.read(self.path)

    def audit(
        self,
        *,
        x: Tensor | Features | None = None,
        edge_index: Tensor | Edges | None = None,
        y: Tensor | None = None,
        train_mask: Tensor | None = None,
        graphs: Sequence[Data] | None = None,
        model: Model | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        names: Names | None = None,
        confidence: float = 0.95,
    ) -> audits.Audit:
        """Return what the model rests on, class by class, by all explanations of the run.

        Without the graph, or the graphs, it is not known what is more than chance, which kinds of
        nodes are kept, and whether a feature is a label in disguise. That they are those of the
        run is for the caller to see to.

        Args:
            x: (N, d), or the features of a stored graph.
            edge_index: (2, E), or its edges.
            y: (N,), the true classes; those that the run was told when None.
            train_mask: (N,), which nodes the model was trained on.
            graphs: of a run of graphs, instead of these.
            model: that tells the classes of all nodes; those of the explained ones when None.
            model_kwargs: its further arguments.
            names: of nodes, features and classes; those that the run was told when None.
            confidence: of the intervals.
        """
        every = list(self.explanations())
        if not every:
            raise RunError(f"{self.path}: expected explanations to audit, got none")
        asked = self.manifest["parameters"]
        setting = audits.setting_of(
            self.level,
            every,
            x=x,
            edge_index=edge_index,
            y=y,
            train_mask=train_mask,
            graphs=graphs,
            model=model,
            model_kwargs=model_kwargs,
            reading=reading_of(**{name: asked[name] for name in READINGS if name in asked}),
        )
        return audits.audit(
            every,
            truth=audits.truth_of(every, setting, self.known.truth),
            setting=setting,
            names=self.known.names if names is None else names,
            confidence=confidence,
        )

    def _row(self, outcome: Outcome) -> Row:
        """Return what an outcome stands for, if it is consistent."""
        position, key = outcome.query.position, outcome.query.key
        if outcome.explanation is None:
            try:
                query = self.about.of_key(key)
            except ValueError as error:
                return DamagedRow(position, key, f"node: {error}")
            return Failure(query, outcome.error or "", outcome.trace)
        if not 0 <= position < self.asked:
            return DamagedRow(
                position, key, f"position: {self.asked} {self.about.nouns} were asked for"
            )
        try:
            found = Explanation.from_json(outcome.explanation)
        except InputError as error:
            return DamagedRow(position, key, str(error))
        if found.query.level != self.level:
            reason = f"level: {found.query.level}, in a run of level {self.level}"
            return DamagedRow(position, key, reason)
        told = (key, outcome.status, outcome.certified)
        if (found.query.key, found.status, found.certified) != told:
            reason = f"{self.level}, status or certified: not those of the explanation"
            return DamagedRow(position, key, reason)
        if not self._is_about_its_data(found.graph):
            return DamagedRow(position, key, "graph: another size than the run's")
        for name, expected, got in other_settings(self.manifest, found.parameters):
            reason = f"parameters.{name}: expected {expected}, as its run was asked, got {got}"
            return DamagedRow(position, key, reason)
        return found

    @property
    def level(self) -> Level:
        """Whether nodes of one graph were asked about, links between them, or several graphs."""
        return self.about.level

    @property
    def about(self) -> About:
        """The same, and of which type where there are several."""
        return about_of(self.manifest)

    @property
    def typed(self) -> bool:
        """Whether there are several types of nodes."""
        return TYPES in self.manifest["data"]

    def _is_about_its_data(self, graph: GraphSummary) -> bool:
        """Whether a graph has the size that the run's has, or that one of its graphs can have."""
        nodes: int = self.manifest["data"]["nodes"]
        data = self.manifest["data"]
        features: int = data.get("columns", data["features"])  # those of several types have more
        fits = graph.num_nodes <= nodes if self.level == "graph" else graph.num_nodes == nodes
        return fits and graph.num_features == features

    def _query(self, asked: Any) -> Query:
        """Return the query that a user tells by its number, or by its two."""
        count = len(NUMBERS[self.level])
        several = isinstance(asked, Sequence) and not isinstance(asked, str | bytes)
        numbers = list(asked) if several else [asked]
        if len(numbers) != count:
            what = "a number" if count == 1 else "two nodes (u, v)"
            raise InputError(f"{self.level}: expected {what}, got {asked!r:.60}")
        index, *to = (whole_number(self.level, number) for number in numbers)
        return self.about.query(index, *to)

    def _store(self) -> Store:
        return Store(self.path / folders.OUTCOMES)


def open_run(path: str | Path) -> Run:
    """Return a run that `explain_many`, its likes or `zorro explain --out` made.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many, open_run
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> made = explain_many(SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/votes")
    >>> open_run("runs/votes").explanation(11).nodes  # today, or in another program
    (0,)

    Args:
        path: of the run's folder.
    """
    return Run(path)
