"""The server's addresses: runs, explanations, jobs and measurements."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import Field
from starlette.exceptions import HTTPException as PlainHTTPException

from zorro import question
from zorro.arguments import whole_numbers
from zorro.cut import ComputationalGraph
from zorro.elements import EDGES, FEATURES, KINDS, NODES, Kind
from zorro.elements.edges import EdgeLabel
from zorro.elements.groups import gathered
from zorro.errors import InputError, ModelError, RunError, ZorroError
from zorro.question.decision import Comparison
from zorro.show.kept_edges import KeptEdges
from zorro.show.page import payload
from zorro.show.page.address import ANY, address_of, query_at
from zorro.show.page.contents import reason
from zorro.show.web import limits
from zorro.show.web.candidates import LISTED
from zorro.show.web.comparing import compare
from zorro.show.web.guard import Access, Guard
from zorro.show.web.jobs import BusyError, Job, Jobs
from zorro.show.web.measuring import Measuring
from zorro.show.web.method_names import ZORRO
from zorro.show.web.schema import (
    Candidates,
    Drawing,
    ExplainRequest,
    Fidelity,
    FidelityRequest,
    Health,
    KeepRequest,
    Kept,
    Problem,
    Rows,
    RunEntry,
    Runs,
    Started,
    Values,
    ValuesRequest,
)
from zorro.show.web.served import Broken, Served
from zorro.version import __version__

logger = logging.getLogger(__name__)

_PAGE = Path(str(files("zorro.show.page").joinpath("static")))
_OWN = Path(str(files("zorro.show.web").joinpath("static")))
_POLL = 0.03  # seconds between two looks at a job
_KEEP_ALIVE = 15.0
_NO_PAGE = "<!doctype html><title>zorro</title><p>The explorer's page is not installed.</p>"

Offered = Sequence[Served | Broken]
RunNumber = Annotated[int, InPath(ge=0, le=limits.LARGEST_ID)]
NodeId = Annotated[int, Field(ge=0, le=limits.LARGEST_ID)]
QueryAddress = Annotated[str, InPath(pattern=ANY)]
# The nodes whose links a link is compared with, and among how many of the first it is to stay.
Among = Annotated[list[NodeId] | None, Query(max_length=limits.SELECTED)]
Top = Annotated[int, Query(ge=1, le=limits.SELECTED)]
JobId = Annotated[str, InPath(max_length=64)]


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    meanings = {
        400: "the body cannot be read",
        401: "the token is missing",
        403: "the request comes from elsewhere",
        404: "there is no such thing",
        409: "the run's graph and model are not at hand, or it is damaged",
        413: "the body is too long",
        422: "an argument is not what it must be",
        429: "too much is under way",
    }
    return {
        status: {"model": Problem, "description": meanings[status]}
        for status in (400, 401, 403, 413, 422, *statuses)
    }


def create_app(runs: Offered, *, access: Access | None = None, threads: int = 1) -> FastAPI:
    """Return the application; `state.jobs` are its jobs.

    Args:
        runs: what is served; a run's number is its place.
        access: who may ask.
        threads: of torch, per computation.
    """
    jobs, measuring = Jobs(threads=threads), Measuring(threads=threads)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        jobs.close()
        measuring.close()

    app = FastAPI(
        title="zorro",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.jobs = jobs
    app.add_middleware(Guard, access=access or Access())
    _add_errors(app)
    _add_page(app)
    _add_runs(app, runs, jobs)
    _add_live(app, runs, jobs, measuring)
    _add_jobs(app, jobs)
    return app


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def explorer() -> Response:
        page = _OWN / "explorer.html"
        return FileResponse(page, media_type="text/html") if page.is_file() else _no_page()

    app.mount("/static/page", StaticFiles(directory=_PAGE), name="page")
    if _OWN.is_dir():
        app.mount("/static", StaticFiles(directory=_OWN), name="static")


def _no_page() -> Response:
    return HTMLResponse(_NO_PAGE)


def _add_runs(app: FastAPI, runs: Offered, jobs: Jobs) -> None:
    @app.get("/api/health", responses=_problems())
    def health() -> Health:
        return Health(status="ok", version=__version__, jobs=jobs.count())

    @app.get("/api/runs", responses=_problems())
    def list_runs() -> Runs:
        entries = [_entry(number, served) for number, served in enumerate(runs)]
        return Runs(
            runs=entries,
            live=any(entry.live for entry in entries),
            limits=limits.described(),
        )

    @app.get("/api/runs/{run}/rows", response_model=Rows, responses=_problems(404, 409))
    def rows(run: RunNumber) -> Response:
        served = _served(runs, run)
        return JSONResponse(
            {
                "rows": served.rows(),
                "found": served.found_rows(),
                "failures": served.failures(),
                "unreadable": served.unreadable(),
            }
        )

    @app.get(
        "/api/runs/{run}/queries/{query}",
        response_model=dict[str, Any],
        responses=_problems(404, 409),
    )
    def kept(run: RunNumber, query: QueryAddress) -> Response:
        served = _served(runs, run)
        detail = served.kept_detail(query_at("query", query, served.run.about))
        if detail is None:
            kind = served.run.about.kind
            raise HTTPException(404, f"query: the run holds no explanation of {kind} {query}")
        return JSONResponse(detail)


def _entry(number: int, served: Served | Broken) -> RunEntry:
    """Return what is said of a run; whatever is wrong with it concerns no other."""
    try:
        if isinstance(served, Broken):
            raise RunError(served.reason)
        return RunEntry(
            id=number,
            name=served.name,
            path=served.path,
            broken=None,
            summary=served.summary(),
            labels=served.labels(),
            live=served.live,
            missing=served.missing,
            queries=served.queries,
            methods=list(served.methods),
        )
    except Exception as error:
        return RunEntry(
            id=number,
            name=served.path,
            path=served.path,
            broken=reason(error),
            summary={},
            labels={},
            live=False,
            missing=None,
            queries=0,
            methods=[],
        )


def _add_live(app: FastAPI, runs: Offered, jobs: Jobs, measuring: Measuring) -> None:
    # Torch's global generator, which some methods need, can serve one of them at a time.
    others = threading.Lock()

    @app.post("/api/explain", status_code=202, responses=_problems(404, 409, 429))
    def explain(asked: ExplainRequest) -> Started:
        served = _live(runs, asked.run)
        query = served.query(asked.query)
        if asked.method not in served.methods:
            raise InputError(
                f"method: expected one of {', '.join(served.methods)}, got {asked.method!r}"
            )
        if asked.method != ZORRO and asked.why_not is not None:
            raise InputError(f"why_not: expected None with {asked.method}, got {asked.why_not}")
        seconds = asked.max_seconds or limits.DEFAULT_SECONDS
        work = partial(_explained, served, asked, query, seconds, others)
        return Started(job=jobs.start(work, max_seconds=seconds).id)

    @app.post("/api/keep", responses=_problems(404, 409))
    def keep(asked: KeepRequest) -> Kept:
        served = _live(runs, asked.run)
        query = served.query(asked.query)
        if not served.keep(query):
            raise HTTPException(404, f"query: nothing new was found of {query}: explain it first")
        return Kept(query=address_of(query), explained=served.run.counts().explained)

    @app.post("/api/fidelity", responses=_problems(404, 409, 429))
    async def fidelity(asked: FidelityRequest) -> Fidelity:
        started = time.perf_counter()
        served = _live(runs, asked.run)
        query = served.query(asked.query)
        chosen = _chosen(served, asked)
        fresh = _fresh(served)

        def measured() -> Fidelity:
            meter = measuring.meter(
                served,
                asked.run,
                query,
                samples=min(asked.samples, fresh),
                comparison=served.comparison(asked.why_not, asked.among, asked.top),
            )
            scores = meter.scores(**chosen)
            found = meter.judged(scores)
            return Fidelity(
                fidelity=found.value,
                low=found.lower,
                high=found.upper,
                samples=found.samples,
                hits=found.hits,
                seconds=round(time.perf_counter() - started, 4),
                outputs=served.view.answers.outputs(scores),
            )

        return await measuring.do(measured)

    @app.post("/api/values", responses=_problems(404, 409, 429))
    async def values(asked: ValuesRequest) -> Values:
        served = _live(runs, asked.run)
        query = served.query(asked.query)
        whole = served.whole_groups({NODES: asked.nodes, FEATURES: asked.features})

        def read() -> Values:
            graph = _graph(measuring, served, asked.run, query, Comparison())
            nodes = _below("nodes", whole[NODES], graph.num_nodes)
            columns = _below("features", whole[FEATURES], graph.x.size(1))
            view = served.view
            elements = None if columns is None else gathered(columns, view.groups)
            return Values(values=payload.values(query, nodes, elements, view))

        return await measuring.do(read)

    @app.get("/api/runs/{run}/drawings/{query}", responses=_problems(404, 409, 429))
    async def drawing(
        run: RunNumber,
        query: QueryAddress,
        most: Annotated[int, Query(ge=0, le=limits.CONTEXT)] = 400,
        among: Among = None,
        top: Top = 1,
    ) -> Drawing:
        served = _live(runs, run)
        asked = served.query(query)
        comparison = served.comparison(None, among, top)

        def drawn() -> Drawing:
            graph = _graph(measuring, served, run, asked, comparison)
            nodes, labels = _selected(served, asked)
            edges = KeptEdges(labels, graph.edges.directed) if EDGES in served.kinds else None
            scene = served.view.scene(graph.asked, nodes, hops=graph.hops, most=most, edges=edges)
            assert scene is not None
            shown = {
                "nodes": [each.id for each in scene.nodes],
                "features": [],
                "alternatives": [],
                "values": None,
                "scene": None,
            }
            return Drawing(
                query=address_of(asked),
                scene=payload.drawing(asked, scene, served.view),
                names=served.named(shown)["names"],
            )

        return await measuring.do(drawn)

    @app.get(
        "/api/runs/{run}/candidates/{query}",
        responses=_problems(404, 409, 429),
    )
    async def candidates(
        run: RunNumber,
        query: QueryAddress,
        kind: Kind = "features",
        search: Annotated[str, Query(max_length=100)] = "",
        limit: Annotated[int, Query(ge=1, le=limits.LISTED)] = 50,
        among: Among = None,
        top: Top = 1,
    ) -> Candidates:
        served = _live(runs, run)
        asked = served.query(query)
        comparison = served.comparison(None, among, top)
        if kind not in served.kinds:
            raise InputError(f"kind: expected one of {', '.join(served.kinds)}, got {kind}")
        listed = LISTED[kind]

        def found() -> Candidates:
            graph = _graph(measuring, served, run, asked, comparison)
            return listed(graph, served.view, search=search, limit=limit)

        return await measuring.do(found)


def _graph(
    measuring: Measuring,
    served: Served,
    run: int,
    query: question.Query,
    comparison: Comparison,
) -> ComputationalGraph:
    """Return what a query can see; to be asked where things are measured."""
    samples = min(200, _fresh(served))
    return measuring.meter(served, run, query, samples=samples, comparison=comparison).graph


def _explained(
    served: Served,
    asked: ExplainRequest,
    query: question.Query,
    seconds: float,
    others: threading.Lock,
    job: Job,
) -> dict[str, Any]:
    """Return what is shown of a new explanation."""
    assert served.desks is not None
    desk = served.desks.take()
    tau = desk.zorro.parameters.tau if asked.tau is None else asked.tau
    if asked.method == ZORRO:
        explanation = desk.zorro.with_settings(tau=tau, max_seconds=seconds).explain(
            query.asked,
            why_not=served.other(asked.why_not),
            contrast=served.contrast,
            on_step=job.report,
        )
        is_new = asked.why_not is None and served.remember(explanation)
        detail = {**served.detail(explanation), "isNew": is_new}
    else:
        while not others.acquire(timeout=0.05):
            job.check()
        try:
            detail = compare(served, desk, query, asked.method, tau=tau)
        finally:
            others.release()
    # Only now: a method that was stopped may have left its masks on the desk's model.
    served.desks.give_back(desk)
    return detail


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    @app.get(
        "/api/jobs/{job}/events",
        response_class=StreamingResponse,
        responses={
            **_problems(404),
            200: {
                "description": "progress, and then done, failed or cancelled",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
        },
    )
    async def events(job: JobId) -> StreamingResponse:
        return StreamingResponse(_stream(_found(jobs, job)), media_type="text/event-stream")

    @app.delete("/api/jobs/{job}", status_code=204, response_model=None, responses=_problems(404))
    async def cancel(job: JobId) -> None:
        _found(jobs, job).cancel()


async def _stream(job: Job) -> AsyncIterator[str]:
    """Yield what has happened to a job and what happens to it, until it has ended."""
    sent = 0
    quiet = 0.0
    while True:
        ended = job.ended  # before looking: the last event is there once it has
        new = job.events[sent:]
        for name, said in new:
            yield f"event: {name}\ndata: {json.dumps(said, allow_nan=False)}\n\n"
        sent += len(new)
        if ended:
            return
        quiet = 0.0 if new else quiet + _POLL
        if quiet >= _KEEP_ALIVE:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(_POLL)


def _found(jobs: Jobs, number: str) -> Job:
    job = jobs.get(number)
    if job is None:
        raise HTTPException(404, "job: there is none of this number, or it is forgotten")
    return job


def _served(runs: Offered, number: int) -> Served:
    if number >= len(runs):
        raise HTTPException(404, f"run: expected a number below {len(runs)}, got {number}")
    served = runs[number]
    if isinstance(served, Broken):
        raise HTTPException(409, f"run: it cannot be read: {served.reason}")
    return served


def _live(runs: Offered, number: int) -> Served:
    served = _served(runs, number)
    if not served.live:
        raise HTTPException(409, "run: it is read-only, since its graph and model are not at hand")
    return served


def _selected(served: Served, query: question.Query) -> tuple[Sequence[int], tuple[EdgeLabel, ...]]:
    """Return the nodes and edges that a query's explanation rests on, none if it has none."""
    try:
        kept = served.kept(query)
    except RunError:
        return (), ()
    return ((), ()) if kept is None else (kept.nodes, kept.edges)


