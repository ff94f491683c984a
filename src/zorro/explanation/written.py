"""How numbers are written: rounded once, by one rule, so that text, page and figure agree."""

from __future__ import annotations

import math

from zorro.evaluation.estimate import FidelityEstimate

_ROUNDING = 1e-9  # of what is a number with so many digits
NBSP = "\N{NO-BREAK SPACE}"  # numbers do not part from what they count


def rounded(value: float, digits: int) -> float:
    """Return a number rounded to so many decimals, what lies between two away from zero.

    The pages' own rule, step by step (`zorro.rounded` in `wording.js`), since Python and JavaScript
    each round .125 in a way of their own.

    >>> rounded(0.125, 2), rounded(-0.125, 2)
    (0.13, -0.13)
    """
    if not math.isfinite(value):
        return value
    scale = 10.0**digits
    return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)


def hundredths(value: float, *, signed: bool = False) -> str:
    """Return a number with two decimals."""
    short = rounded(value, 2) + 0.0  # no −0
    return f"{short:+.2f}" if signed else f"{short:.2f}"


def at_least(bound: float, digits: int = 2) -> str:
    """Return a lower bound, rounded down: what is written was shown.

    >>> at_least(0.8567), at_least(0.85, 3)
    ('≥ 0.85', '≥ 0.850')
    """
    scale = 10.0**digits
    return f"≥ {math.floor(bound * scale + _ROUNDING) / scale:.{digits}f}"


def probability(value: float) -> str:
    """Return a probability with two decimals, and never 1.00 for what is less.

    >>> probability(0.926), probability(0.9973), probability(0.001)
    ('0.93', '> 0.99', '< 0.01')
    """
    if 0.995 <= value < 1:
        return "> 0.99"
    return "< 0.01" if value < 0.005 else hundredths(value)


def percent(share: float) -> str:
    """Return a share in percent, with one decimal where there is one."""
    return f"{rounded(100 * share, 1):g}{NBSP}%"


def times(lift: float) -> str:
    """Return how many times as often something is: two digits, or whole numbers.

    >>> times(123.4), times(12.5), times(0.123)
    ('123', '13', '0.12')
    """
    if lift >= 10:
        return f"{rounded(lift, 0):,.0f}"
    if lift <= 0:
        return "0"
    return f"{rounded(lift, 1 - math.floor(math.log10(lift))):g}"


def shortened(name: str, most: int) -> str:
    """Return a name cut in its middle where it is long: beginning and end tell names apart.

    >>> shortened("Proceedings of the 7th Conference", 21)
    'Proceeding…Conference'
    """
    half = max(1, (most - 1) // 2)
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def interval(estimate: FidelityEstimate) -> str:
    """Return a fidelity with the ends of its interval."""
    return (
        f"{hundredths(estimate.value)} [{hundredths(estimate.lower)}, {hundredths(estimate.upper)}]"
    )
