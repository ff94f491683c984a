"""A run as the server offers it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorro.errors import RunError
from zorro.explanation import Explanation
from zorro.graph.features import size_of
from zorro.graph.names import Labels, Names
from zorro.runs import DamagedRow, Run
from zorro.runs.store import Counts
from zorro.show.page import contents, payload
from zorro.show.page.surroundings import Surroundings, predicted_classes
from zorro.show.report import refuse_other_data, refuse_other_model
from zorro.show.web.desk import Desks, Ground

_MOST_NAMES = 10_000


class Served:
    """A run with its graph and model, as far as they are at hand.

    Args:
        run: whose explanations are shown.
        ground: the model and the graph that it was made with; without them it is read-only.
        y: (N,), the true classes.
        names: of nodes, features and classes.
    """

    def __init__(
        self,
        run: Run,
        ground: Ground | None = None,
        *,
        y: Any = None,
        names: Names | None = None,
    ) -> None:
        self.run = run
        self.desks: Desks | None = None
        self.surroundings = Surroundings(names=names or Names())
        if ground is not None:
            refuse_other_data(run, ground.x, ground.edge_index, ground.model_kwargs)
            refuse_other_model(run, ground.model)
            self.desks = Desks(run, ground)
            self.surroundings = Surroundings(
                x=ground.x,
                edge_index=ground.edge_index,
                y=y,
                predicted=predicted_classes(
                    ground.model,
                    ground.x,
                    ground.edge_index,
                    model_kwargs=ground.model_kwargs,
                    threshold=run.manifest["parameters"].get("threshold"),
                ),
                names=names or Names(),
            )
        self._lock = threading.Lock()
        self._read: _Read | None = None

    @property
    def live(self) -> bool:
        """Whether more can be explained and measured."""
        return self.desks is not None

    @property
    def size(self) -> tuple[int, int]:
        """Number of nodes and of features."""
        if self.surroundings.x is not None:
            return size_of(self.surroundings.x)
        data = self.run.manifest["data"]
        return int(data["nodes"]), int(data["features"])

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
        """Return a row per explanation."""
        return self._current().rows

    def failures(self) -> list[payload.Plain]:
        """Return the nodes that could not be explained, and why."""
        return self._current().failures

    def unreadable(self) -> list[payload.Plain]:
        """Return the rows that cannot be read, and why."""
        return self._current().unreadable

    def labels(self) -> payload.Plain:
        """Return what things are called: all, as far as they are few, and otherwise the first."""
        names = self.surroundings.names
        first = {
            "nodes": _first(names.nodes),
            "features": _first(names.features),
            "alternatives": (),
            "scene": None,
        }
        return payload.labels(names, [first])

    def kept(self, node: int) -> Explanation | None:
        """Return the explanation that the run holds of a node, None if it holds none that is."""
        with _damage_told(f"{self.run.path}, node {node}"):
            for row in self.run.rows(node=node, failed=False):
                if isinstance(row, DamagedRow):
                    raise RunError(row.reason)
                if isinstance(row, Explanation):
                    return row
        return None

    def kept_detail(self, node: int) -> payload.Plain | None:
        """Return what is shown of the explanation that the run holds of a node, if any."""
        explanation = self.kept(node)
        if explanation is None:
            return None
        with _damage_told(f"{self.run.path}, node {node}"):
            return _for_json(self.detail(explanation))

    def detail(self, explanation: Explanation) -> payload.Plain:
        """Return what is shown of an explanation, with its row of the table and its names."""
        shown = payload.detail(explanation, self.surroundings)
        return self.named({**shown, "row": payload.row(explanation, self.surroundings)})

    def named(self, shown: payload.Plain) -> payload.Plain:
        """Add the names of the nodes and features that are shown."""
        labels = payload.labels(self.surroundings.names, [shown])
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
            _for_json(payload.summary(self.run, held, self.surroundings)),
            [payload.row(e, self.surroundings) for e in held.explanations],
            payload.failures(held),
            payload.unreadable(held),
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
    numbers = labels.keys() if hasattr(labels, "keys") else range(len(labels))
    return list(numbers)[:_MOST_NAMES]
