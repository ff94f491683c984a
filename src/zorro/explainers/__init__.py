"""The methods that Zorro is compared with, one file each behind one protocol."""

from __future__ import annotations

from zorro.explainers.masks import Masks
from zorro.explainers.registry import Method, build, method, methods
from zorro.explainers.subject import Subject

__all__ = ["Masks", "Method", "Subject", "build", "method", "methods"]
