"""How much one request, and all of them together, may ask for."""

from __future__ import annotations

SAMPLES = 1000  # of one measurement
SECONDS = 120.0  # of one explanation
DEFAULT_SECONDS = 30.0
MEASURING_SECONDS = 20.0
CONTEXT = 2000  # nodes of a drawing that are not selected
LISTED = 500  # candidates in one answer
SELECTED = 20_000  # nodes, or features, of a set
BODY = 256 * 1024  # bytes
JOBS = 2  # that run at once
WAITING_JOBS = 8
ENDED_JOBS = 32  # that are remembered
WAITING_MEASUREMENTS = 32
METERS = 8  # queries that stay ready to be measured
CONNECTIONS = 128
PATIENCE = 10.0  # seconds for a request to arrive whole, and for an answer to be read on
LARGEST_ID = 2**53 - 1  # what a browser can count to


def described() -> dict[str, int | float]:
    """Return the limits that a client may want to keep to."""
    return {
        "samples": SAMPLES,
        "max_seconds": SECONDS,
        "most": CONTEXT,
        "limit": LISTED,
        "selected": SELECTED,
        "jobs": JOBS,
        "waiting": WAITING_JOBS,
    }
