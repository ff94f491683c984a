"""Figures of explanations; each function returns a matplotlib `Figure`, and shows nothing."""

from __future__ import annotations

from zorro.show.plot.audits import audit, compare_runs
from zorro.show.plot.heat_map import features
from zorro.show.plot.neighbourhood import explanation
from zorro.show.plot.search_curve import curve
from zorro.show.plot.side_by_side import compare

__all__ = ["audit", "compare", "compare_runs", "curve", "explanation", "features"]
