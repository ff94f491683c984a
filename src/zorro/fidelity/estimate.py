"""A share of hits with an exact interval."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import beta


@dataclass(frozen=True)
class FidelityEstimate:
    """RDT-fidelity as measured: `hits` of `samples` perturbed inputs kept the prediction.

    The interval is Clopper and Pearson's: it holds the true fidelity with at least the stated
    confidence, whatever the number of samples, if the samples were not used to choose the set.

    >>> FidelityEstimate(hits=87, samples=100)
    FidelityEstimate(0.870 [0.788, 0.929], 87/100)
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
        if self.hits == 0:
            return 0.0
        tail = (1 - self.confidence) / 2
        return float(beta.ppf(tail, self.hits, self.samples - self.hits + 1))

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        if self.hits == self.samples:
            return 1.0
        tail = (1 - self.confidence) / 2
        return float(beta.ppf(1 - tail, self.hits + 1, self.samples - self.hits))

    def __repr__(self) -> str:
        return (
            f"FidelityEstimate({self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}], "
            f"{self.hits}/{self.samples})"
        )
