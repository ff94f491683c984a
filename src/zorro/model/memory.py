"""How much memory an evaluation may take when nobody says."""

from __future__ import annotations

import os
from pathlib import Path

import torch

_FALLBACK = 1 << 30
_ENOUGH = 1 << 30  # on a CPU: larger batches and more that is kept were not seen to be faster
_KEPT = 1 << 30  # of a GPU's memory that a worker may keep from one query to the next


def default_budget(device: torch.device) -> int:
    """Return a quarter of the memory (bytes) that is free on a device now."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free) // 4
    return available() // 4


def worth_taking(memory: int, device: torch.device) -> int:
    """Return how much of a budget an evaluation takes where it has a choice."""
    return memory if device.type == "cuda" else min(memory, _ENOUGH)


def give_back_surplus() -> None:
    """Give back what torch keeps of a GPU's memory for later, if it is much: others need some."""
    used = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if used and torch.cuda.memory_reserved() > _KEPT:
        torch.cuda.empty_cache()


def available() -> int:
    """Return the memory that programs can still get without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError, IndexError):
        return 4 * _FALLBACK
