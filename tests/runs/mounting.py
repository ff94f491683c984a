"""Disks that are full or read-only, where the system lets tests mount some."""

from __future__ import annotations

import subprocess


def can_mount() -> bool:
    """Whether a process may mount what only it sees."""
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
