"""Workers on a Ray cluster: on one machine or many, with GPUs or without."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from zorro.errors import InputError, RunError
from zorro.runs.engines.engine import AHEAD, MOST_DEATHS, Backlog
from zorro.runs.engines.ray_connection import connected
from zorro.runs.task import Outcome, Query, Task, answered
from zorro.version import __version__

_PATIENCE = 600.0  # seconds for a first worker: nodes may have to be started, a large graph read
_LONGEST_CAUSE = 300  # characters


class RayCluster:
    """Explains in actors of a Ray cluster; one that dies is replaced, its queries asked again.

    On a real cluster, start Ray on the nodes (`ray start --head`, then `ray start --address=…`),
    install the same version of zorro on each, with the module that defines the model, and run the
    driver on one of them with `address="auto"` or `"host:6379"`. A task that reads graph and model
    from files finds them by their paths, which must be valid on every node; one that holds them is
    sent to each node once.

    Nodes may come and go: a worker of a lost node is started elsewhere when there is room.

    Args:
        address: of the cluster; that in RAY_ADDRESS when None, and without one a cluster is
            started on this machine. A connection that there is already (`ray.init`) is used.
        workers: how many; as many as the cluster has room for when None.
        threads: of torch in each worker, which takes as many CPUs.
        gpus_per_worker: a whole number, or a part of one GPU that workers share.
    """

    name = "ray"

    def __init__(
        self,
        address: str | None,
        *,
        workers: int | None,
        threads: int = 1,
        gpus_per_worker: float = 0.0,
    ) -> None:
        if gpus_per_worker < 0 or (gpus_per_worker > 1 and gpus_per_worker % 1):
            raise InputError(
                "gpus_per_worker: expected a whole number or a part of one GPU, got "
                f"{gpus_per_worker!r}"
            )
        self.workers = workers
        self._address = address
        self._needs = Needs(threads, gpus_per_worker)

    def map(self, task: Task, queries: Iterable[Query]) -> Iterator[Outcome]:
        """Yield outcomes as they are finished."""
        backlog = Backlog(queries)
        first = backlog.next()
        if first is None:
            return  # a run that is complete needs no cluster
        backlog.take_back([first])
        cpus = None if self.workers is None else self.workers * self._needs.cpus
        with connected(self._address, cpus=cpus) as ray:
            count = _room(ray, self._needs) if self.workers is None else self.workers
            pool = _Pool(ray, count, self._needs, task)
            try:
                yield from pool.outcomes(backlog)
            finally:
                pool.stop()


@dataclass(frozen=True)
class Needs:
    """What a worker takes of its node."""

    cpus: int
    gpus: float

    def room(self, resources: Mapping[str, float]) -> int:
        """Return how many workers fit into a node."""
        room = int(resources.get("CPU", 0) // self.cpus)
        if not self.gpus:
            return room
        gpus = resources.get("GPU", 0)
        if self.gpus >= 1:
            return min(room, int(gpus // self.gpus))
        return min(room, int(gpus) * int(1 / self.gpus))

    def __str__(self) -> str:
        gpus = f" and {self.gpus:g} GPUs" if self.gpus else ""
        return f"{self.cpus} CPUs{gpus}"


class ExplainingActor:
    """A worker: opens the task once, then answers queries.

    Args:
        task: a list of one reference, so that what goes wrong in fetching it can be told.
        needs: of each worker.
        workers: in the whole cluster.
    """

    def __init__(self, task: list[Any], needs: Needs, workers: int) -> None:
        import ray

        torch.set_num_threads(needs.cpus)
        self._problem: str | None = None
        try:
            here = ray.get_runtime_context().get_node_id()
            rooms = (needs.room(n["Resources"]) for n in ray.nodes() if n["NodeID"] == here)
            self._answer = ray.get(task[0]).open(workers=min(workers, max([1, *rooms])))
        except Exception as error:
            text = " ".join(str(error).split())
            self._problem = f"a worker could not start: {type(error).__name__}: {text}"

    def start(self, driver: str) -> str | None:
        """Return why this worker cannot answer, None if it can."""
        if driver != __version__:
            return (
                f"a node of the cluster has zorro {__version__}, the driver has {driver}: install "
                "the same version on all"
            )
        return self._problem

    def answer(self, query: Query) -> Outcome:
        """Explain a query."""
        return answered(self._answer, query)


@dataclass
class _Worker:
    actor: Any
    starting: Any  # what tells that it can answer; None once it has
    held: list[tuple[Query, Any]] = field(default_factory=list)  # with what will be the outcome
    died_early: int = 0


class _Pool:
    def __init__(self, ray: Any, count: int, needs: Needs, task: Task) -> None:
        self._ray = ray
        self._count = count
        self._needs = needs
        self._task = _stored(ray, task)
        # A dead actor is replaced by a new one, not restarted: Ray refuses calls in between.
        self._actors = ray.remote(
            num_cpus=needs.cpus,
            num_gpus=needs.gpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )(ExplainingActor)
        self._workers: list[_Worker] = []
        self._suspects: set[int] = set()

    def outcomes(self, backlog: Backlog) -> Iterator[Outcome]:
        """Hand out queries and yield what comes back, until nothing is left."""
        first = list(islice(iter(backlog.next, None), self._count))
        backlog.take_back(first)
        for _ in first:  # few queries need few workers
            self._workers.append(_Worker(*self._started()))
        while self._hand_out(backlog):
            for worker in self._heard():
                outcome = self._listen(worker, backlog)
                if outcome is not None:
                    self._hand_out(backlog)  # workers go on while the outcome is being kept
                    yield outcome

    def stop(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()

    def _started(self) -> tuple[Any, Any]:
        """Return a new actor, and what will tell that it can answer."""
        actor = self._actors.remote([self._task], self._needs, self._count)
        return actor, actor.start.remote(__version__)

    def _end(self, worker: _Worker) -> None:
        with suppress(Exception):  # it is gone already, or the whole cluster is
            self._ray.kill(worker.actor)

    def _hand_out(self, backlog: Backlog) -> bool:
        """Fill up workers evenly; return whether there is anything to wait for.

        What a dead worker held is asked alone: an outcome is lost if its worker dies just after,
        so that the first of several queries at hand need not be the one that killed it.
        """
        for room in range(AHEAD):
            for worker in self._workers:
                if worker.starting is not None or len(worker.held) > room:
                    continue
                if any(query.position in self._suspects for query, _ in worker.held):
                    continue
                query = backlog.next()
                if query is None:
                    return any(other.held for other in self._workers)
                if worker.held and query.position in self._suspects:
                    backlog.take_back([query])
                    return True
                worker.held.append((query, worker.actor.answer.remote(query)))
        if any(worker.held for worker in self._workers):
            return True
        query = backlog.next()
        if query is not None:
            backlog.take_back([query])
        return query is not None

    def _heard(self) -> list[_Worker]:
        """Return the workers that have started, finished a query or died."""
        # An actor answers in order, so that its first query is the one to wait for.
        sources = {
            worker.held[0][1] if worker.held else worker.starting: worker
            for worker in self._workers
            if worker.held or worker.starting is not None
        }
        some_work = any(worker.held for worker in self._workers)
        heard, _ = self._ray.wait(list(sources), timeout=None if some_work else _PATIENCE)
        if not heard:
            raise RunError(
                f"the Ray cluster has started no worker in {_PATIENCE:.0f} s, each of which needs "
                f"{self._needs}: see `ray status` for what it has, or ask for less"
            )
        heard, _ = self._ray.wait(list(sources), num_returns=len(sources), timeout=0)
        return [sources[source] for source in heard]

    def _listen(self, worker: _Worker, backlog: Backlog) -> Outcome | None:
        """Fetch what a worker has to say; if it has died, replace it."""
        try:
            if worker.starting is not None:
                problem = self._ray.get(worker.starting)
                if problem is not None:
                    raise RunError(problem)
                worker.starting = None
                worker.died_early = 0
                return None
            query, reply = worker.held[0]
            outcome: Outcome = self._ray.get(reply)
        except self._ray.exceptions.RayError as error:
            return self._replace(worker, backlog, _cause(error))
        del worker.held[0]
        self._suspects.discard(query.position)
        return outcome

    def _replace(self, worker: _Worker, backlog: Backlog, cause: str) -> Outcome | None:
        self._end(worker)  # it may only be out of reach
        held = [query for query, _ in worker.held]
        worker.held.clear()
        if worker.starting is not None:
            worker.died_early += 1
        if worker.died_early < MOST_DEATHS:
            worker.actor, worker.starting = self._started()
        else:
            self._workers.remove(worker)
        if not self._workers:
            raise RunError(
                f"workers on the Ray cluster end before they can start to work ({cause}): check "
                "that zorro is installed on its nodes, and that they have memory enough"
            )
        self._suspects.update(query.position for query in held)
        return backlog.after_death(held, cause)


def _room(ray: Any, needs: Needs) -> int:
    room = sum(needs.room(node["Resources"]) for node in ray.nodes() if node["Alive"])
    if room < 1:
        raise RunError(
            f"no node of the Ray cluster has what a worker needs, {needs}: ask for less, or give "
            "the number of workers if the cluster grows when asked to"
        )
    return room


def _stored(ray: Any, task: Task) -> Any:
    """Put the task where every node can get it."""
    try:
        return ray.put(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        text = " ".join(str(error).split())
        raise RunError(
            f"the model cannot be sent to a Ray cluster ({text}): define it in a module, without "
            "locks and open files, or use the engine in-process"
        ) from error


def _cause(error: Exception) -> str:
    """Return the part of one of Ray's long messages that tells why an actor died."""
    text = " ".join(str(error).split())
    text = text[max(0, text.find("The actor is dead")) :].split(" Some common causes")[0]
    return text if len(text) <= _LONGEST_CAUSE else f"{text[:_LONGEST_CAUSE]}…"
