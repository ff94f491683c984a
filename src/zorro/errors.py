"""The errors zorro raises on purpose: each says what was expected, what came, and what to do."""

from __future__ import annotations

from typing import ClassVar

TROUBLESHOOTING = "docs/troubleshooting.md"


class ZorroError(Exception):
    """Base of every error that zorro raises on purpose.

    >>> from zorro import ZorroError
    >>> from zorro.data import load
    >>> try:
    ...     load("kora")
    ... except ZorroError as error:
    ...     print(type(error).__name__)
    InputError
    """

    section: ClassVar[str | None] = None  # of the page on troubleshooting, that says more


class InputError(ZorroError, ValueError):
    """An argument is not what it must be.

    >>> from zorro.data import load_graphs
    >>> load_graphs([])
    Traceback (most recent call last):
        ...
    zorro.errors.InputError: graphs: expected at least one graph, got none
    """


class ModelError(ZorroError, RuntimeError):
    """The model raised, is not deterministic in eval mode, or returned something unusable.

    >>> import torch
    >>> from zorro import Zorro
    >>> x, edge_index = torch.eye(3), torch.tensor([[0, 1], [1, 2]])
    >>> Zorro(lambda x, edge_index: x / 0, x, edge_index).explain(2)
    Traceback (most recent call last):
        ...
    zorro.errors.ModelError: the model's output at node 2 is not usable: [nan, nan, inf]
    """

    section = "refused"


class CheckpointError(ZorroError, ValueError):
    """A checkpoint is missing, unreadable, or does not fit the model.

    >>> from zorro.models import build, checkpoint
    >>> checkpoint.load(build("gcn", 4, 2), "gcn.safetensors")
    Traceback (most recent call last):
        ...
    zorro.errors.CheckpointError: there is no file gcn.safetensors: check the path
    """


class DatasetError(ZorroError, RuntimeError):
    """A data set could not be found, downloaded, read or written.

    >>> from zorro.data import load
    >>> load("mine.npz")
    Traceback (most recent call last):
        ...
    zorro.errors.DatasetError: there is no file mine.npz: check the path
    """


class MissingExtraError(ZorroError, ImportError):
    """An optional part of zorro was used but the packages it needs are not installed.

    >>> from unittest.mock import patch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [11], out="runs/votes")
    >>> with patch.dict("sys.modules", pandas=None):  # as where pandas is not installed
    ...     run.frame()  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    zorro.errors.MissingExtraError: a data frame needs packages that are not installed:
    pip install 'zorro-gnn[runs]'
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs packages that are not installed: pip install 'zorro-gnn[{extra}]'"
        )


class RunError(ZorroError, RuntimeError):
    """A run's folder cannot be used, or its workers cannot work.

    >>> from zorro import open_run
    >>> open_run("runs/cora")
    Traceback (most recent call last):
        ...
    zorro.errors.RunError: there is no run at runs/cora: check the path
    """
