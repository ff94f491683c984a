"""A run as the server offers it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorro.elements import FEATURES
from zorro.errors import InputError, RunError
from zorro.explanation import Explanation
from zorro.explanation.typed import by_type
from zorro.graph.names import Labels, LabelsByType
from zorro.question import Query
from zorro.question.decision import Comparison
from zorro.runs import DamagedRow, Run
from zorro.runs.adding import add, refuse_other
from zorro.runs.store import Counts
from zorro.show.page import contents, payload
from zorro.show.page.address import Address, query_at
from zorro.show.page.run_inputs import RunInputs
from zorro.show.web.desk import Desks
from zorro.show.web.method_names import method_names

Chosen = Mapping[str, list[Any] | None]  # what is kept of each kind, None if all of it is

_MOST_NAMES = 10_000
_MOST_FOUND = 500  # explanations that are remembered without being kept


class Served:
    """A run with its data and model, as far as they are at hand.

    Args:
        run: whose explanations are shown.
        inputs: what it was made with; without data and model it is read-only.
        missing: why it is without them, if that is known.
    """

    def __init__(
        self, run: Run, inputs: RunInputs | None = None, *, missing: str | None = None
    ) -> None:
        self.run = run
        self.missing = missing
        self.desks: Desks | None = None
        inputs = (inputs or RunInputs()).asked_by(run)
        if inputs.model is not None and inputs.data is not None:
            self.desks = Desks(run, inputs.model, inputs.data, inputs.model_kwargs)
        self.view = inputs.view(run)
        self.kinds = payload.kinds_of(run)
        self._lock = threading.Lock()
        self._read: _Read | None = None
        # By their keys: what was explained since the server began, as the run explains.
        self._found: dict[int, Explanation] = {}

    @property
    def live(self) -> bool:
        """Whether more can be explained and measured."""
        return self.desks is not None

    @property
    def queries(self) -> int:
        """How many nodes, or graphs, there are in the data set that can be asked about."""
        data, about = self.run.manifest["data"], self.run.about
        if about.types:
            return max(int(data["types"][name]) for name in about.types)
        return int(data[self.view.counted])

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that can explain them, ours first."""
        if self.desks is None:
            return ()
        return method_names() if self.desks.compares else method_names()[:1]

    @property
    def name(self) -> str:
        """What people would call it."""
        named = self.run.manifest["asked"].get("named") or {}
        words = [Path(str(named[key])).stem for key in ("dataset", "model") if named.get(key)]
        return " ".join(words) if len(words) > 1 else self.run.path.resolve().name

    @property
    def path(self) -> str:
        """The end of the folder's path."""
        return shown_path(self.run.path)

    @property
    def contrast(self) -> Any:
        """In what sense other classes are asked against."""
        return self.run.manifest["parameters"].get("contrast", "beats")

    def summary(self) -> payload.Plain:
        """Return what was asked and what came of it."""
        return self._current().summary

    def rows(self) -> list[payload.Plain]:
        """Return a row per explanation that the run holds."""
        return self._current().rows

    def found_rows(self) -> list[payload.Plain]:
        """Return a row per explanation that was found since the server began and is not kept."""
        return [payload.row(one, self.view) for one in tuple(self._found.values())]

    def remember(self, explanation: Explanation) -> bool:
        """Remember what was explained, if it can be kept in the run; whether it can."""
        try:
            refuse_other(self.run, explanation)
        except InputError:
            return False
        if self.kept(explanation.query) is not None:
            return False
        self._found[explanation.query.key] = explanation
        while len(self._found) > _MOST_FOUND:
            self._found.pop(next(iter(self._found)))
        return True

    def keep(self, query: Query) -> bool:
        """Keep in the run what was found of a query; whether there is such."""
        explanation = self._found.get(query.key)
        if explanation is None:
            return False
        self.run = add(self.run.path, explanation, truth=self.view.truth(query))
        self._found.pop(query.key, None)
        return True

    def failures(self) -> list[payload.Plain]:
        """Return the queries that could not be explained, and why."""
        return self._current().failures

    def unreadable(self) -> list[payload.Plain]:
        """Return the rows that cannot be read, and why."""
        return self._current().unreadable

    def labels(self) -> payload.Plain:
        """Return what things are called: all, as far as they are few, and otherwise the first."""
        names = self.view.names
        first = {
            "nodes": _first(names.nodes),
            "features": _first(names.features),
            "alternatives": (),
            "values": None,
            "scene": None,
        }
        return payload.labels(self.view, [first])

    def query(self, address: Address) -> Query:
        """Return the query at an address, or raise `InputError` if there is none."""
        return query_at("query", address, self.run.about, self.queries)

    def other(self, address: Address | None) -> int | tuple[int, int] | None:
        """Return what an answer is compared with, as an explainer takes it."""
        return None if address is None else self.view.other(address, self.queries)

    def comparison(
        self, why_not: Address | None, among: Sequence[int] | None = None, top: int = 1
    ) -> Comparison:
        """Return with what an answer is compared, as it was asked."""
        ends = None if among is None else tuple(among)
        return Comparison(self.other(why_not), self.contrast, ends, top)

    def kept(self, query: Query) -> Explanation | None:
        """Return the explanation that the run holds of a query, None if it holds none."""
        with _damage_told(f"{self.run.path}, {query}"):
            for row in self.run.rows(key=query.key, failed=False):
                if isinstance(row, DamagedRow):
                    raise RunError(row.reason)
                if isinstance(row, Explanation):
                    return row
        return None

    def whole_groups(self, held: Chosen) -> dict[str, list[Any] | None]:
        """Return a set with all columns of the groups of which it has some."""
        columns = held.get(FEATURES)
        if columns is None:
            return dict(held)
        of_column = {column: group for group in self.view.groups for column in group}
        whole = [each for column in columns for each in of_column.get(column, (column,))]
        return {**held, FEATURES: list(dict.fromkeys(whole))}

    def as_asked(self, held: Chosen) -> dict[str, Any]:
        """Return a set as a meter takes it: of several types by type and relation."""
        types = self.view.types
        return dict(held) if types is None else by_type(held, types)

    def kept_detail(self, query: Query) -> payload.Plain | None:
        """Return what is shown of a query's explanation, kept or found since, if there is one."""
        explanation = self.kept(query) or self._found.get(query.key)
        if explanation is None:
            return None
        with _damage_told(f"{self.run.path}, {query}"):
            return _for_json(self.detail(explanation))

    def detail(self, explanation: Explanation) -> payload.Plain:
        """Return what is shown of an explanation, with its row of the table and its names."""
        shown = payload.detail(explanation, self.view)
        return self.named({**shown, "row": payload.row(explanation, self.view)})

    def named(self, shown: payload.Plain) -> payload.Plain:
        """Add the names of the nodes and features that are shown."""
        labels = payload.labels(self.view, [shown])
        return {**shown, "names": {kind: labels[kind] for kind in ("nodes", "features")}}

    def _current(self) -> _Read:
        """Return what the run holds, read again when it has grown."""
        with self._lock, _damage_told(str(self.run.path)):
            counts = self.run.counts()
            if self._read is None or self._read.counts != counts:
                self._read = self._read_again(counts)
            return self._read

    def _read_again(self, counts: Counts) -> _Read:
        held = contents.read(self.run)
        return _Read(
            counts,
            _for_json(payload.summary(self.run, held, self.view)),
            [payload.row(e, self.view) for e in held.explanations],
            payload.failures(held),
            payload.unreadable(held, self.run.about),
        )


