"""The command line in a process of its own that need not import torch again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path


class Forked:
    """A process that is forked off this one, which has imported what it needs.

    It is a process like any other to those who kill it or send it signals, and its stderr can be
    read. What is tested of a start from nothing needs `subprocess`. It ends with its `with`.

    Args:
        does: in the process; what it raises ends it.
        folder: in which it does that.
    """

    def __init__(self, does: Callable[[], object], *, folder: Path | None = None) -> None:
        read, write = os.pipe()
        folder = folder or Path.cwd()
        self._process = multiprocessing.get_context("fork").Process(
            target=_do, args=(does, folder, read, write)
        )
        self._process.start()
        os.close(write)
        self.stderr = os.fdopen(read)
        self.pid = self._process.pid

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()
        self.wait()
        self.stderr.close()

    def send_signal(self, number: int) -> None:
        assert self.pid is not None  # it has been started
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float | None = None) -> int:
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"it has not ended after {seconds} s"
        return self._process.exitcode


def zorro_command(*words: object, folder: Path | None = None) -> Forked:
    """Start `zorro` with the words given."""
    from zorro.cli import main

    return Forked(lambda: main([str(word) for word in words]), folder=folder)


def _do(does: Callable[[], object], folder: Path, read: int, write: int) -> None:
    os.close(read)
    os.dup2(write, 2)
    os.close(write)
    # pytest replaces these and has what they write.
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with chdir(folder):
        does()
