"""A neighbourhood as a small static SVG, for places that run no scripts."""

from __future__ import annotations

from html import escape

from zorro.graph.names import Names, label
from zorro.show import palette
from zorro.show.page.surroundings import Surroundings
from zorro.show.scene import Scene, SceneNode

_WIDTH, _HEIGHT, _MARGIN = 460, 360, 34
_RADIUS = {True: 7.0, False: 3.5}
_MOST_LABELS = 16


def svg(scene: Scene, surroundings: Surroundings) -> str:
    """Return the drawing of a scene; kept nodes are large, the query has a ring."""
    reach = max((max(abs(node.x), abs(node.y)) for node in scene.nodes), default=0) or 1
    scale = (min(_WIDTH, _HEIGHT) / 2 - _MARGIN) / reach

    def at(node: SceneNode) -> tuple[float, float]:
        return _WIDTH / 2 + node.x * scale, _HEIGHT / 2 - node.y * scale

    edges = "".join(_edge(*at(scene.nodes[i]), *at(scene.nodes[j])) for i, j in scene.edges)
    # What matters is drawn last, on top.
    order = sorted(scene.nodes, key=lambda node: (node.selected, node.id == scene.query))
    nodes = "".join(
        _node(node, *at(node), is_query=node.id == scene.query, surroundings=surroundings)
        for node in order
    )
    stressed = [node for node in scene.nodes if node.selected or node.id == scene.query]
    labels = "".join(
        _label(node, *at(node), surroundings.names) for node in stressed[:_MOST_LABELS]
    )
    title = escape(f"{surroundings.names.of_node(scene.query)} and its neighbourhood")
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{title}</title>{edges}{nodes}{labels}</svg>'
    )


def _edge(x: float, y: float, other_x: float, other_y: float) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{other_x:.1f}" y2="{other_y:.1f}" '
        f'stroke="{palette.CONTEXT}" stroke-opacity=".6"/>'
    )


def _node(
    node: SceneNode, x: float, y: float, *, is_query: bool, surroundings: Surroundings
) -> str:
    answer = surroundings.answer(node.id)
    known = palette.PLAIN if answer is None else palette.class_colour(answer)
    fill = known if node.selected else palette.CONTEXT
    said = surroundings.names.of_node(node.id)
    if answer is not None:
        said += f", {surroundings.names.of_class(answer)}"
    ring = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="none" stroke="currentColor" '
        'stroke-width="2"/>'
        if is_query
        else ""
    )
    return (
        f'{ring}<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS[node.selected]}" fill="{fill}">'
        f"<title>{escape(said)}</title></circle>"
    )


def _label(node: SceneNode, x: float, y: float, names: Names) -> str:
    text = escape(label(names.nodes, node.id) or str(node.id))
    is_left = node.x < 0
    return (
        f'<text x="{x + (-13 if is_left else 13):.1f}" y="{y + 4:.1f}" font-size="11" '
        f'fill="currentColor" text-anchor="{"end" if is_left else "start"}">{text}</text>'
    )
