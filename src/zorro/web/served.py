"""A run as the server offers it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.features import size_of
from zorro.names import Labels, Names
from zorro.page import payload
from zorro.page.surroundings import Surroundings, predicted_classes
from zorro.report import refuse_other_data, refuse_other_model
from zorro.runs import Run
from zorro.runs.store import Counts
from zorro.web.desk import Desks, Ground

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
        self._read: tuple[Counts, payload.Plain, list[payload.Plain]] | None = None

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
        """The end of the folder's path, which tells runs apart and not where they lie."""
        return "/".join(self.run.path.resolve().parts[-2:])

    @property
    def contrast(self) -> Any:
        """In what sense other classes are asked against."""
        return self.run.manifest["parameters"].get("contrast", "beats")

    def summary(self) -> payload.Plain:
        """Return what was asked and what came of it."""
        return self._current()[1]

    def rows(self) -> list[payload.Plain]:
        """Return a row per explanation."""
        return self._current()[2]

    def failures(self) -> list[payload.Plain]:
        """Return the nodes that could not be explained, and why."""
        return payload.failures(self.run)

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
        """Return the explanation that the run holds of a node, None if it holds none."""
        try:
            return self.run.explanation(node)
        except InputError:
            return None

    def detail(self, explanation: Explanation) -> payload.Plain:
        """Return what is shown of an explanation, with its row of the table and its names."""
        shown = payload.detail(explanation, self.surroundings)
        return self.named({**shown, "row": payload.row(explanation, self.surroundings)})

    def named(self, shown: payload.Plain) -> payload.Plain:
        """Add the names of the nodes and features that are shown."""
        labels = payload.labels(self.surroundings.names, [shown])
        return {**shown, "names": {kind: labels[kind] for kind in ("nodes", "features")}}

    def _current(self) -> tuple[Counts, payload.Plain, list[payload.Plain]]:
        """Return summary and rows, read again when the run has grown."""
        with self._lock:
            counts = self.run.counts()
            if self._read is None or self._read[0] != counts:
                explanations: Sequence[Explanation] = list(self.run)
                summary = payload.summary(self.run, explanations, self.surroundings)
                rows = [payload.row(e, self.surroundings) for e in explanations]
                self._read = (counts, summary, rows)
            return self._read


def _first(labels: Labels) -> list[int]:
    numbers = labels.keys() if hasattr(labels, "keys") else range(len(labels))
    return list(numbers)[:_MOST_NAMES]
