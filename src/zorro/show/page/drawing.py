"""A scene as a small static SVG, for places that run no scripts."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from zorro.question import Query
from zorro.show import palette
from zorro.show.bonds import strokes
from zorro.show.page.surroundings import Surroundings
from zorro.show.scene import Scene, SceneNode

_WIDTH, _HEIGHT, _MARGIN = 460, 360, 34
_MOST_PER_EDGE = 60.0  # pixels
_RADIUS = {True: 7.0, False: 3.5}
_ATOM = 10.0  # the radius of a mark that holds a letter
_APART = 4.0  # pixels between the lines of a bond
_DASHED = ' stroke-dasharray="3 3"'
_MOST_LABELS = 16
# The marks of types: a circle, then others, each by its corners.
_CORNERS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.3), (0.9, 0), (0, 1.3), (-0.9, 0)),
    ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
)

Place = tuple[float, float]


def svg(query: Query, scene: Scene, surroundings: Surroundings) -> str:
    """Return the drawing of a scene; kept nodes are large, nodes that are asked about have a ring.

    Kept edges are thick. A link that is asked about is dashed: it carries no messages.
    """
    at = _fitted(scene)
    bonds = scene.bonds or (None,) * len(scene.edges)
    edges = "".join(
        _edge(at(scene.nodes[i]), at(scene.nodes[j]), bond, is_kept=scene.keeps(place))
        for place, ((i, j), bond) in enumerate(zip(scene.edges, bonds, strict=True))
    )
    asked = "".join(
        _asked(at(scene.nodes[i]), at(scene.nodes[j]), is_rival=place > 0)
        for place, (i, j) in enumerate(scene.asked)
    )
    # What matters is drawn last, on top.
    order = sorted(scene.nodes, key=lambda node: (node.selected, node.id in scene.centre))
    nodes = "".join(
        _node(node, *at(node), query=query, scene=scene, surroundings=surroundings)
        for node in order
    )
    named = {*scene.centre, *scene.ends}
    stressed = [node for node in scene.nodes if node.selected or node.id in named]
    labels = "".join(
        _label(node, *at(node), surroundings.node_label(query, node.id))
        for node in ([] if surroundings.kinds.are_atoms else stressed[:_MOST_LABELS])
    )
    whole = " and what is around" if scene.centre else ""
    title = escape(f"{surroundings.names.of_query(query)}{whole}")
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{title}</title>'
        f"{edges}{asked}{nodes}{labels}</svg>"
    )


def _fitted(scene: Scene) -> Callable[[SceneNode], Place]:
    """Return what gives a node's place: of rings the centre stays in the middle."""
    reaches = [
        max((abs(place) for place in places), default=0.0) or 1.0
        for places in ([node.x for node in scene.nodes], [node.y for node in scene.nodes])
    ]
    room = (_WIDTH / 2 - _MARGIN, _HEIGHT / 2 - _MARGIN)
    if scene.centre:
        scale = min(room) / max(reaches)
    else:
        scale = min(_MOST_PER_EDGE, *(r / reach for r, reach in zip(room, reaches, strict=True)))
    return lambda node: (_WIDTH / 2 + node.x * scale, _HEIGHT / 2 - node.y * scale)


def _edge(one: Place, other: Place, bond: str | None, *, is_kept: bool) -> str:
    colour, width = (palette.PLAIN, 3.5) if is_kept else (palette.CONTEXT, 1)
    length = math.dist(one, other) or 1.0
    aside = ((other[1] - one[1]) / length * _APART, (one[0] - other[0]) / length * _APART)
    return "".join(
        f'<line x1="{one[0] + shift * aside[0]:.1f}" y1="{one[1] + shift * aside[1]:.1f}" '
        f'x2="{other[0] + shift * aside[0]:.1f}" y2="{other[1] + shift * aside[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width}" '
        f'stroke-opacity="{"1" if bond or is_kept else ".6"}"'
        f"{_DASHED if dashed else ''}/>"
        for shift, dashed in strokes(bond)
    )


def _asked(one: Place, other: Place, *, is_rival: bool) -> str:
    return (
        f'<line x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}" '
        f'stroke="{palette.CONTEXT if is_rival else palette.ASKED}" stroke-width="2.5" '
        'stroke-dasharray="7 5"/>'
    )


def _node(
    node: SceneNode, x: float, y: float, *, query: Query, scene: Scene, surroundings: Surroundings
) -> str:
    kinds, number = surroundings.kinds, surroundings.kind(query, node.id)
    known = palette.PLAIN if number is None else kinds.colour(number)
    name = surroundings.node_label(query, node.id)
    if not kinds.are_types:
        name = f"{surroundings.names.node} {name}"
    said = name if number is None or kinds.are_types else f"{name}, {kinds.name(number)}"
    title = f"<title>{escape(said)}</title>"
    if kinds.are_atoms and number is not None:
        fill = known if node.selected else "white"
        letters = palette.on(known) if node.selected else palette.INK
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_ATOM}" fill="{fill}" '
            f'stroke="{palette.INK if node.selected else palette.CONTEXT}">{title}</circle>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11" fill="{letters}" '
            f'text-anchor="middle">{escape(kinds.name(number)[:2])}</text>'
        )
    ring = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="none" stroke="currentColor" '
        'stroke-width="2"/>'
        if node.id in scene.centre
        else ""
    )
    fill = known if node.selected or node.id in scene.ends else palette.CONTEXT
    radius = _RADIUS[node.selected]
    corners = _CORNERS[number % len(_CORNERS)] if kinds.are_types and number is not None else ()
    if corners:
        points = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in corners)
        return f'{ring}<polygon points="{points}" fill="{fill}">{title}</polygon>'
    return f'{ring}<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}">{title}</circle>'


def _label(node: SceneNode, x: float, y: float, text: str) -> str:
    is_left = node.x < 0
    return (
        f'<text x="{x + (-13 if is_left else 13):.1f}" y="{y + 4:.1f}" font-size="11" '
        f'fill="currentColor" text-anchor="{"end" if is_left else "start"}">{escape(text)}</text>'
    )
