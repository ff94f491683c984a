"""Figures, in `zorro.show.plot`: kept under its first name."""

from zorro.show.plot import compare, curve, explanation, features

__all__ = ["compare", "curve", "explanation", "features"]
