"""What the traced evaluator raises where it cannot serve."""

from __future__ import annotations


class Unserved(Exception):  # noqa: N818 - not an error of the caller's: the other evaluator serves
    """The traced evaluator cannot serve this model; the message says why."""
