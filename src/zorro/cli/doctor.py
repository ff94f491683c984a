"""`zorro doctor`: what is installed, what this machine has, and what a run here could use."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

import typer

from zorro.cli import terminal
from zorro.version import __version__

CORE = ("torch", "torch_geometric", "numpy", "scipy", "safetensors")
EXTRAS = {
    "cli": ("typer", "rich"),
    "plot": ("matplotlib", "networkx"),
    "runs": ("pandas", "pyarrow"),
    "ray": ("ray",),
    "web": ("fastapi", "uvicorn"),
    "molecules": ("rdkit",),
}
_FOLDERS = {
    "ZORRO_DATA": "downloaded data sets",
    "ZORRO_PAPER": "the paper's material",
    "ZORRO_MOLECULES": "benzene and crippen",
    "ZORRO_HETERO": "dblp",
}
_LISTED = 8  # of a folder's contents
_GIGA = 1e9

Line = tuple[str, str]  # what it is about, and what there is to say


def doctor() -> None:
    """Say what is installed, which devices there are, and what a run on this machine could use.

    Put its output into a report of a problem. Nothing is computed, changed or downloaded; the exit
    code is 1 if a package that zorro cannot do without is missing or broken.
    """
    terminal.results.print(
        f"zorro {__version__}, Python {platform.python_version()} on {platform.platform()}",
        markup=False,
    )
    broken = [name for name in CORE if not _can_be_imported(name)]
    about = ""
    for title, said in [*_packages(broken), *_folders(), *([] if broken else _machine())]:
        terminal.results.print(f"{'' if title == about else title:<9}  {said}", markup=False)
        about = title
    if broken:
        raise typer.Exit(1)


def _can_be_imported(package: str) -> bool:
    try:
        import_module(package)
    except Exception:  # a library that does not fit can raise anything while it is loaded
        return False
    return True


def _packages(broken: list[str]) -> Iterator[Line]:
    """Tell the versions of what is needed and of the extras."""
    for name in CORE:
        state = "cannot be imported: install it again" if name in broken else ""
        yield "needed", " ".join(filter(None, [_version(name) or f"{name} is missing", state]))
    for extra, packages in EXTRAS.items():
        versions = [_version(package) for package in packages]
        there = ", ".join(version for version in versions if version)
        missing = "" if all(versions) else f"not installed: pip install 'zorro-gnn[{extra}]'"
        yield "extras", f"{extra:<9}  {'; '.join(filter(None, [there, missing]))}"


def _version(package: str) -> str | None:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return None


def _folders() -> Iterator[Line]:
    """Tell where data sets are looked for, and what is there."""
    for variable, holding in _FOLDERS.items():
        value = os.environ.get(variable)
        if not value:
            yield "folders", f"{variable:<15}  not set ({holding})"
        elif not Path(value).is_dir():
            yield "folders", f"{variable:<15}  {value}, which is no folder"
        else:
            names = sorted(path.name for path in Path(value).iterdir())
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            yield "folders", f"{variable:<15}  {value}: {', '.join(names[:_LISTED])}{more}"


def _machine() -> Iterator[Line]:
    """Tell the devices, and what a run could use of them."""
    import torch

    from zorro.model.memory import available, default_budget
    from zorro.runs.engines.processes import usable_cores

    workers = usable_cores()
    free = available() / _GIGA
    yield "devices", f"cpu: {workers} cores for this process, {free:.1f} GB of memory free"
    for number in range(torch.cuda.device_count()):
        left, total = (size / _GIGA for size in torch.cuda.mem_get_info(number))
        name = torch.cuda.get_device_name(number)
        yield "devices", f"cuda:{number}: {name}, {left:.1f} of {total:.1f} GB free"
    if not torch.cuda.is_available():
        yield "devices", "cuda: none that this torch can use"
    share = default_budget(torch.device("cpu")) / _GIGA
    yield "a run", f"many queries: {workers} worker processes, one thread each"
    yield "a run", f"one explanation: up to {share:.1f} GB for an evaluation (`memory=`)"
    if torch.cuda.is_available():
        yield "a run", "a GPU helps with thousands of candidates, not with tens: --device cuda"
    if sys.platform != "linux":
        yield "a run", "tested on Linux alone"
