"""Where one thread works on the predictions of a run's model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from queue import Empty, LifoQueue
from typing import Any

from torch import Tensor, nn

from zorro.explainer import Zorro
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, features_of
from zorro.methods import Subjects
from zorro.model.memory import default_budget
from zorro.noise import Noise, resolve
from zorro.runs import Run
from zorro.runs.again import options_of

_OF_SUBJECTS = ("seed", "hops", "halo", "check", "threshold")
_SHARE = 16  # of the memory that one explainer would take by itself


@dataclass(frozen=True)
class Ground:
    """The model and the graph that a run was made with.

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        model_kwargs: further arguments of the model.
    """

    model: nn.Module
    x: Tensor | Features
    edge_index: Tensor | Edges
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)


class Desk:
    """An explainer with a model of its own, so that threads cannot disturb each other.

    Args:
        ground: model and graph.
        noise: of the run.
        options: of the run, as `Zorro` takes them.
    """

    def __init__(self, ground: Ground, noise: Noise, options: Mapping[str, Any]) -> None:
        self._ground = ground
        self._options = options
        self._model = copy.deepcopy(ground.model).eval()
        self.noise = noise
        self.zorro = Zorro(
            self._model,
            ground.x,
            ground.edge_index,
            noise=noise,
            memory=max(1, default_budget(features_of(ground.x).device) // _SHARE),
            model_kwargs=ground.model_kwargs,
            **options,
        )

    @cached_property
    def subjects(self) -> Subjects:
        """The same predictions for methods other than Zorro's search."""
        shared = {name: self._options[name] for name in _OF_SUBJECTS if name in self._options}
        return Subjects(
            self._model,
            self._ground.x,
            self._ground.edge_index,
            noise=self.noise,
            model_kwargs=self._ground.model_kwargs,
            **shared,
        )


class Desks:
    """The desks of one run: one for measurements, and as many for jobs as run at once.

    Args:
        run: whose parameters are used.
        ground: the model and the graph that it was made with.
    """

    def __init__(self, run: Run, ground: Ground) -> None:
        self._ground = ground
        self._options = options_of(run.manifest["parameters"])
        self._noise = resolve(run.manifest["parameters"]["noise"], features_of(ground.x))
        self.measuring = self._made()  # says now if the parameters do not fit
        self._free: LifoQueue[Desk] = LifoQueue()

    @property
    def options(self) -> Mapping[str, Any]:
        """The run's own, as `Zorro` takes them."""
        return self._options

    def take(self) -> Desk:
        """Return a desk that nobody else works at."""
        try:
            return self._free.get_nowait()
        except Empty:
            return self._made()

    def give_back(self, desk: Desk) -> None:
        """Let others use a desk."""
        self._free.put(desk)

    def _made(self) -> Desk:
        return Desk(self._ground, self._noise, self._options)
