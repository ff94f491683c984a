"""How queries are told in the addresses of pages, and of what is asked of a server."""

from __future__ import annotations

import re

from zorro.elements.edges import EdgeLabel
from zorro.errors import InputError
from zorro.question import About, Level, Query
from zorro.question.query import NUMBERS

Address = int | str  # a number, or the ends of a link: 3-7
LINK = r"^[0-9]{1,16}-[0-9]{1,16}$"
EDGE = r"^[0-9]{1,16}-[0-9]{1,16}(-[0-9]{1,9})?$"
ANY = r"^[0-9]{1,16}(-[0-9]{1,16})?$"

_TOLD: dict[Level, str] = {
    "node": "a node",
    "graph": "a graph",
    "link": "a link u-v of nodes",
}


def address_of(query: Query) -> Address:
    """Return what tells a query among others of its level, and of its type if there are several.

    >>> address_of(Query("node", 5)), address_of(Query("link", 3, 7))
    (5, '3-7')
    """
    first, *ends = query.numbers.values()
    return f"{first}-{ends[0]}" if ends else first


def edge_address(label: EdgeLabel) -> str:
    """Return what tells an edge among others.

    >>> edge_address((3, 7)), edge_address((3, 7, 1))
    ('3-7', '3-7-1')
    """
    return "-".join(map(str, label))


def edge_at(address: str) -> EdgeLabel:
    """Return the edge at an address of the pattern `EDGE`."""
    return tuple(int(part) for part in address.split("-"))


def query_at(name: str, address: Address, about: About, count: int | None = None) -> Query:
    """Return the query at an address, or raise `InputError`.

    >>> str(query_at("query", "3-7", About("link"), 10))
    'link 3–7'

    Args:
        name: of the argument.
        address: of a query.
        about: what all queries are.
        count: how many nodes, or graphs, can be asked about, if that matters.
    """
    numbers = [int(part) for part in re.findall(r"\d+", str(address))]
    if len(numbers) != len(NUMBERS[about.level]) or (count is not None and max(numbers) >= count):
        within = "" if count is None else f" from 0 to {count - 1}"
        raise InputError(f"{name}: expected {_TOLD[about.level]}{within}, got {address}")
    return about.query(*numbers)
