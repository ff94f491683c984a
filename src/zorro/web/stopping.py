"""End a computation between two operations of torch, whatever it is in the middle of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode


class Stopped(BaseException):
    """The computation is not wanted any more.

    No `Exception`: what catches a model's errors is not to take it for one.
    """


class Stoppable(TorchFunctionMode):
    """Asks before each operation of this thread whether to go on.

    Searches and methods know nothing of it, and a model's forward pass can be ended too.

    Args:
        check: raises `Stopped` when it is time.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check = check

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run an operation if it is still wanted."""
        self._check()
        return func(*args, **(kwargs or {}))
