"""What happens on the Ray clusters of `ray_in_namespace.py`, waited for scenario by scenario.

Each scenario has a limit of its own, so that a busy machine has time for all of them, and one that
hangs is named. `ZORRO_TEST_PATIENCE=3` makes the limits three times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

SECONDS = 300 * float(os.environ.get("ZORRO_TEST_PATIENCE", "1"))  # a few are enough when idle


class Scenarios:
    """A process that runs scenarios one after the other and leaves word of each in a folder.

    Args:
        process: which ends with the last of them.
        folder: in which `begun` names the scenarios so far, and NAME.json says what happened.
        limit: seconds for each of them.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], folder: Path, *, limit: float = SECONDS
    ) -> None:
        self._process = process
        self._folder = folder
        self._limit = limit
        self._seen = ""
        self._since = time.monotonic()
        self._hung: str | None = None

    def __getitem__(self, name: str) -> Any:
        """Return what happened in a scenario, once it has ended; fail the test if it does not."""
        path = self._folder / f"{name}.json"
        while not path.exists():
            if self._hung is not None:
                pytest.fail(f"{name!r} was not begun: {self._hung}")
            if self._process.poll() is not None and not path.exists():
                self._hung = f"{self._now()} ended the process ({self._process.returncode})"
                pytest.fail(f"{self._hung}: {self._said()}")
            if self._is_late():
                self._process.kill()
                self._hung = f"{self._now()} had not ended after {self._limit:g} s"
                pytest.fail(
                    f"{self._hung}: on a slow machine set ZORRO_TEST_PATIENCE=3, or more. "
                    f"{self._said()}"
                )
            time.sleep(0.05)
        return json.loads(path.read_text())

    def _is_late(self) -> bool:
        if self._now() != self._seen:
            self._seen, self._since = self._now(), time.monotonic()
        return time.monotonic() - self._since > self._limit

    def _now(self) -> str:
        begun = self._folder / "begun"
        names = begun.read_text().splitlines() if begun.exists() else []
        return repr(names[-1]) if names else "the start of Python"

    def _said(self) -> str:
        return (self._folder / "stderr").read_text(errors="replace")[-3000:]
