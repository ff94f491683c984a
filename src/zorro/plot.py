"""Figures, in `zorro.show.plot`: kept under its first name."""

from zorro.show.plot import *  # noqa: F403
from zorro.show.plot import __all__ as __all__
