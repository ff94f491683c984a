"""A process that prepares one method for one cell and then answers query by query.

    python -m dense_graphs.worker '{"cell": …, "method": …, "warm_up": …, "folder": …}'

Which checkout of the library it runs is the environment's to say. A request is a line of JSON with
the method's arguments, an answer a line with what was measured, or with the error; the first answer
says that it is ready.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from dense_graphs.cells import CELLS
from dense_graphs.graphs import load
from dense_graphs.methods import PREPARE, Timed
from dense_graphs.training import loaded


def main() -> None:
    """Answer until there are no more requests."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer

    def answer(row: dict[str, Any]) -> None:
        print(json.dumps(row), file=answers, flush=True)

    try:
        started = time.perf_counter()
        timed = _prepared(json.loads(sys.argv[1]))
        took = time.perf_counter() - started
        ctypes.CDLL(None).malloc_trim(0)  # so that what was freed is not taken for free
        answer({"set_up_seconds": took})
    except Exception as error:
        answer(_failure(error))
        return
    for request in sys.stdin:
        try:
            answer(timed(**json.loads(request)))
        except Exception as error:
            answer(_failure(error))


def _prepared(asked: dict[str, Any]) -> Timed:
    cell = CELLS[asked["cell"]]
    folder = Path(asked["folder"])
    graph = load(cell.graph, folder)
    return PREPARE[asked["method"]](cell, loaded(cell, graph, folder), asked["warm_up"])


def _failure(error: Exception) -> dict[str, str]:
    return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
