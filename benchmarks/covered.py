"""What share of the library's lines and branches its tests run, package by package.

    python benchmarks/covered.py [--processes 2] [--out FILE] [TESTS …]

Runs all tests, or some files and folders, with every process that they start measured too, and
writes results/coverage.md, or another file; `make coverage` runs them all. A process that a test
kills leaves no record. Ends as the tests end.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIBRARY = "src/zorro/"
RESULTS = ROOT / "benchmarks" / "results" / "coverage.md"
SUMMARY = re.compile(r"^=* ?(\d.*?) in [\d.]+s.*$", re.M)


@dataclass
class Counts:
    """Of lines and branches, how many there are and how many were run."""

    lines: int = 0
    lines_run: int = 0
    branches: int = 0
    branches_run: int = 0

    def add(self, summary: dict[str, Any]) -> None:
        """Add those of one file."""
        self.lines += summary["num_statements"]
        self.lines_run += summary["covered_lines"]
        self.branches += summary["num_branches"]
        self.branches_run += summary["covered_branches"]

    def row(self, name: str) -> str:
        """Return a line of the table."""
        lines, branches = share(self.lines_run, self.lines), share(self.branches_run, self.branches)
        return f"| {name} | {self.lines:,} | {lines} | {self.branches:,} | {branches} |"


def share(run: int, there: int) -> str:
    """Return a share in per cent, rounded down so that 100 means all."""
    return f"{1000 * run // there / 10:.1f} %" if there else "—"


def measured(tests: list[str], processes: int, folder: Path) -> tuple[dict[str, Any], str, int]:
    """Run tests and return coverage's report, the line in which pytest sums up, and its status."""
    settings = folder / "settings.toml"
    settings.write_text(
        "[tool.coverage.run]\n"
        f"source = [{json.dumps(str(ROOT / LIBRARY))}]\n"
        f"data_file = {json.dumps(str(folder / 'data'))}\n"
        'branch = true\nparallel = true\npatch = ["subprocess"]\n'
        f"[tool.coverage.paths]\nsource = [{json.dumps(str(ROOT / LIBRARY))}]\n"
    )
    coverage = [sys.executable, "-m", "coverage"]
    options = [f"--rcfile={settings}"]
    spread = ["--numprocesses", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
    pytest = subprocess.run(
        [*coverage, "run", *options, "-m", "pytest", "--quiet", "--color=no", *spread, *tests],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    print(pytest.stdout, flush=True)
    subprocess.run([*coverage, "combine", "--quiet", *options], cwd=ROOT, check=True)
    report = folder / "report.json"
    subprocess.run([*coverage, "json", "--quiet", *options, "-o", report], cwd=ROOT, check=True)
    summed_up = SUMMARY.findall(pytest.stdout)
    return json.loads(report.read_text()), summed_up[-1] if summed_up else "?", pytest.returncode


def by_package(report: dict[str, Any]) -> dict[str, Counts]:
    """Add up files by the package, or the file, directly below the library."""
    counts: dict[str, Counts] = defaultdict(Counts)
    for path, told in report["files"].items():
        inner = Path(ROOT, path).relative_to(ROOT / LIBRARY).parts
        counts[f"{inner[0]}/" if len(inner) > 1 else inner[0]].add(told["summary"])
    return dict(sorted(counts.items()))


def table(report: dict[str, Any], tests: list[str], summed_up: str) -> str:
    """Return the page."""
    total = Counts()
    total.add(report["totals"])
    command = " ".join(["python benchmarks/covered.py", *tests])
    ran = "a part of the tests" if tests else "all tests but the slow ones"
    version = f"Python {platform.python_version()}, coverage {report['meta']['version']}"
    return "\n".join(
        [
            "# What the tests run",
            "",
            f"`{command}`, which ran {ran}: {summed_up}. {version}; processes that tests start are "
            "counted, those that tests kill are not.",
            "",
            "| of `src/zorro/` | lines | run | branches | taken |",
            "| --- | --: | --: | --: | --: |",
            *(counts.row(f"`{name}`") for name, counts in by_package(report).items()),
            total.row("**all**"),
            "",
        ]
    )


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", help="files and folders; all when left out")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report, summed_up, status = measured(given.tests, given.processes, Path(folder))
    given.out.write_text(table(report, given.tests, summed_up), encoding="utf-8")
    print(f"Written to {given.out}")
    return status


if __name__ == "__main__":
    sys.exit(main())