@dataclass(frozen=True)
class Broken:
    """A run of which nothing can be shown but why.

    Args:
        folder: that was to be served.
        reason: why it cannot be.
    """

    folder: Path
    reason: str

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def path(self) -> str:
        """The end of the folder's path."""
        return shown_path(self.folder)


def shown_path(folder: Path) -> str:
    """Return the end of a path, which tells runs apart and not where they lie."""
    return "/".join(folder.resolve().parts[-2:])


@dataclass(frozen=True)
class _Read:
    counts: Counts
    summary: payload.Plain
    rows: list[payload.Plain]
    failures: list[payload.Plain]
    unreadable: list[payload.Plain]


@contextmanager
def _damage_told(what: str) -> Iterator[None]:
    """Raise a `RunError` in place of what damaged files lead to, whatever that is."""
    try:
        yield
    except RunError as error:
        said = contents.reason(error)
        raise RunError(said if what in said else f"{what}: {said}") from error
    except Exception as error:
        raise RunError(f"{what}: it is damaged ({contents.reason(error)})") from error


def _for_json(shown: payload.Plain) -> payload.Plain:
    """Return what is shown if it can be sent: no infinite numbers, nothing that is too deep."""
    json.dumps(shown, allow_nan=False)
    return shown


def _first(labels: Labels) -> list[int]:
    if isinstance(labels, LabelsByType):
        return []  # who knows a type and a number knows the name
    numbers = labels.keys() if hasattr(labels, "keys") else range(len(labels))
    return list(numbers)[:_MOST_NAMES]