def _fresh(served: Served) -> int:
    """Return how many samples there are that the run's searches cannot have seen."""
    assert served.desks is not None
    return served.desks.measuring.zorro.fresh_samples


def _below(name: str, numbers: list[int] | None, size: int) -> list[int] | None:
    return None if numbers is None else whole_numbers(name, numbers, size)


def _chosen(served: Served, asked: FidelityRequest) -> dict[str, list[Any] | None]:
    """Return what is kept of each kind: of one that the run's sets are not of everything is."""
    given: dict[str, list[Any] | None] = {kind: getattr(asked, kind) for kind in KINDS}
    for kind, members in given.items():
        if kind in served.kinds and members is None:
            raise InputError(f"{kind}: expected those that are kept, got none")
        if kind not in served.kinds and members is not None:
            raise InputError(
                f"{kind}: expected None, since this run keeps all of them, got {members!r:.60}"
            )
    return served.as_asked(served.whole_groups(given))


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def unfit(request: Request, error: RequestValidationError) -> Response:
        return _problem(422, "; ".join(_said(one) for one in error.errors()[:5]))

    @app.exception_handler(PlainHTTPException)
    async def refused(request: Request, error: PlainHTTPException) -> Response:
        return _problem(error.status_code, str(error.detail), headers=error.headers)

    @app.exception_handler(ZorroError)
    async def failed(request: Request, error: ZorroError) -> Response:
        if isinstance(error, BusyError):
            return _problem(429, str(error), headers={"retry-after": "1"})
        if isinstance(error, InputError):
            return _problem(422, str(error))
        logger.warning("%s", error)
        return _problem(409 if isinstance(error, ModelError | RunError) else 500, str(error))


def _said(error: Any) -> str:
    """Return what is wrong with which argument."""
    where = [str(part) for part in error["loc"][1:]]  # the first says where the request has it
    message = str(error["msg"])
    return f"{'.'.join(where) or 'body'}: {message[:1].lower()}{message[1:]}"


def _problem(status: int, error: str, *, headers: Any = None) -> Response:
    return JSONResponse({"error": error}, status, headers=headers)
