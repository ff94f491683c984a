"""Models asked where their answer is nearly another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from honesty_audit.audit import Case
from zorro import Explanation, Zorro

# A step of the search needs fewer samples than the final figure, which is to be told from others.
SAMPLES = {"k": 3, "fresh_samples": 1000}
AMONG = 10  # of so many queries in order of their margins one is asked about


@dataclass(frozen=True)
class HardCase:
    """A trained model that is asked about narrow decisions first."""

    base: Case

    @property
    def name(self) -> str:
        """Of the kind of model."""
        return self.base.name

    @property
    def predicted(self) -> Tensor:
        """The classes of all queries."""
        return self.base.predicted

    @property
    def margins(self) -> Mapping[Any, float]:
        """How far each query's answer is from another one."""
        return self.base.margins

    def queries(self, count: int) -> list[Any]:
        """Return a tie if there is one, a narrow decision, one of the base's own, and so on."""
        own = self.base.queries(count)
        by_margin = sorted(self.margins, key=self.margins.__getitem__)
        ties = [query for query in by_margin if self.margins[query] == 0]
        near = by_margin[len(ties) :]
        chosen: list[Any] = []
        for turn in range(count):
            if near:
                chosen += ties[turn : turn + 1] or near[turn : turn + 1]
                at = (turn + 1) * max(len(near) // AMONG, 1)
                chosen += near[at : at + 1]
            chosen += own[turn : turn + 1]
        return list(dict.fromkeys(chosen))[:count]

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return self.base.zorro(**{**SAMPLES, **options})

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the answer, by the plain loop."""
        return self.base.hits(explanation, runs=runs, seed=seed)
