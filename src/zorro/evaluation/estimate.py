"""A share of hits with an exact interval."""

from __future__ import annotations

from dataclasses import dataclass

from zorro.evaluation.evidence import clopper_pearson, level, lower_bound


@dataclass(frozen=True)
class FidelityEstimate:
    """RDT-fidelity as measured: `hits` of `samples` perturbed inputs kept the prediction.

    The interval holds the true fidelity with at least the stated confidence if the samples were
    not used to choose the set. For a number of samples that was fixed before it is Clopper and
    Pearson's. Those of a certificate are as many as it took, and other sets may have failed
    before: then it is one that holds at any number of samples, and for all sets together.

    >>> from zorro import FidelityEstimate
    >>> FidelityEstimate(hits=87, samples=100)
    FidelityEstimate(0.870 [0.788, 0.929], 87/100)

    Args:
        hits: inputs that kept the prediction.
        samples: how many inputs there were.
        confidence: of the interval.
        attempts: sets that the certificate has tested, this one last; 0 for samples that are not a
            certificate's.
    """

    hits: int
    samples: int
    confidence: float = 0.95
    attempts: int = 0  # sets that the certificate has tested, this one last; 0 for other samples

    @property
    def rests_on(self) -> str:
        """What samples were looked at."""
        return "the certificate's samples" if self.attempts else "fresh samples"

    @property
    def value(self) -> float:
        """The share of hits."""
        return self.hits / self.samples

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        if self.hits == 0:
            return 0.0
        if self.attempts:
            return lower_bound(self.hits, self.samples, self._tail)
        return clopper_pearson(self.hits, self.samples, self._tail)[0]

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        if self.hits == self.samples:
            return 1.0
        if self.attempts:
            return 1 - lower_bound(self.samples - self.hits, self.samples, self._tail)
        return clopper_pearson(self.hits, self.samples, self._tail)[1]

    @property
    def _tail(self) -> float:
        """The probability with which the fidelity may be beyond either end."""
        wrong = 1 - self.confidence
        return (level(wrong, self.attempts) if self.attempts else wrong) / 2

    def __repr__(self) -> str:
        return (
            f"FidelityEstimate({self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}], "
            f"{self.hits}/{self.samples})"
        )
