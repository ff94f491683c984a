"""The errors zorro raises on purpose: each says what was expected, what came, and what to do."""

from __future__ import annotations


class ZorroError(Exception):
    """Base of every error that zorro raises on purpose."""


class InputError(ZorroError, ValueError):
    """An argument is not what it must be."""


class ModelError(ZorroError, RuntimeError):
    """The model raised, is not deterministic in eval mode, or returned something unusable."""


class CheckpointError(ZorroError, ValueError):
    """A checkpoint is missing, unreadable, or does not fit the model."""


class DatasetError(ZorroError, RuntimeError):
    """A data set could not be found, downloaded, read or written."""


class MissingExtraError(ZorroError, ImportError):
    """An optional part of zorro was used but the packages it needs are not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs packages that are not installed: pip install 'zorro-gnn[{extra}]'"
        )


class RunError(ZorroError, RuntimeError):
    """A run's folder cannot be used, or its workers cannot work."""
