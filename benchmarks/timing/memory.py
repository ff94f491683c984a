"""What a process holds in memory, as Linux tells it."""

from __future__ import annotations

from pathlib import Path


def held_mb(label: str = "VmRSS", *, process: int | str = "self") -> float:
    """Return a process's resident memory in MB.

    Args:
        label: `"VmRSS"` for what it holds now, `"VmHWM"` for the most it has held (the kernel's
            own mark, since `getrusage` begins with the parent's), `"RssFile"` for pages of files.
        process: its id; this one by default.
    """
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(f"{label}:"))
    return int(line.split()[1]) / 1024


def forget_peak(*, process: int | str = "self") -> None:
    """Let `"VmHWM"` begin anew with what the process holds now."""
    Path(f"/proc/{process}/clear_refs").write_text("5")
