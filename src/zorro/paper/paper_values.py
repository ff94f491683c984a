"""The published values, a file for each of the paper's tables, named after its label."""

from __future__ import annotations

import csv
from importlib.resources import files


def published(label: str) -> list[dict[str, str]]:
    """Return the rows of a table.

    >>> published("syn_runtime")[0]
    {'method': 'gnnexplainer', 'seconds': '0.30'}
    """
    path = files("zorro.paper") / "published" / f"{label}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def published_by(label: str, *names: str, value: str = "value") -> dict[tuple[str, ...], float]:
    """Return a table's values by the columns `names`."""
    return {tuple(row[name] for name in names): float(row[value]) for row in published(label)}
