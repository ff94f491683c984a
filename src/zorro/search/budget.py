"""How much a search may spend."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from zorro.elements import Selection


class BudgetSpent(Exception):  # noqa: N818 - no error: what was found so far is returned
    """The time is up."""


@dataclass
class Budget:
    """Limits of one query's search; None is no limit.

    `max_evaluations` counts perturbed inputs. The clock starts when the budget is made, and is
    looked at before each batch of work.
    """

    max_seconds: float | None = None
    max_elements: int | None = None
    max_evaluations: int | None = None
    started: float = field(default_factory=time.perf_counter)
    is_heeded: bool = True

    def is_spent(self, evaluations: int) -> bool:
        """Whether time or evaluations are used up."""
        if self.max_evaluations is not None and evaluations >= self.max_evaluations:
            return True
        return self.is_time_up

    @property
    def is_time_up(self) -> bool:
        """Whether the time is used up."""
        return (
            self.max_seconds is not None and time.perf_counter() - self.started >= self.max_seconds
        )

    def on_batch(self) -> None:
        """Raise `BudgetSpent` once the time is used up."""
        if self.is_heeded and self.is_time_up:
            raise BudgetSpent

    @contextmanager
    def unheeded(self) -> Iterator[None]:
        """Let something be finished that is short and must be done."""
        self.is_heeded = False
        try:
            yield
        finally:
            self.is_heeded = True

    def allows_more_than(self, selection: Selection) -> bool:
        """Whether a selection may have one more element."""
        return self.max_elements is None or selection.size < self.max_elements
