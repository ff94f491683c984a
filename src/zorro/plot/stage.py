"""A scene's ground: how large it is drawn, its rings, its edges, and its labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zorro.palette import CONTEXT, INK, LINE
from zorro.plot.labels import font_size, placed
from zorro.scene import Scene, SceneNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.5  # hops around the outermost nodes
_LEAST = 1.8  # hops from side to side
_PER_HOP = 1.3  # inches, where there is little to draw
_PER_NODE = 0.8  # inches from side to side, times the root of the number of selected nodes
POINTS = 72.0  # in an inch


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


def stage_of(scene: Scene, *, least: float = 4.0, most: float = 12.0) -> Stage:
    """Return a stage that holds a scene, from `least` to `most` inches from side to side."""
    selected = sum(node.selected for node in scene.nodes)
    (left, right), (bottom, top) = (
        _around([node.x for node in scene.nodes]),
        _around([node.y for node in scene.nodes]),
    )
    span = max(right - left, top - bottom)
    side = max(least, _PER_HOP * span, _PER_NODE * math.sqrt(selected))
    size = next(size for up_to, size in ((40, 11.0), (120, 8.0), (math.inf, 6.5)) if selected <= up_to)
    return Stage(left, right, bottom, top, min(most, side) / span, size)


def draw_ground(axes: Axes, scene: Scene, stage: Stage) -> None:
    """Draw the rings, faintly, and the edges, those between selected nodes more strongly."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    axes.set(xlim=(stage.left, stage.right), ylim=(stage.bottom, stage.top), aspect="equal")
    axes.set_axis_off()
    for hop in range(1, max(node.hop for node in scene.nodes) + 1):
        axes.add_patch(
            Circle((0, 0), hop, fill=False, color=LINE, linewidth=0.8, linestyle=(0, (4, 4)))
        )
    kept = [node.selected or node.id == scene.query for node in scene.nodes]
    for strong, colour, width in ((False, LINE, 0.7), (True, "#7A8087", 1.3)):
        lines = [
            [(scene.nodes[one].x, scene.nodes[one].y), (scene.nodes[other].x, scene.nodes[other].y)]
            for one, other in scene.edges
            if (kept[one] and kept[other]) == strong
        ]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, zorder=1))


def draw_labels(
    axes: Axes,
    scene: Scene,
    stage: Stage,
    nodes: Sequence[SceneNode],
    name: Callable[[int], str],
) -> None:
    """Label nodes, the first of them first, as far as there is room; all of them if few."""
    from matplotlib.patheffects import withStroke

    size = font_size(len(nodes))
    labels = placed(
        [(node.x, node.y) for node in nodes],
        [name(node.id) for node in nodes],
        obstacles=[(node.x, node.y) for node in nodes],
        size=size,
        points_per_unit=stage.inches_per_hop * POINTS,
        radius=stage.node / 2,
    )
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
            f"+{scene.hidden} more nodes",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=8,
            color="#6B7177",
        )


def draw_query_ring(axes: Axes, stage: Stage) -> None:
    """Mark the query, in the centre."""
    axes.scatter(
        [0],
        [0],
        s=(stage.node + 8) ** 2,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.8,
        zorder=4,
        gid="query",
    )


def draw_context(axes: Axes, nodes: Sequence[SceneNode], colours: Sequence[str] | None) -> None:
    """Draw nodes that are not selected, small and faint."""
    axes.scatter(
        [node.x for node in nodes],
        [node.y for node in nodes],
        s=20,
        c=CONTEXT if colours is None else list(colours),
        alpha=None if colours is None else 0.35,
        linewidths=0,
        zorder=2,
        gid="context",
    )


def _around(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values) - _MARGIN, max(values) + _MARGIN
    missing = max(0.0, _LEAST - (high - low)) / 2
    return low - missing, high + missing
