"""How an explanation of nodes is laid out: which others around them are shown, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.elements.edges import EdgeLabel
from zorro.errors import InputError
from zorro.graph.edge_index import Edges, EdgesByReceiver, edges_of
from zorro.show.kept_edges import Elements, KeptEdges
from zorro.show.rings import positions
from zorro.show.rings_of_several import INNER, positions_around

Ids = NDArray[np.int64]

# How far nodes are to stay apart, in hops: labels stand at the selected ones only.
_ROOM = {True: 0.42, False: 0.16}


@dataclass(frozen=True)
class SceneNode:
    """A node and where it stands.

    Around a query, which stands at (0, 0), it is at about its hop's distance, and around several
    nodes that are asked about together by `Scene.inner` further out; a selected node that is not
    within the scene's hops stands one ring further out. Where no node is asked about, the hop is 0.
    """

    id: int
    x: float
    y: float
    hop: int
    selected: bool


@dataclass(frozen=True)
class Scene:
    """The nodes and edges to draw, those first that are asked about.

    Args:
        centre: ids of the nodes that are asked about; none if it is the graph as a whole.
        nodes: those of the centre, then from the inside out, by id on each ring.
        edges: pairs of places in `nodes`, each once, whatever its direction.
        hidden: how many nodes within the hops are left out.
        bonds: what each of the edges is, if that is known: single, double, triple, aromatic.
        asked: pairs of places in `nodes` between which a link is asked about, that first which the
            question is about, then those that it is compared with.
        elements: of each of the edges those that may be kept, where sets are of edges.
        kept: those of them that are.
    """

    centre: tuple[int, ...]
    nodes: tuple[SceneNode, ...]
    edges: tuple[tuple[int, int], ...]
    hidden: int
    bonds: tuple[str | None, ...] = ()
    asked: tuple[tuple[int, int], ...] = ()
    elements: Elements = ()
    kept: frozenset[EdgeLabel] = frozenset()

    @property
    def inner(self) -> float:
        """How far the nodes of the centre are from the middle."""
        return INNER if len(self.centre) > 1 else 0.0

    def keeps(self, place: int) -> bool:
        """Whether the edge at a place, or one of several between its nodes, is kept."""
        return bool(self.elements) and not self.kept.isdisjoint(self.elements[place])

    @cached_property
    def ends(self) -> frozenset[int]:
        """The nodes of kept edges."""
        return frozenset(end for label in self.kept for end in label[:2])


def scene_of(
    query: int,
    selected: Sequence[int],
    edge_index: Tensor | Edges | EdgesByReceiver,
    *,
    hops: int,
    most_context: int = 60,
    edges: KeptEdges | None = None,
) -> Scene:
    """Lay out selected nodes in the neighbourhood of the query.

    Selected nodes and the ends of kept edges are all shown, each with a shortest path to the
    query. Then come others, up to `most_context` with those on paths: neighbours of these nodes
    first, the nearest to the query first.

    >>> path = torch.tensor([[1, 2, 3], [0, 1, 2]])
    >>> scene = scene_of(0, [2], path, hops=3, most_context=1)
    >>> [(node.id, node.hop, node.selected) for node in scene.nodes], scene.edges, scene.hidden
    ([(0, 0, False), (1, 1, False), (2, 2, True)], ((0, 1), (1, 2)), 1)

    Args:
        query: the node in the centre.
        selected: ids of the nodes that matter; the query may be among them.
        edge_index: (2, E), or the graph's edges, best grouped by receiver for many scenes of
            one graph. Hops are counted against the direction of messages.
        hops: how far the neighbourhood reaches.
        most_context: how many nodes that are not selected are shown, if paths need no more.
        edges: that are kept, where sets are of edges.
    """
    return scene_around(
        (query,),
        selected,
        edge_index,
        hops=hops,
        most_context=most_context,
        name="query",
        edges=edges,
    )


def scene_around(
    centre: Sequence[int],
    selected: Sequence[int],
    edge_index: Tensor | Edges | EdgesByReceiver,
    *,
    hops: int,
    most_context: int,
    name: str,
    edges: KeptEdges | None = None,
) -> Scene:
    """Lay out selected nodes in the neighbourhood of some that are asked about together.

    Args:
        centre: ids of these, one or more.
        selected: as of `scene_of`.
        edge_index: as of `scene_of`.
        hops: how far the neighbourhood of each reaches.
        most_context: as of `scene_of`.
        name: of the argument that the centre is told by.
        edges: as of `scene_of`.
    """
    ends = [] if edges is None else edges.ends
    _check_numbers(name, centre)
    _check_numbers("selected", selected)
    graph = _grouped(edge_index, [*centre, *selected, *ends])
    for option, value in (("hops", hops), ("most_context", most_context)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{option}: expected a whole number from 0, got {value!r}")
    _check_inside(name, centre, graph.num_nodes)
    _check_inside("selected", selected, graph.num_nodes)
    _check_inside("edges", ends, graph.num_nodes)
    middle = np.asarray(centre, np.int64)
    stressed = np.asarray([*selected, *ends], np.int64)
    chosen = np.setdiff1d(stressed, middle)
    around = _around(middle, graph, hops)
    context, hidden = _context(chosen, around, graph, most_context)
    others = np.concatenate([chosen, context])
    hop = around.hop_of(others, otherwise=hops + 1)
    order = np.lexsort((others, hop))
    ids = np.concatenate([middle, others[order]])
    hop = np.concatenate([np.zeros_like(middle), hop[order]])
    is_selected = np.isin(ids, np.asarray(selected, np.int64))
    between = _between(ids, graph)
    links = _links(ids, between)
    room = np.where(np.isin(ids, stressed), _ROOM[True], _ROOM[False])
    if middle.size == 1:
        xy = positions(hop, links, room)
    else:
        xy = positions_around(middle.size, hop, links, room)
    return Scene(
        centre=tuple(middle.tolist()),
        nodes=tuple(
            SceneNode(*values)
            for values in zip(
                ids.tolist(), *xy.T.tolist(), hop.tolist(), is_selected.tolist(), strict=True
            )
        ),
        edges=tuple((one, other) for one, other in links.tolist()),
        hidden=hidden,
        elements=() if edges is None else edges.elements(ids[links].tolist(), between),
        kept=frozenset() if edges is None else frozenset(edges.labels),
    )


@dataclass(frozen=True)
class _Around:
    """The nodes within some hops of those in the centre.

    Args:
        level: (N,), hop + 1, and 0 for nodes that are further away.
        rings: the ids of each hop, ascending, the centre's first.
        inwards: per hop but the first the edges (2, e) that lead from it to the hop before.
        edges: (2, e), all edges into nodes that are not on the last ring.
    """

    level: NDArray[np.int32]
    rings: list[Ids]
    inwards: list[Ids]
    edges: Ids

    def hop_of(self, ids: Ids, *, otherwise: int) -> Ids:
        level = self.level[ids].astype(np.int64)
        return np.where(level > 0, level - 1, otherwise)


def _around(centre: Ids, graph: EdgesByReceiver, hops: int) -> _Around:
    # Zeros that are never touched cost nothing, so these arrays of N do not cost N.
    level = np.zeros(graph.num_nodes, np.int32)
    place = np.zeros(graph.num_nodes, np.int64)
    level[centre] = 1
    rings, inwards, seen = [centre], [], [np.zeros((2, 0), np.int64)]
    for hop in range(1, hops + 1):
        edges = _ends(graph, rings[-1])  # (2, e)
        seen.append(edges)
        senders = edges[0]
        found = senders[level[senders] == 0]
        place[found] = np.arange(found.size)
        once = np.sort(found[place[found] == np.arange(found.size)])
        if once.size == 0:
            break
        level[once] = hop + 1
        rings.append(once)
        inwards.append(edges[:, level[senders] == hop + 1])
    return _Around(level, rings, inwards, np.concatenate(seen, axis=1))


def _context(chosen: Ids, around: _Around, graph: EdgesByReceiver, most: int) -> tuple[Ids, int]:
    """Return the nodes to show beside the centre and the chosen ones, and how many are left out."""
    is_chosen = np.zeros(graph.num_nodes, np.bool_)
    is_chosen[chosen] = True
    shown = _with_paths(chosen, around, graph.num_nodes)
    every = np.concatenate([np.zeros(0, np.int64), *around.rings[1:]])
    others = every[~is_chosen[every]]
    on_path = others[shown[others]]
    rest = others[~shown[others]]
    near = np.zeros(graph.num_nodes, np.bool_)
    into = _ends(graph, chosen)
    near[into[0]] = True
    near[around.edges[1, is_chosen[around.edges[0]]]] = True
    hop = around.level[rest]
    rest = rest[np.lexsort((rest, hop, ~near[rest]))][: max(0, most - on_path.size)]
    return np.concatenate([on_path, rest]), int(others.size - on_path.size - rest.size)


def _with_paths(chosen: Ids, around: _Around, num_nodes: int) -> NDArray[np.bool_]:
    """Say of each node (N,) whether it is chosen or on the way from a chosen one to the centre.

    Each goes on to a chosen node where it can, or else to that which serves the most.
    """
    wanted = np.zeros(num_nodes, np.bool_)
    wanted[chosen] = True
    for edges in reversed(around.inwards):
        sender, receiver = edges[:, wanted[edges[0]]]
        _, of, votes = np.unique(receiver, return_inverse=True, return_counts=True)
        order = np.lexsort((receiver, -votes[of], ~wanted[receiver], sender))
        _, first = np.unique(sender[order], return_index=True)
        wanted[receiver[order[first]]] = True
    return wanted


def _between(ids: Ids, graph: EdgesByReceiver) -> Tensor:
    """Return the senders and receivers (2, e) of all edges between some nodes."""
    edges = graph.induced(torch.from_numpy(np.sort(ids)).to(graph.device))
    return torch.stack(graph.ends(edges)).cpu()


def _links(ids: Ids, between: Tensor) -> Ids:
    """Return the pairs (e, 2) of places in `ids` between which edges lead, each pair once."""
    in_order = np.argsort(ids)
    pairs = in_order[np.searchsorted(ids[in_order], between.numpy())]
    pairs = np.sort(pairs[:, pairs[0] != pairs[1]], axis=0)
    keys = np.unique(pairs[0] * ids.size + pairs[1])
    return np.stack([keys // ids.size, keys % ids.size], axis=1)


def _ends(graph: EdgesByReceiver, nodes: Ids) -> Ids:
    """Return the senders and receivers (2, e) of all edges into some nodes."""
    edges = graph.incoming(torch.from_numpy(nodes).to(graph.device))
    return torch.stack(graph.ends(edges)).cpu().numpy()


def _grouped(edge_index: Tensor | Edges | EdgesByReceiver, ids: Sequence[int]) -> EdgesByReceiver:
    if isinstance(edge_index, EdgesByReceiver):
        return edge_index
    if isinstance(edge_index, Tensor):
        return EdgesByReceiver(_checked(edge_index, ids))
    if isinstance(edge_index, Edges):
        return EdgesByReceiver(edge_index)
    raise InputError(
        f"edge_index: expected a tensor (2, E) or a graph's edges, got {type(edge_index).__name__}"
    )


def check_edges(edge_index: Tensor) -> None:
    """Raise `InputError` unless edges are pairs of node numbers (2, E)."""
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype != torch.int64:
        raise InputError(
            "edge_index: expected int64 numbers of shape (2, E), got "
            f"{edge_index.dtype} of shape {tuple(edge_index.shape)}"
        )
    if edge_index.numel() and int(edge_index.min()) < 0:
        raise InputError(f"edge_index: expected node numbers from 0, got {int(edge_index.min())}")


def _checked(edge_index: Tensor, ids: Sequence[int]) -> Edges:
    check_edges(edge_index)
    if edge_index.numel() == 0:
        return edges_of(edge_index, max(ids) + 1)
    return edges_of(edge_index, max(*ids, int(edge_index.max())) + 1)


def _check_numbers(name: str, ids: Sequence[int]) -> None:
    for node in ids:
        if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or node < 0:
            raise InputError(f"{name}: expected node numbers from 0, got {node!r}")


def _check_inside(name: str, ids: Sequence[int], num_nodes: int) -> None:
    largest = max(ids, default=0)
    if largest >= num_nodes:
        raise InputError(f"{name}: expected nodes from 0 to {num_nodes - 1}, got {largest}")
