"""The installed `zorro` in processes of its own: piped, in a terminal, and interrupted."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from zorro import open_run
from zorro.runs.folder import is_run

ZORRO = Path(sys.executable).with_name("zorro")


def start(*words, **options) -> subprocess.Popen[str]:
    command = [str(word) for word in (ZORRO, *words)]
    return subprocess.Popen(command, text=True, **options)


def in_a_terminal(*words) -> tuple[int, str]:
    """Run `zorro` on a pseudo-terminal of 80 columns and return its exit code and its output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = start(*words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(), shown.decode()


def test_explaining_in_a_terminal(checkpoint, tmp_path):
    results = tmp_path / "out"
    words = ["--nodes", "5,21", "--samples", "20", "--out", results]
    code, shown = in_a_terminal("explain", "--checkpoint", checkpoint, *words)
    assert code == 0, shown
    assert [explanation.node for explanation in open_run(results)] == [5, 21]
    assert "rests on nodes" in shown
    assert "0/2" in shown  # the bar
    assert re.search(r"\x1b\[32m +0 ✓", shown)  # in green


def test_ctrl_c_keeps_what_is_written(checkpoint, tmp_path):
    results = tmp_path / "out"
    words = [
        "--nodes",
        "all",
        "--fresh-samples",
        "30000",
        "--out",
        results,
        "--engine",
        "in-process",
    ]
    process = start("explain", "--checkpoint", checkpoint, *words, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (is_run(results) and len(open_run(results))):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 130, stderr
    kept = len(open_run(results))
    assert 0 < kept < 40
    assert f"{kept} of 40 nodes are explained and kept in {results}; the same command" in stderr
    assert "Traceback" not in stderr


def test_an_error_is_one_line_and_exit_code_1():
    process = start("explain", "--nodes", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout) == (1, "")
    assert stderr.startswith("zorro: error: --dataset: expected a name, got none")
    assert stderr.count("\n") == 1
