"""Results that survive an interruption: one JSON file, written after each measurement."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timing.cells import Row
from timing.process import Measure, alone


class Store:
    """Measures what has not been measured yet.

    A measurement is known by its name and what was asked; one that failed is made again, one that
    ran out of time is not.

    Args:
        path: the JSON file.
        about: what stands beside the measurements (machine, versions, command).
        fresh: forget what the file holds.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, fresh: bool) -> None:
        self._path = path
        self._about = about
        self.jobs: dict[str, Row] = {}
        if path.exists() and not fresh:
            self.jobs = json.loads(path.read_text())["jobs"]

    def measured(
        self, name: str, measure: Measure, *arguments: Any, limit: float, **options: Any
    ) -> Row:
        """Return a measurement, made now in a process of its own unless it is known."""
        asked = json.loads(json.dumps([arguments, options], default=str))
        known = self.jobs.get(name)
        if known is not None and known["asked"] == asked and _usable(known["ended"]):
            return known
        print(f"{time.strftime('%H:%M:%S')} {name} …", flush=True)
        job = {"asked": asked, **alone(measure, *arguments, limit=limit, **options)}
        print(f"         {job['ended']}, {job['wall_seconds']:.0f} s", flush=True)
        self.jobs[name] = job
        self.write()
        return job

    def write(self, **more: Any) -> None:
        """Write everything; the file is replaced as a whole."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        content = {**self._about, **more, "jobs": self.jobs}
        part.write_text(rounded_json(content))
        part.replace(self._path)


def rounded_json(content: Mapping[str, Any]) -> str:
    """Return JSON that keeps six significant digits of every number."""
    return json.dumps(_rounded(content), indent=1) + "\n"


def _usable(ended: str) -> bool:
    return not ended.startswith(("failed", "the process died"))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
