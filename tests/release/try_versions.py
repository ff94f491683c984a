"""Which versions of Python, torch and PyG work: a row of `docs/support.md` for each.

    python tests/release/try_versions.py --here [--extras cli,plot] [--tests]
    python tests/release/try_versions.py [ROW …] [--folder FOLDER] [--tests]

With `--here` the interpreter that runs this tries what it has: the smoke test of the library and of
some extras, the claims of `plain_check.py` against plain loops, and with `--tests` the tests of the
core, which need pytest and networkx. Without extras and tests it needs torch, torch_geometric,
numpy, scipy and safetensors, and zorro from this checkout, if it is not installed.

Otherwise environments are made, a wheel of this checkout is installed in each with the versions of
its row, and each tries itself. Interpreters are looked for as `python3.11` and so on; rows without
one are said to be left out. torch brings several GB of CUDA packages where there is no wheel
without them. The exit status is 1 if something failed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LIGHT = ("cli", "plot", "runs", "web")
CORE = ("torch", "torch_geometric", "numpy", "scipy", "safetensors")
CORE_TESTS = (
    *("tests/search", "tests/noise", "tests/cut", "tests/evaluation"),
    *("tests/test_hetero.py", "tests/test_edges.py"),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob("test_pyg*.py")),
)
HEAD = (
    "Python",
    *(name.replace("torch_geometric", "PyG") for name in CORE),
    "device",
    "smoke test",
    "plain loops",
    "tests of the core",
)


@dataclass(frozen=True)
class Row:
    """Versions that belong together, as pip has them; without any, the newest that it finds."""

    python: str
    pins: tuple[str, ...] = ()
    constraints: bool = False


_OLDEST = (
    *("torch==2.4.0", "torch_geometric==2.6.0", "numpy==1.26.0", "scipy==1.12.0"),
    *("safetensors==0.4.0", "typer==0.15.0", "rich==13.0.0", "matplotlib==3.8.0"),
    *("pyarrow==16.0.0", "fastapi==0.115.0", "uvicorn==0.32.0", "networkx==3.2", "setuptools"),
)
ROWS = {
    "oldest": Row("3.11", (*_OLDEST, "pandas==2.0.0")),
    "oldest-3.12": Row("3.12", (*_OLDEST, "pandas==2.1.1")),  # the first for this Python
    "developed": Row("3.11", constraints=True),
    "newest-3.12": Row("3.12"),
    "newest-3.13": Row("3.13"),
}


def main() -> int:
    """Try this interpreter, or make others and let them try themselves; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--here", action="store_true", help="this interpreter, and no other")
    parser.add_argument("--extras", default="", help="with --here, which ones to try")
    parser.add_argument("--tests", action="store_true", help="the tests of the core too; long")
    parser.add_argument("--folder", type=Path, help="keep the environments here")
    given = parser.parse_args()
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"rows: expected {', '.join(ROWS)}, got {', '.join(sorted(unknown))}")
    if given.here:
        line = as_row(tried_here([each for each in given.extras.split(",") if each], given.tests))
        print(line)
        return failed(line)
    print(as_row(HEAD), as_row(["---"] * len(HEAD)), sep="\n", flush=True)
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        wheel = built(Path(scratch))
        for name in given.rows or ROWS:
            folder = given.folder or Path(scratch)
            line = tried_apart(name, ROWS[name], wheel, folder, given.tests)
            print(line, flush=True)
            status |= failed(line)
    return status


def failed(line: str) -> int:
    """Return the exit status of a row: 1 if a trial or a test of it failed."""
    return int(bool(re.search(r"FAILED|\bfailed\b|\berrors?\b", line)))


def as_row(cells: list[str] | tuple[str, ...]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def tried_here(extras: list[str], tests: bool) -> list[str]:
    """Try the interpreter that runs this, and return its cells; what fails is said in its cell."""
    import torch

    on_gpu = torch.cuda.is_available()
    return [
        platform.python_version(),
        torch.__version__,  # with what it was built for
        *map(importlib.metadata.version, CORE[1:]),
        torch.cuda.get_device_name() if on_gpu else "CPU",
        smoke(extras),
        last_line([str(HERE / "plain_check.py")]),
        core_tests() if tests else "not run",
    ]


def smoke(extras: list[str]) -> str:
    """Run the smoke tests, and return what works and what does not."""
    library = f"import sys; sys.path.insert(0, {str(HERE)!r}); import smoke; smoke.library()"
    worked: list[str] = []
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:  # the explorer shows what the command made
        for name in ("library", *extras):
            command = ["-c", library] if name == "library" else [str(HERE / "smoke.py"), name]
            ran = run(command, folder)
            (worked if ran.returncode == 0 else failed).append(name)
            if ran.returncode:
                print(ran.stderr, file=sys.stderr)
    return "; ".join(
        f"{', '.join(names)}{said}" for names, said in ((worked, ""), (failed, " FAILED")) if names
    )


def last_line(command: list[str]) -> str:
    """Run something, and return the last line that it printed."""
    ran = run(command, ROOT)
    if ran.returncode:
        print(ran.stderr, file=sys.stderr)
        return "FAILED"
    return ran.stdout.strip().splitlines()[-1]


def core_tests() -> str:
    """Run the tests of the core, and return how many passed and failed."""
    pytest = ["-m", "pytest", "--quiet", "--color=no", "-p", "no:cacheprovider"]
    ran = run([*pytest, *CORE_TESTS], ROOT)
    summed_up = re.findall(r"^=* ?(\d.*?) in [\d.]+s", ran.stdout, re.M)
    if ran.returncode or not summed_up:
        print(ran.stdout[-5000:], ran.stderr[-2000:], file=sys.stderr)
    return re.sub(r", \d+ warnings?", "", summed_up[-1]) if summed_up else "FAILED"


def run(command: list[str], folder: str | Path) -> subprocess.CompletedProcess[str]:
    """Run this interpreter on something, with zorro from the checkout if it is not installed."""
    installed = any(Path(path, "zorro").is_dir() for path in sys.path if "site-packages" in path)
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    if not installed:
        variables["PYTHONPATH"] = str(ROOT / "src")
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
    )


def built(folder: Path) -> Path:
    """Return a wheel of this checkout."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*wheel, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def tried_apart(name: str, row: Row, wheel: Path, folder: Path, tests: bool) -> str:
    """Make an environment of a row's versions, and return the line that it gives of itself."""
    python = shutil.which(f"python{row.python}")
    if not python or subprocess.run([python, "--version"], capture_output=True).returncode:
        return f"{name}: left out, there is no python{row.python} here"
    environment = folder / name
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    inside = str(environment / "bin" / "python")
    wanted = [f"{wheel}[{','.join(LIGHT)}]", *row.pins]
    if tests:
        wanted += ["pytest", "networkx"]
    if row.constraints:
        wanted += ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([inside, "-m", "pip", "install", "--quiet", *wanted], check=True)
    again = [inside, str(Path(__file__)), "--here", "--extras", ",".join(LIGHT)]
    ran = subprocess.run(
        [*again, *(["--tests"] if tests else [])], stdout=subprocess.PIPE, text=True
    )
    return ran.stdout.strip() or f"{name}: FAILED, it ended with {ran.returncode}"


if __name__ == "__main__":
    sys.exit(main())
