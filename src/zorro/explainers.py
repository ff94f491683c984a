"""Other methods, in `zorro.methods`: kept under its first name."""

from zorro.methods import *  # noqa: F403
from zorro.methods import __all__ as __all__
