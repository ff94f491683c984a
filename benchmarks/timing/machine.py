"""What a measurement ran on."""

from __future__ import annotations

import importlib
import os
import platform
from pathlib import Path

import torch

from zorro.version import __version__

PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "safetensors")


def describe(device: str = "cpu") -> dict[str, str]:
    """Return the machine and the versions in use, in words."""
    versions = {name: _version(name) for name in PACKAGES}
    machine = f"{_processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} thread(s) used"
    if device != "cpu":
        machine = f"{torch.cuda.get_device_name()} ({machine})"
    return {
        "machine": machine,
        "versions": f"zorro {__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def _version(package: str) -> str:
    try:
        return str(importlib.import_module(package).__version__)
    except ImportError as error:
        return f"missing ({error})"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
