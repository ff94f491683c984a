"""Where one thread works on the predictions of a run's model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from queue import Empty, LifoQueue
from typing import Any

from torch import nn

from zorro.elements import KEPT
from zorro.elements.groups import group_of_each
from zorro.methods import Subjects
from zorro.model.memory import default_budget
from zorro.noise import Noise, resolve
from zorro.question.reading import READINGS, Classes, reading_of
from zorro.runs import Run
from zorro.runs.again import options_of
from zorro.runs.given import GivenData, OneGraph
from zorro.runs.typed_graph import TypedGraph

_OF_SUBJECTS = ("seed", "hops", "halo", "check", "threshold")
_SHARE = 16  # of the memory that one explainer would take by itself


class Desk:
    """An explainer with a model of its own, so that threads cannot disturb each other.

    Args:
        model: the run's.
        data: the run's.
        noise: of the run.
        options: of the run, as `Zorro` takes them.
    """

    def __init__(
        self, model: nn.Module, data: GivenData, noise: Noise | str, options: Mapping[str, Any]
    ) -> None:
        self._data = data
        self._options = options
        self._model = copy.deepcopy(model).eval()
        self._noise = noise
        memory = max(1, default_budget(data.device) // _SHARE)
        self.zorro = data.explainer(self._model, {**options, "noise": noise, "memory": memory})

    @property
    def noise(self) -> Noise:
        """Of the run, where other methods are asked too."""
        assert not isinstance(self._noise, str)
        return self._noise

    @cached_property
    def subjects(self) -> Subjects:
        """The same predictions for methods other than Zorro's search, which explain nodes."""
        assert isinstance(self._data, OneGraph)
        shared = {name: self._options[name] for name in _OF_SUBJECTS if name in self._options}
        return Subjects(
            self._model,
            self._data.x,
            self._data.edge_index,
            noise=self.noise,
            model_kwargs=self._options["model_kwargs"],
            **shared,
        )


class Desks:
    """The desks of one run: one for measurements, and as many for jobs as run at once.

    Args:
        run: whose parameters are used.
        model: that it was made with.
        data: that it was made with.
        model_kwargs: further arguments of the model.
    """

    def __init__(
        self, run: Run, model: nn.Module, data: GivenData, model_kwargs: Mapping[str, Any]
    ) -> None:
        self._model, self._data = model, data
        self._options = {**options_of(run.manifest["parameters"]), "model_kwargs": model_kwargs}
        self._reading = reading_of(
            **{name: self._options[name] for name in READINGS if name in self._options}
        )
        self._noise = self._shared_noise()
        self.measuring = self._made()  # says now if the parameters do not fit
        self._free: LifoQueue[Desk] = LifoQueue()

    @property
    def count(self) -> int:
        """How many queries can be asked about."""
        return self._data.count

    @property
    def compares(self) -> bool:
        """Whether other methods can be asked too: of classes of nodes, which nodes and features."""
        ranked = set(self.measuring.zorro.parameters.keep) <= set(KEPT)
        return ranked and isinstance(self._data, OneGraph) and isinstance(self._reading, Classes)

    def take(self) -> Desk:
        """Return a desk that nobody else works at."""
        try:
            return self._free.get_nowait()
        except Empty:
            return self._made()

    def give_back(self, desk: Desk) -> None:
        """Let others use a desk."""
        self._free.put(desk)

    def _shared_noise(self) -> Noise | str:
        """Return the noise that all desks draw from; of several types each desk makes its own."""
        if isinstance(self._data, TypedGraph):
            return str(self._options["noise"])
        pool, groups = self._data.pool, self._options.get("feature_groups")
        of_each = group_of_each(groups, pool.shape[1]).to(pool.device) if groups else None
        return resolve(self._options["noise"], pool, groups=of_each)

    def _made(self) -> Desk:
        return Desk(self._model, self._data, self._noise, self._options)
