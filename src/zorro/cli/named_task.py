"""A task by names, for workers on machines that must load data set and model themselves."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zorro.cli.model_and_data import load
from zorro.errors import InputError
from zorro.runs.task import Answer


@dataclass(frozen=True)
class NamedTask:
    """What is asked of every query, by names: a worker on another machine loads it itself.

    Args:
        named: options of `load`.
        options: further options of `Zorro`.
        question: further options of `Zorro.explain`.
        digests: of the data and the model that the names must lead to.
    """

    named: Mapping[str, Any]
    options: Mapping[str, Any]
    question: Mapping[str, Any]
    digests: tuple[str, str]

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains a query."""
        loaded = load(**self.named, announced=False)
        for what, here, there in zip(
            ("data set", "model"), loaded.digests, self.digests, strict=True
        ):
            if here != there:
                raise InputError(
                    f"{loaded.description}: expected the {what} that is where the run was started "
                    f"(digest {there[:12]}), got another on {platform.node()} ({here[:12]}): copy "
                    "it there"
                )
        return loaded.task(self.options, self.question).open(workers=workers)
