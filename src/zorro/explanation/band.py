"""A value in the band that it may not leave, as a small SVG for places that run no scripts."""

from __future__ import annotations

import math
from html import escape

_WIDTH, _HEIGHT, _MARGIN = 460, 58, 60
_LINE = 20  # where the band lies, from above
_ALLOWED, _END, _QUIET = "#9CC7E3", "#2F7FB5", "#808890"  # on light and on dark


def band(value: float, *, low: float, high: float, least: float | None = None) -> str:
    """Return the drawing: the band, the value in it, and the tolerance that would be enough below.

    Args:
        value: that the model says.
        low: least that it may be, −∞ if the band is open there.
        high: most that it may be, ∞ if the band is open there.
        least: how far it would have to be allowed to move at least, if that is known.
    """
    far = max(abs(end - value) for end in (low, high) if math.isfinite(end))
    reach = 1.3 * max(far, least or 0.0)
    per_unit = (_WIDTH / 2 - _MARGIN) / reach

    def at(number: float) -> float:
        return min(float(_WIDTH), max(0.0, _WIDTH / 2 + (number - value) * per_unit))

    ends = [end for end in (low, high) if math.isfinite(end)]
    marks = "".join(
        f'<line x1="{at(end):.1f}" x2="{at(end):.1f}" y1="{_LINE - 12}" y2="{_LINE + 12}" '
        f'stroke="{_END}" stroke-width="2"/>{_text(at(end), _HEIGHT - 4, f"{end:.4g}")}'
        for end in ends
    )
    would = ""
    if least is not None:
        left = value if math.isinf(low) else value - least
        right = value if math.isinf(high) else value + least
        would = (
            f'<path d="M{at(left):.1f} {_LINE + 13}v6M{at(left):.1f} {_LINE + 16}'
            f'H{at(right):.1f}m0 -3v6" stroke="{_QUIET}" stroke-width="1.5" fill="none"/>'
        )
    title = escape(f"{value:.4g}, allowed from {low:.4g} to {high:.4g}")
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{title}</title>'
        f'<rect x="{at(low):.1f}" y="{_LINE - 8}" width="{at(high) - at(low):.1f}" height="16" '
        f'fill="{_ALLOWED}" fill-opacity=".45"/>{marks}{would}'
        f'<circle cx="{_WIDTH / 2}" cy="{_LINE}" r="5" fill="currentColor"/>'
        f"{_text(_WIDTH / 2, _HEIGHT - 4, f'{value:.4g}')}</svg>"
    )


def _text(x: float, y: float, text: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="11" fill="currentColor" '
        f'text-anchor="middle">{escape(text)}</text>'
    )
