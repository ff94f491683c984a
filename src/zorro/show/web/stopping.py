"""End a computation between two operations of torch, whatever it is in the middle of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

# What puts the thread back in order on the way out must not be stopped.
_RESTORING = {torch._C._set_grad_enabled}


class Stopped(BaseException):
    """The computation is not wanted any more.

    No `Exception`: what catches a model's errors is not to take it for one.
    """


class Stoppable(TorchFunctionMode):
    """Asks before each operation of this thread whether to go on.

    Searches and methods know nothing of it, and a model's forward pass can be ended too. It stops
    once: what is cleaned up on the way out is not stopped again.

    Args:
        check: raises `Stopped` when it is time.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check = check
        self._stopped = False

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run an operation if it is still wanted."""
        if not self._stopped and func not in _RESTORING:
            try:
                self._check()
            except Stopped:
                self._stopped = True
                raise
        return func(*args, **(kwargs or {}))
