"""A scene's ground: how large it is drawn, its rings, its edges, and its labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zorro.show.bonds import strokes
from zorro.show.palette import ASKED, CONTEXT, INK, LINE, PLAIN
from zorro.show.plot.labels import Label, font_size, placed
from zorro.show.scene import Scene, SceneNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.5  # hops around the outermost nodes
_LEAST = 1.8  # hops from side to side
_PER_HOP = 1.3  # inches, where there is little to draw
_PER_EDGE = 0.6  # inches, of a graph that is drawn whole
_PER_NODE = 0.8  # inches from side to side, times the root of the number of selected nodes
_POINTS = 72.0  # in an inch
_RING = 8.0  # points that the query's ring is wider than a node
_BESIDE = 0.1  # hops between the lines of one bond
_MANY_LINES = 150  # more edges than these are drawn thin
RING_STYLE = (0, (4, 4))
ASKED_STYLE = (0, (3, 2))
KEPT_WIDTH = 3.2  # points, of edges that are kept


@dataclass(frozen=True)
class Stage:
    """The part of the plane that a scene takes, in hops, and how large a hop is drawn."""

    left: float
    right: float
    bottom: float
    top: float
    inches_per_hop: float
    node: float  # a selected node's diameter, in points

    @property
    def width(self) -> float:
        """In inches."""
        return (self.right - self.left) * self.inches_per_hop

    @property
    def height(self) -> float:
        """In inches."""
        return (self.top - self.bottom) * self.inches_per_hop

    def holding(self, labels: Sequence[Label]) -> Stage:
        """Return a stage that is as much larger as labels need."""
        return replace(
            self,
            left=min([self.left, *(label.x - label.width / 2 for label in labels)]),
            right=max([self.right, *(label.x + label.width / 2 for label in labels)]),
            bottom=min([self.bottom, *(label.y - label.height / 2 for label in labels)]),
            top=max([self.top, *(label.y + label.height / 2 for label in labels)]),
        )


def stage_of(scene: Scene, *, least: float = 4.0, most: float = 12.0) -> Stage:
    """Return a stage that holds a scene, from `least` to `most` inches from side to side."""
    selected = sum(node.selected for node in scene.nodes)
    (left, right), (bottom, top) = (
        _around([node.x for node in scene.nodes]),
        _around([node.y for node in scene.nodes]),
    )
    span = max(right - left, top - bottom)
    per_edge = _PER_HOP if scene.centre else _PER_EDGE
    side = max(least, per_edge * span, _PER_NODE * math.sqrt(selected))
    node = 11.0 if selected <= 40 else 8.0 if selected <= 120 else 6.5
    return Stage(left, right, bottom, top, min(most, side) / span, node)


def labels_of(
    scene: Scene, stage: Stage, nodes: Sequence[SceneNode], name: Callable[[int], str]
) -> list[Label]:
    """Return labels of nodes, the first of them first, as far as there is room."""
    return placed(
        [(node.x, node.y) for node in nodes],
        [name(node.id) for node in nodes],
        radii=[(stage.node + (_RING if node.id in scene.centre else 0)) / 2 for node in nodes],
        size=font_size(len(nodes)),
        points_per_unit=stage.inches_per_hop * _POINTS,
    )


def draw_ground(axes: Axes, scene: Scene, stage: Stage, strong: Collection[int]) -> None:
    """Draw the rings, and the edges: those between some nodes (ids) more strongly.

    Where sets are of edges, those that are kept.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    axes.set(xlim=(stage.left, stage.right), ylim=(stage.bottom, stage.top), aspect="equal")
    axes.set_axis_off()
    for hop in range(1, max(node.hop for node in scene.nodes) + 1):
        axes.add_patch(
            Circle(
                (0, 0),
                hop + scene.inner,
                fill=False,
                color=LINE,
                linewidth=0.8,
                linestyle=RING_STYLE,
            )
        )
    of_node = [node.id in strong for node in scene.nodes]
    is_strong = [
        scene.keeps(place) if scene.elements else of_node[one] and of_node[other]
        for place, (one, other) in enumerate(scene.edges)
    ]
    strongly = (PLAIN, KEPT_WIDTH) if scene.elements else ("#7A8087", 1.3)
    for wanted, (colour, widest) in ((False, (LINE, 0.7)), (True, strongly)):
        lines = [
            (line, dashed)
            for place, drawn in enumerate(is_strong)
            if drawn == wanted
            for line, dashed in _lines(scene, place)
        ]
        width = widest if len(lines) <= _MANY_LINES else widest / 2
        axes.add_collection(
            LineCollection(
                [line for line, _ in lines],
                colors="#B4B9BE" if scene.bonds and not wanted else colour,
                linewidths=width,
                linestyles=[(0, (3, 2)) if dashed else "solid" for _, dashed in lines] or "solid",
                zorder=1,
                capstyle="round" if wanted else None,
                gid="strong" if wanted else "faint",
            )
        )


def _lines(scene: Scene, place: int) -> list[tuple[list[tuple[float, float]], bool]]:
    """Return the lines that an edge is drawn as, and whether they are dashed."""
    one, other = (scene.nodes[end] for end in scene.edges[place])
    length = math.dist((one.x, one.y), (other.x, other.y)) or 1.0
    left = ((one.y - other.y) / length * _BESIDE, (other.x - one.x) / length * _BESIDE)
    return [
        ([(node.x + shift * left[0], node.y + shift * left[1]) for node in (one, other)], dashed)
        for shift, dashed in strokes(scene.bonds[place] if scene.bonds else None)
    ]


def draw_labels(axes: Axes, labels: Sequence[Label], size: float) -> None:
    """Write labels, in a font of so many points."""
    from matplotlib.patheffects import withStroke

    for label in labels:
        axes.text(
            label.x,
            label.y,
            label.text,
            fontsize=size,
            ha="center",
            va="center",
            color=INK,
            zorder=5,
            parse_math=False,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def draw_hidden(axes: Axes, scene: Scene) -> None:
    """Say how many nodes are left out."""
    if scene.hidden:
        axes.text(
            1.0,
            0.0,
            f"+{scene.hidden} more {'node' if scene.hidden == 1 else 'nodes'}",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=8,
            color="#6B7177",
        )


def draw_query_rings(axes: Axes, scene: Scene, stage: Stage) -> None:
    """Mark the nodes that are asked about, and the links between them, which are dashed."""
    for place, pair in enumerate(scene.asked):
        one, other = (scene.nodes[end] for end in pair)
        axes.plot(
            [one.x, other.x],
            [one.y, other.y],
            color=CONTEXT if place else ASKED,
            linewidth=2.0,
            linestyle=ASKED_STYLE,
            zorder=1.5,
            gid="asked",
        )
    centre = scene.nodes[: len(scene.centre)]
    axes.scatter(
        [node.x for node in centre],
        [node.y for node in centre],
        s=(stage.node + _RING) ** 2,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.8,
        zorder=4,
        gid="query",
    )


def _around(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values) - _MARGIN, max(values) + _MARGIN
    missing = max(0.0, _LEAST - (high - low)) / 2
    return low - missing, high + missing
