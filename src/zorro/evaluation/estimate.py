"""A share of hits with an exact interval."""

from __future__ import annotations

from dataclasses import dataclass

from zorro.evaluation.evidence import clopper_pearson


@dataclass(frozen=True)
class FidelityEstimate:
    """RDT-fidelity as measured: `hits` of `samples` perturbed inputs kept the prediction.

    The interval, Clopper and Pearson's, holds the true fidelity with at least the stated confidence
    if the samples were held out: neither used to choose the set, nor as many as they are because
    of what they showed.

    >>> from zorro import FidelityEstimate
    >>> FidelityEstimate(hits=87, samples=100)
    FidelityEstimate(0.870 [0.788, 0.929], 87/100)

    Args:
        hits: inputs that kept the prediction.
        samples: how many inputs there were.
        confidence: of the interval.
    """

    hits: int
    samples: int
    confidence: float = 0.95

    @property
    def value(self) -> float:
        """The share of hits."""
        return self.hits / self.samples

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        return clopper_pearson(self.hits, self.samples, self._tail)[0]

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return clopper_pearson(self.hits, self.samples, self._tail)[1]

    @property
    def _tail(self) -> float:
        """The probability with which the fidelity may be beyond either end."""
        return (1 - self.confidence) / 2

    def __repr__(self) -> str:
        return (
            f"FidelityEstimate({self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}], "
            f"{self.hits}/{self.samples})"
        )
