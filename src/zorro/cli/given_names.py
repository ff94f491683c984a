"""What things are called, as the user says it, or else the data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zorro.cli.model_and_data import ModelAndData
from zorro.data.name_files import check_names, read_names
from zorro.graph.names import Names

_KINDS = {"class_names": "classes", "feature_names": "features", "node_names": "nodes"}


def chosen_names(on: ModelAndData, files: Mapping[str, Path | None]) -> Names:
    """Return the data set's names, and those of files instead of some of them.

    Args:
        on: whose parts are named.
        files: of `class_names`, `feature_names` and `node_names`, those that are given.
    """
    given: dict[str, Any] = {
        _KINDS[option]: read_names(path, _KINDS[option])
        for option, path in files.items()
        if path is not None
    }
    names = replace(on.data.names, **given)
    check_names(
        names, nodes=on.data.num_nodes, features=on.data.num_features, classes=on.data.num_classes
    )
    return names
