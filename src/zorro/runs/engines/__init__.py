"""The engines by name."""

from __future__ import annotations

from typing import Literal, get_args

from zorro.arguments import check_at_least, check_choice
from zorro.errors import InputError
from zorro.runs.engines.engine import Engine
from zorro.runs.engines.in_process import InProcess
from zorro.runs.engines.processes import Processes, usable_cores

__all__ = ["ENGINES", "Engine", "EngineName", "InProcess", "Processes", "engine_of"]

EngineName = Literal["auto", "in-process", "processes", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

# Worker processes take seconds to start: fewer queries are sooner done without.
_FEW = 8


def engine_of(
    name: str | Engine,
    *,
    queries: int,
    workers: int | None = None,
    threads: int = 1,
    address: str | None = None,
    gpus_per_worker: float = 0.0,
) -> Engine:
    """Return the engine that a name stands for.

    Args:
        name: of `ENGINES`; `"auto"` uses worker processes for more than a few queries, if there
            is more than one core. An engine is returned as it is.
        queries: how many are to be explained.
        workers: of `"processes"` and `"ray"`; as many as there are cores when None.
        threads: of torch in each worker.
        address: of the Ray cluster; one is started on this machine when None.
        gpus_per_worker: that each worker on Ray is to have, perhaps a part of one.
    """
    if not isinstance(name, str):
        return name
    check_choice("engine", name, ENGINES)
    if workers is not None:
        check_at_least("workers", workers, 1)
    if name != "ray" and (address is not None or gpus_per_worker):
        given = "address" if address is not None else "gpus_per_worker"
        raise InputError(f"{given}: expected engine='ray' with it, got engine={name!r}")
    if name == "auto":
        several = (usable_cores() if workers is None else workers) > 1
        name = "processes" if several and queries > _FEW else "in-process"
    if name == "in-process":
        return InProcess()
    if name == "processes":
        return Processes(workers, threads=threads)
    from zorro.runs.engines.ray_cluster import RayCluster

    return RayCluster(address, workers=workers, threads=threads, gpus_per_worker=gpus_per_worker)
