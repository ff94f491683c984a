"""How a graph's explanation is laid out: all of a small graph, the kept part of a large one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.errors import InputError, MissingExtraError
from zorro.show.kept_edges import KeptEdges
from zorro.show.molecule import chemical_places
from zorro.show.plane import places
from zorro.show.scene import Scene, SceneNode

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

MOST_SHOWN = 150  # nodes of a graph that is drawn whole


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the nodes of a graph stand, whichever of them are shown.

    Args:
        xy: (n, 2), the middle being (0, 0) and edges about 1 long.
        links: (e, 2), ascending pairs of nodes, each once.
        bonds: what each link is, if that is known.
        edge_index: (2, E), of which there may be several for one link.
    """

    xy: Reals
    links: Numbers
    bonds: tuple[str | None, ...] = ()
    edge_index: Tensor = field(default_factory=lambda: torch.zeros(2, 0, dtype=torch.int64))


def layout_of(
    edge_index: Tensor,
    size: int,
    *,
    bonds: Sequence[str | None] | None = None,
    atoms: Sequence[str] | None = None,
) -> Layout:
    """Lay out a graph.

    Atoms of molecules stand where chemists put them if RDKit is installed.

    Args:
        edge_index: (2, E).
        size: n.
        bonds: what each edge is.
        atoms: the nodes' chemical symbols, where they have some.
    """
    links, kinds = _links(edge_index, size, bonds)
    xy = None
    if atoms is not None:
        with suppress(MissingExtraError):
            xy = chemical_places(atoms, links, kinds or [None] * len(links))
    return Layout(places(size, links) if xy is None else xy, links, tuple(kinds), edge_index.cpu())


def graph_scene(
    selected: Sequence[int],
    layout: Layout,
    *,
    most: int = MOST_SHOWN,
    edges: KeptEdges | None = None,
) -> Scene:
    """Show the nodes of a graph, and of a large one those that are selected and what is near them.

    >>> path = Layout(np.array([[0.0, 0], [1, 0], [2, 0]]), np.array([[0, 1], [1, 2]]))
    >>> scene = graph_scene([2], path, most=2)
    >>> [node.id for node in scene.nodes], scene.edges, scene.hidden
    ([1, 2], ((0, 1),), 1)

    Args:
        selected: ids of the nodes that matter, which are all shown.
        layout: of the graph.
        most: how many nodes are shown, if no more are selected.
        edges: that are kept, where sets are of edges; their ends are all shown.
    """
    size = len(layout.xy)
    stressed = [*selected, *([] if edges is None else edges.ends)]
    wrong = [node for node in stressed if not 0 <= node < size]
    if wrong:
        raise InputError(f"selected: expected nodes from 0 to {size - 1}, got {wrong[0]}")
    ids = np.arange(size) if size <= most else _near(stressed, layout, most)
    place = np.full(size, -1)
    place[ids] = np.arange(ids.size)
    ends = place[_turned(layout)]  # (e, 2)
    shown = np.flatnonzero((ends >= 0).all(axis=1))
    kept = set(selected)
    drawn = ends[shown].tolist()
    lines = [(int(ids[one]), int(ids[other])) for one, other in drawn]
    return Scene(
        centre=(),
        nodes=tuple(
            SceneNode(node, float(x), float(y), 0, node in kept)
            for node, (x, y) in zip(ids.tolist(), layout.xy[ids], strict=True)
        ),
        edges=tuple((one, other) for one, other in drawn),
        hidden=size - ids.size,
        bonds=tuple(layout.bonds[link] for link in shown.tolist()) if layout.bonds else (),
        elements=() if edges is None else edges.elements(lines, layout.edge_index),
        kept=frozenset() if edges is None else frozenset(edges.labels),
    )


def _links(
    edge_index: Tensor, size: int, bonds: Sequence[str | None] | None
) -> tuple[Numbers, list[str | None]]:
    """Return the pairs of nodes (e, 2) between which edges lead, and what the first of each is."""
    ends = np.sort(edge_index.cpu().numpy(), axis=0)  # (2, E)
    if bonds is not None and len(bonds) != ends.shape[1]:
        raise InputError(f"bonds: expected one for each of {ends.shape[1]} edges, got {len(bonds)}")
    keys, first = np.unique(ends[0] * size + ends[1], return_index=True)
    is_loop = keys // size == keys % size
    keys, first = keys[~is_loop], first[~is_loop]
    links = np.stack([keys // size, keys % size], axis=1)
    return links, [] if bonds is None else [bonds[edge] for edge in first.tolist()]


def _turned(layout: Layout) -> Numbers:
    """Return the links (e, 2) so turned that more of what hangs on their ends lies to the left.

    A line beside the edge, such as an aromatic bond has, is then inside of its ring.
    """
    xy, links = layout.xy, layout.links
    if not layout.bonds:
        return links
    beside = np.zeros_like(xy)
    degree = np.zeros(len(xy))
    for one, other in (links.T, links.T[::-1]):
        np.add.at(beside, one, xy[other])
        np.add.at(degree, one, 1.0)
    one, other = links.T
    along = xy[other] - xy[one]  # (e, 2)
    off = np.zeros(len(links))
    for end, far in ((one, other), (other, one)):
        others = beside[end] - xy[far] - (degree[end] - 1)[:, None] * xy[end]  # (e, 2)
        off += along[:, 0] * others[:, 1] - along[:, 1] * others[:, 0]
    return np.where(off[:, None] < -1e-9, links[:, ::-1], links)


def _near(selected: Sequence[int], layout: Layout, most: int) -> Numbers:
    """Return the selected nodes and those fewest hops from them, ascending.

    Without any it begins in the middle of the drawing.
    """
    size = len(layout.xy)
    start = list(selected) or [int(np.linalg.norm(layout.xy, axis=1).argmin())]
    beside: list[list[int]] = [[] for _ in range(size)]
    for one, other in layout.links.tolist():
        beside[one].append(other)
        beside[other].append(one)
    found = dict.fromkeys(sorted(set(start)))
    ring = list(found)
    while ring and len(found) < most:
        ring = sorted({other for node in ring for other in beside[node]} - found.keys())
        found.update(dict.fromkeys(ring[: max(0, most - len(found))]))
    return np.array(sorted(found), np.int64)
