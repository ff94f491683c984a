"""Values as JSON has them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any


def plain(value: Any) -> Any:
    """Return a value as JSON has it: with what follows from its fields, and without infinities."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        told = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        derived = [
            name
            for name, kind in vars(type(value)).items()
            if isinstance(kind, property | cached_property) and not name.startswith("_")
        ]
        return {**told, **{name: plain(getattr(value, name)) for name in derived}}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
