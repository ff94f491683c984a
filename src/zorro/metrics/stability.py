"""How little an explanation's validity varies with what is not selected."""

from __future__ import annotations

from zorro.errors import InputError


def stability(fidelity: float) -> float:
    """Stability of an explanation whose RDT-fidelity is `fidelity`.

    γ = 1 / (1 + Var(Y)), Y the validity under random values outside the explanation
    (Section 3.3, Definition 3). Y is a Bernoulli variable with mean p, the RDT-fidelity, so
    γ = 1 / (1 + p (1 − p)) (Section 4.1, Theorem 1). It is 1 at p = 1 and also at p = 0: an
    explanation that is never valid does not vary either, so read it beside the fidelity.

    Args:
        fidelity: the RDT-fidelity, between 0 and 1.

    Example:
        >>> from zorro.metrics import stability
        >>> stability(0.5)
        0.8
        >>> stability(1.0)
        1.0

    """
    if not 0.0 <= fidelity <= 1.0:
        raise InputError(f"fidelity: expected a probability between 0 and 1, got {fidelity}")
    return 1.0 / (1.0 + fidelity * (1.0 - fidelity))
