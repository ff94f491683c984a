"""Figures of explanations; each function returns a matplotlib `Figure`, and shows nothing."""

from __future__ import annotations

from zorro.plot.heat_map import features
from zorro.plot.neighbourhood import explanation
from zorro.plot.search_curve import curve
from zorro.plot.side_by_side import compare

__all__ = ["compare", "curve", "explanation", "features"]
