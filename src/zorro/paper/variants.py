"""The methods in the tables."""

from __future__ import annotations

from collections.abc import Sequence

from zorro.paper.cells import NodeCell
from zorro.paper.experiment import Settings
from zorro.paper.graph_jobs import GraphMethodJob
from zorro.paper.jobs import PAPER_TAU, MethodJob, Variant
from zorro.paper.measuring import is_kept

ZORRO = tuple(
    Variant(f"zorro {name}", "zorro-paper", {"tau": tau}) for name, tau in PAPER_TAU.items()
)
OTHERS = tuple(
    Variant(name, name)
    for name in ("gnnexplainer", "pgm", "pgexplainer", "subgraphx", "grad", "grad-input", "empty")
)
GUIDED = Variant("guided .85", "zorro", {"tau": 0.85})


def variants_of(settings: Settings) -> tuple[Variant, ...]:
    """Return all methods, a user's own last."""
    return (*OTHERS, *ZORRO, GUIDED, *settings.own)


def in_both_settings(
    cell: NodeCell, variant: Variant, measure: str = "as given"
) -> dict[str, MethodJob]:
    """Return a method's jobs by setting: the published one, and ours."""
    return {
        "reference": MethodJob(cell, variant.referring(), measure),
        "ours": MethodJob(cell, variant, measure),
    }


def wanted(
    job: MethodJob | GraphMethodJob,
    settings: Settings,
    *,
    without: Sequence[str] = (),
    on_demand: Sequence[str] = (),
) -> bool:
    """Whether a job is asked for: by its method's name, or by its own, the setting included.

    Args:
        job: which.
        settings: what is asked for.
        without: methods that are left out unless they are named.
        on_demand: methods that are measured only if they are named; what is kept of them is
            reported even so.
    """
    name = job.variant.name
    if job.variant.source is not None:
        return True
    if settings.methods is not None:
        return name in settings.methods or job.name in settings.methods
    if name in on_demand:
        return not settings.measures and is_kept(job, settings)
    return name not in without
