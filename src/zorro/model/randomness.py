"""Seeded randomness for code that can only draw from torch's global generators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Seed torch's generators of the CPU and of `device` inside, and restore them afterwards.

    Layer initialisation and dropout accept no generator of their own.
    """
    cuda = [device] if device is not None and device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        # torch.manual_seed would also reseed every other device, which nothing restores.
        torch.default_generator.manual_seed(seed)
        for forked in cuda:
            with torch.cuda.device(forked):
                torch.cuda.manual_seed(seed)
        yield
