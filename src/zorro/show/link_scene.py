"""How a link's explanation is laid out: both ends in the middle, what is around them on rings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from zorro.graph.edge_index import Edges, EdgesByReceiver
from zorro.question import Query
from zorro.show.kept_edges import KeptEdges
from zorro.show.scene import Scene, scene_around

_MOST_RIVALS = 2  # ends of other links that stand in the middle too


def link_scene(
    query: Query,
    selected: Sequence[int],
    edge_index: Tensor | Edges | EdgesByReceiver,
    *,
    hops: int,
    most_context: int = 60,
    carries_messages: bool = False,
    edges: KeptEdges | None = None,
) -> Scene:
    """Lay out selected nodes in the neighbourhood of a link's ends.

    Of the links that it is compared with the first have their ends in the middle too.

    >>> import torch
    >>> path = torch.tensor([[0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]])
    >>> scene = link_scene(Query("link", 1, 2), [3], path, hops=1)
    >>> [(node.id, node.hop, node.selected) for node in scene.nodes]
    [(1, 0, False), (2, 0, False), (0, 1, False), (3, 1, True)]
    >>> scene.edges, scene.asked
    (((0, 2), (1, 3)), ((0, 1),))

    Args:
        query: about a link.
        selected: ids of the nodes that matter.
        edge_index: (2, E), the edges that carry messages, or as of `scene_of`.
        hops: how far the neighbourhood of either end reaches.
        most_context: how many nodes that are not selected are shown, if paths need no more.
        carries_messages: whether a link that is asked about is drawn as an edge where it is one.
        edges: that are kept, where sets are of edges.
    """
    ends = query.ends[: 1 + _MOST_RIVALS]
    centre = tuple(dict.fromkeys((query.index, *ends)))
    scene = scene_around(
        centre,
        selected,
        edge_index,
        hops=hops,
        most_context=most_context,
        name="link",
        edges=edges,
    )
    asked = tuple((0, centre.index(end)) for end in ends if end != query.index)
    drawn = [
        place for place, edge in enumerate(scene.edges) if carries_messages or edge not in asked
    ]
    return replace(
        scene,
        edges=tuple(scene.edges[place] for place in drawn),
        elements=tuple(scene.elements[place] for place in drawn if scene.elements),
        asked=asked,
    )
