"""The other end of a worker: start it, ask it within a time limit, and measure its memory."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from timing.cells import Row
from timing.memory import forget_peak, held_mb

BENCHMARKS = Path(__file__).parents[1]
MOST_SET_UP = 900.0  # seconds


@dataclass
class Party:
    """One method on one cell in a process of its own, started when it is first asked.

    A query that takes too long ends the process; the next one starts another.

    Args:
        request: what the worker is to prepare.
        library: the checkout whose `src` it imports zorro from.
    """

    request: Row
    library: Path
    _process: subprocess.Popen[str] | None = None
    _set_up: Row = field(default_factory=dict)

    def ask(self, limit: float, **arguments: Any) -> Row:
        """Return what the worker measured, and its memory.

        Args:
            limit: seconds; the answer is `{"over": limit}` where they were not enough.
            arguments: of the method.
        """
        if self._process is None:
            self._start()
        process = self._process
        if process is None:
            return self._set_up
        assert process.stdin is not None
        forget_peak(process=process.pid)
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        answered = _line(process, limit)
        memory: Row = {}
        if process.poll() is None:
            peak = held_mb("VmHWM", process=process.pid)
            memory = {"peak_mb": peak, "peak_above_mb": peak - self._set_up["before_mb"]}
        if answered is None:
            self.end()
            return {"over": limit, **memory}
        if not answered:
            return self._died()
        return {**json.loads(answered), **memory, **self._set_up}

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        paths = [str(self.library / "src"), str(BENCHMARKS)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dense_graphs.worker", json.dumps(self.request)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        )
        answered = _line(self._process, MOST_SET_UP)
        if answered is None:
            self._set_up = {"error": f"not ready after {MOST_SET_UP:.0f} s"}
        else:
            self._set_up = json.loads(answered) if answered else self._died()
        if "error" in self._set_up:
            self.end()
        else:
            self._set_up["before_mb"] = held_mb(process=self._process.pid)

    def _died(self) -> Row:
        assert self._process is not None
        code = self._process.wait()
        self._process = None
        return {"error": f"the process died (exit code {code})"}


def _line(process: subprocess.Popen[str], limit: float) -> str | None:
    """Return the process's next line, empty where it has died, None where it takes too long."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], limit)
    return process.stdout.readline() if ready else None
