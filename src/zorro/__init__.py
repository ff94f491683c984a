"""Which nodes and features a graph neural network's prediction rests on, and the proof of it."""

from zorro.errors import ZorroError
from zorro.explainer import Zorro, rdt_fidelity
from zorro.explanation import Explanation
from zorro.fidelity import FidelityEstimate
from zorro.version import __version__

__all__ = ["Explanation", "FidelityEstimate", "Zorro", "ZorroError", "__version__", "rdt_fidelity"]
