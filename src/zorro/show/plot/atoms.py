"""The nodes of a whole graph with what they are written into them, as atoms are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zorro.graph.names import Labels, label
from zorro.show import palette
from zorro.show.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 2  # letters that fit into a node
_SIZE = 17.0  # points, a node's diameter
_LETTERS = 9.0  # points


def symbols_of(scene: Scene, node_names: Labels | None) -> Mapping[int, str] | None:
    """Return what is written into nodes, None if they are not named or the names are too long."""
    if scene.centre or not node_names:
        return None
    names = {node.id: label(node_names, node.id) or "" for node in scene.nodes}
    return names if all(0 < len(name) <= _LONGEST for name in names.values()) else None


def draw_atoms(axes: Axes, scene: Scene, symbols: Mapping[int, str]) -> None:
    """Draw nodes with their letters: kept ones are filled, each element with its colour."""
    for is_kept in (True, False):
        nodes = [node for node in scene.nodes if node.selected == is_kept]
        colours = [palette.atom_colour(symbols[node.id]) for node in nodes]
        axes.scatter(
            [node.x for node in nodes],
            [node.y for node in nodes],
            s=_SIZE**2,
            facecolors=colours if is_kept else "white",
            edgecolors=palette.INK if is_kept else palette.CONTEXT,
            linewidths=0.8,
            zorder=3,
            gid="selected" if is_kept else "context",
        )
        for node, colour in zip(nodes, colours, strict=True):
            axes.text(
                node.x,
                node.y,
                symbols[node.id],
                fontsize=_LETTERS,
                fontweight="bold" if is_kept else "normal",
                ha="center",
                va="center_baseline",
                color=palette.on(colour) if is_kept else palette.INK,
                zorder=5,
                parse_math=False,
            )
