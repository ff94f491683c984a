"""What requests and answers hold."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from zorro.elements import Kind
from zorro.elements.edges import EdgeLabel
from zorro.show.page.address import EDGE, LINK, edge_at
from zorro.show.web import limits

Id = Annotated[int, Field(ge=0, le=limits.LARGEST_ID, strict=True)]
Ids = Annotated[list[Id], Field(max_length=limits.SELECTED)]


def _address(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limits.LARGEST_ID:
        return value
    if isinstance(value, str) and re.fullmatch(LINK, value):
        return value
    raise PydanticCustomError("address", "expected a number from 0, or a link as a text u-v")


# A node's or graph's number, or the ends of a link as a text: 3-7. One validator for both, so that
# what is wrong is said in one line.
Address = Annotated[
    int | str,
    PlainValidator(_address),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": limits.LARGEST_ID},
                {"type": "string", "pattern": LINK},
            ]
        }
    ),
]


def _edge(value: object) -> EdgeLabel:
    if isinstance(value, str) and re.fullmatch(EDGE, value):
        return edge_at(value)
    if isinstance(value, list) and len(value) in (2, 3):
        whole = [end for end in value if isinstance(end, int) and not isinstance(end, bool)]
        if len(whole) == len(value) and all(0 <= end <= limits.LARGEST_ID for end in whole):
            return tuple(whole)
    raise PydanticCustomError(
        "edge", "expected an edge as a text u-v or a list [u, v], with k for one of several"
    )


# An edge as pages tell it, a text 3-7, or as Python does, [3, 7]; one of several with its number.
Edge = Annotated[
    tuple[int, ...],
    PlainValidator(_edge),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": EDGE},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 0, "maximum": limits.LARGEST_ID},
                    "minItems": 2,
                    "maxItems": 3,
                },
            ]
        }
    ),
]
EdgeList = Annotated[list[Edge], Field(max_length=limits.SELECTED)]
Plain = dict[str, Any]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ExplainRequest(_Request):
    """A prediction to explain.

    `query` is a node, a graph's number, or a link `u-v`, as the run's level says.

    `method` is a name of `methods`; `tau` and `why_not` are Zorro's own. `why_not` is the class
    to explain against; of a link another one from the same node, `u-w`.
    """

    run: Id
    query: Address
    method: Annotated[str, Field(max_length=100)] = "zorro"
    tau: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False)] | None = None
    why_not: Address | None = None
    max_seconds: (
        Annotated[float, Field(gt=0, le=limits.SECONDS, strict=True, allow_inf_nan=False)] | None
    ) = None


class KeepRequest(_Request):
    """An explanation that was found since the server began, to be kept in its run."""

    run: Id
    query: Address


class FidelityRequest(_Request):
    """A set to measure: what is kept of each kind that the run's sets are of.

    A feature that is in a group stands for all of it. An edge is told by its nodes, `u-v` or
    `[u, v]`, in either direction if the graph is undirected. `why_not` is the class, or the link,
    that the answer is compared with; `among` are the nodes whose links a link is to stay ahead of,
    or to stay one of the `top` first.
    """

    run: Id
    query: Address
    types: Ids | None = None
    nodes: Ids | None = None
    features: Ids | None = None
    relations: Ids | None = None
    edges: EdgeList | None = None
    edge_attributes: EdgeList | None = None
    samples: Annotated[int, Field(ge=1, le=limits.SAMPLES, strict=True)] = 200
    why_not: Address | None = None
    among: Ids | None = None
    top: Annotated[int, Field(ge=1, le=limits.SELECTED, strict=True)] = 1


class ValuesRequest(_Request):
    """Nodes and features whose values are shown; of what sets are not, nothing."""

    run: Id
    query: Address
    nodes: Ids | None = None
    features: Ids | None = None


class Problem(BaseModel):
    """What is wrong."""

    error: str


class Health(BaseModel):
    """That the server is there."""

    status: Literal["ok"]
    version: str
    jobs: int


class RunEntry(BaseModel):
    """A run that is served.

    `broken` says why nothing of it can be shown; it is null if all is well. `queries` is how many
    there are in its data set, and `methods` are those that can explain them. `missing` says why a
    run is not live, if that is known.
    """

    id: int
    name: str
    path: str
    broken: str | None
    summary: Plain
    labels: Plain
    live: bool
    missing: str | None
    queries: int
    methods: list[str]


class Runs(BaseModel):
    """All runs.

    `live` says whether anything can be explained and measured; each run says it of itself.
    """

    runs: list[RunEntry]
    live: bool
    limits: dict[str, int | float]


class Rows(BaseModel):
    """The table of a run, what it could not explain, and rows that cannot be read.

    `found` are rows of what was explained since the server began and is not kept in the run.
    """

    rows: list[Plain]
    found: list[Plain]
    failures: list[Plain]
    unreadable: list[Plain]


class Kept(BaseModel):
    """An explanation that the run holds from now on, and how many it holds."""

    query: Address
    explained: int


class Started(BaseModel):
    """A job that has been taken on."""

    job: str


class Fidelity(BaseModel):
    """A measured fidelity with its exact 95 % interval.

    `samples` can be fewer than were asked for: only those count that the run's search cannot
    have seen. `outputs` are the model's values in these samples, ascending; null where it does
    not say values.
    """

    fidelity: float
    low: float
    high: float
    samples: int
    hits: int
    seconds: float
    outputs: list[float] | None


class Values(BaseModel):
    """Values of features at nodes, null where there are none to show."""

    values: Plain | None


class Drawing(BaseModel):
    """A drawing of what surrounds a node or a link, or of a graph."""

    query: Address
    scene: Plain
    names: Plain


class Candidate(BaseModel):
    """A node, feature or edge that may be added.

    Args:
        id: a number, or of an edge its address.
        value: of a feature at the query, if that is a node; of a group the name of the one that
            is set, or all values.
        holders: on how many candidate nodes a feature is not zero.
        kind: by which a node is coloured: the model's class of it, or what it is.
    """

    id: int | str
    name: str | None
    value: float | str | None = None
    holders: int | None = None
    kind: int | None = None


class Candidates(BaseModel):
    """Some of the nodes, features or edges that may be added, and how many there are."""

    kind: Kind
    candidates: list[Candidate]
    total: int
