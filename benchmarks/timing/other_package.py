"""Another reimplementation of Zorro, `zorrito` from PyPI, on a few nodes.

It is installed without its dependencies into a folder of its own and is no dependency of ours.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from timing.cells import SAMPLES, TAU, Cell, K, Row, load, seconds

REQUIREMENT = "zorrito==0.3.0"


def install(folder: Path) -> str:
    """Install the package into `folder`; return the error, or nothing."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    done = subprocess.run([*command, str(folder), REQUIREMENT], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def measure(cell: Cell, node: int) -> Iterator[Row]:
    """Yield the time of one node's explanation; the package's folder is on the path."""
    zorrito = importlib.import_module("zorrito")
    loaded = load(cell)
    explainer = zorrito.Zorro(
        model=loaded.model, task="node", samples=SAMPLES, top_k=K, num_hops=2, seed=0
    )
    yield {}
    time, found = seconds(
        lambda: explainer.explain(
            x=loaded.x, edge_index=loaded.edge_index, node_idx=node, fidelity_threshold=TAU
        ),
        loaded,
    )
    yield {
        "node": node,
        "candidates": int(found[0].node_mask.numel()),
        "chosen_nodes": int(found[0].node_mask.sum()),
        "chosen_features": int(found[0].feature_mask.sum()),
        "fidelity": float(found[0].fidelity),
        "seconds": time,
    }
