"""Install a wheel into empty environments, and see that it works there.

    python tests/release/try_wheel.py dist [--extras cli,plot]

First without extras: the library explains a prediction, and the command says what it lacks. Then
with each of the light extras, one after the other. `make release` does this with what it has built.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).parent / "smoke.py"
LIGHT = ("cli", "plot", "runs", "web")  # ray and rdkit are large


def main() -> None:
    """Try what a folder holds, and say what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", default=",".join(LIGHT))
    given = parser.parse_args()
    (wheel,) = given.folder.glob("*.whl")
    (sdist,) = given.folder.glob("*.tar.gz")
    check_contents(wheel, sdist)
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "empty"
        venv.create(environment, with_pip=True)
        install(environment, str(wheel.absolute()))
        smoke(environment, "core", folder)
        for extra in filter(None, given.extras.split(",")):
            install(environment, f"{wheel.absolute()}[{extra}]")
            smoke(environment, extra, folder)


def check_contents(wheel: Path, sdist: Path) -> None:
    """Refuse archives that lack what the package reads, or hold what is nobody's business."""
    inside = zipfile.ZipFile(wheel).namelist()
    source = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/zorro").rglob("*.*")}
    source = {name for name in source if "__pycache__" not in name}
    missing = source - set(inside)
    assert not missing, f"{wheel.name} lacks {sorted(missing)[:5]}"
    others = [name for name in inside if not name.startswith(("zorro/", "zorro_gnn-"))]
    assert not others, f"{wheel.name} holds {others[:5]}"
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    for needed in ("LICENSE", "README.md", "pyproject.toml", "src/zorro/__init__.py"):
        assert any(name.endswith(f"/{needed}") for name in names), f"{sdist.name} lacks {needed}"
    print(f"{wheel.name}: {len(inside)} files; {sdist.name}: {len(names)}", flush=True)


def install(environment: Path, what: str) -> None:
    """Install something, with the versions that the project is tested with."""
    python = environment / "bin" / "python"
    constrained = ["--constraint", str(ROOT / "constraints.txt")]
    pip = [str(python), "-m", "pip", "install", "--quiet", *constrained]
    subprocess.run([*pip, what], check=True)


def smoke(environment: Path, extra: str, folder: str) -> None:
    """Run the smoke test of an extra, where no checkout is in sight."""
    python = environment / "bin" / "python"
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [str(python), "-W", "ignore", str(SMOKE.absolute()), extra],
        check=True,
        cwd=folder,
        env={**variables, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
    )
    print(f"{extra}: works", flush=True)


if __name__ == "__main__":
    main()
