"""Which nodes and features a graph neural network's prediction rests on, and the proof of it."""

from zorro.version import __version__

__all__ = ["__version__"]
