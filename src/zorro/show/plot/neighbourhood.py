"""An explanation drawn on the neighbourhood of its node or link, or on its graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from torch import Tensor
from torch_geometric.data import HeteroData

from zorro.elements.space import BLOCKS
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.explanation.text import short_fidelity
from zorro.graph.edge_index import Edges, EdgesByReceiver
from zorro.graph.names import LINK_CLASSES, Labels, Names, check_labels, label
from zorro.question import Level, Query
from zorro.show import palette
from zorro.show.graph_scene import graph_scene, layout_of
from zorro.show.kept_edges import KeptEdges
from zorro.show.link_scene import link_scene
from zorro.show.plot.arguments import check_explanation, check_size, class_numbers
from zorro.show.plot.atoms import draw_atoms, symbols_of
from zorro.show.plot.canvas import new_figure
from zorro.show.plot.labels import font_size
from zorro.show.plot.names import name_of
from zorro.show.plot.stage import (
    ASKED_STYLE,
    KEPT_WIDTH,
    RING_STYLE,
    Stage,
    draw_ground,
    draw_hidden,
    draw_labels,
    draw_query_rings,
    labels_of,
    stage_of,
)
from zorro.show.plot.typed import names_by_type, typed_edges
from zorro.show.scene import Scene, check_edges, scene_of
from zorro.show.type_scene import TypedEdgeIndex, type_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A marker per round through the colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_MARKERS_OF_TYPES = ("o", "s", "D", "^", "*", "P")  # as pages have them
_LEGEND = 2.3  # inches
_TITLE = 0.6
_TITLE_LETTER = 0.095
_INDENT = 0.15
_KEY = 0.2  # inches from line to line of the legend
_MOST_CLASSES = 30


def explanation(
    explanation: Explanation,
    edge_index: Tensor | Edges | EdgesByReceiver | HeteroData,
    *,
    classes: Tensor | Sequence[int] | None = None,
    class_names: Labels | None = None,
    node_names: Labels | Mapping[str, Labels] | None = None,
    edge_names: Sequence[str | None] | None = None,
    hops: int | None = None,
    most_context: int = 60,
    title: str | None = None,
) -> Figure:
    """Draw an explanation's nodes among their neighbours, or in their graph.

    A node that was asked about stands in the centre with a ring around it, nodes that are as many
    hops away on one ring. Of a link both ends stand there, and it is dashed: it carries no
    messages. Selected nodes are filled and labelled, an unselected query is hollow, all others are
    faint. Where sets are of edges, those that are kept are thick. A graph that was asked about is
    drawn as a whole; names of its nodes that have one or two letters, as atoms have, are written
    into them.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> from zorro.plot import explanation
    >>> club = karate_club()
    >>> found = Zorro(SimpleConv(), club.x, club.edge_index).explain(12)
    >>> figure = explanation(found, club.edge_index, classes=club.y)
    >>> figure.savefig("node.png")

    Args:
        explanation: what is drawn.
        edge_index: of the whole graph; grouped by receiver it need not be indexed again. Of a
            graph that was asked about its own (2, E). Of a graph of several types PyG's
            `HeteroData`: each type has a colour and a marker.
        classes: (N,), by which nodes are coloured: predicted or true; of several types none.
        class_names: of the classes, for the legend; a link that is there or not is called that.
        node_names: shown instead of ids; of several types by type, `{"venue": ["AAAI", …]}`.
        edge_names: what each edge of a graph that was asked about is: `"double"`, `"triple"` and
            `"aromatic"` are drawn so.
        hops: how far context reaches; as far as the explanation looked when None.
        most_context: how many nodes that are not selected are shown around a node.
        title: what stands above; the prediction and the size when None.
    """
    check_explanation(explanation)
    total = explanation.graph.num_nodes
    check_labels("class_names", class_names or {}, None)
    legend, marker = class_names, _marker
    colour_by: list[int] | None
    edges: Tensor | Edges | EdgesByReceiver | TypedEdgeIndex
    if isinstance(edge_index, HeteroData):
        edges = typed = typed_edges(explanation, edge_index, classes)
        colour_by, legend, marker = typed.kinds, typed.types.names, _marker_of_type
        names: Labels | None = names_by_type(typed.types, node_names)
    else:
        check_size(edge_index, total)
        edges, names = edge_index, cast("Labels | None", node_names)
        colour_by = None if classes is None else class_numbers(classes, total)
        check_labels("node_names", names or {}, total)
    draw = _SCENES[explanation.query.level]
    scene = draw(explanation, edges, names, edge_names, hops, most_context)
    symbols = symbols_of(scene, names)
    shown = {*scene.centre, *scene.ends}
    kept = [node for node in scene.nodes if node.selected or node.id in shown]
    stage = stage_of(scene)
    named = [] if symbols else kept
    labels = labels_of(scene, stage, named, lambda node: name_of(names, node))
    stage = stage.holding(labels)
    heading = _title(explanation, class_names, names) if title is None else title
    keys = _keys(scene, colour_by, legend, marker, has_symbols=symbols is not None)
    width = max(stage.width + _LEGEND, _TITLE_LETTER * max(map(len, heading.split("\n"))))
    height = max(stage.height, _KEY * len(keys)) + _TITLE
    across, up = stage.width / width, 1 - _TITLE / height
    figure = new_figure(width, height)
    axes = figure.add_axes((0, up - stage.height / height, across, stage.height / height))
    draw_ground(axes, scene, stage, {node.id for node in kept})
    if symbols:
        draw_atoms(axes, scene, symbols)
    else:
        _draw_nodes(axes, scene, stage, colour_by, marker)
    if scene.centre:
        draw_query_rings(axes, scene, stage)
    draw_labels(axes, labels, font_size(len(kept)))
    draw_hidden(axes, scene)
    _draw_legend(figure, keys, at=(across, up))
    figure.text(
        _INDENT / width,
        1 - _TITLE / 2 / height,
        heading,
        fontsize=11,
        va="center",
        color=palette.INK,
        parse_math=False,
    )
    return figure


def _around(
    layout: Callable[..., Scene],
    explanation: Explanation,
    edge_index: Tensor | Edges | EdgesByReceiver | TypedEdgeIndex,
    node_names: Labels | None,
    edge_names: Sequence[str | None] | None,
    hops: int | None,
    most_context: int,
) -> Scene:
    """Return the neighbourhood of a node or of a link's ends, as `layout` lays it out."""
    query = explanation.query
    if edge_names is not None:
        raise InputError(
            f"edge_names: expected None for an explanation of a {query.level}, got names"
        )
    kept = KeptEdges.of(explanation)
    if isinstance(edge_index, TypedEdgeIndex):
        reach = explanation.graph.hops if hops is None else hops
        scene = type_scene(
            query.index,
            explanation.nodes,
            edge_index,
            hops=reach,
            most_context=most_context,
            kept=kept,
        )
        return scene if kept is not None else replace(scene, elements=())
    return layout(
        query,
        explanation.nodes,
        edge_index,
        hops=explanation.graph.hops if hops is None else hops,
        most_context=most_context,
        edges=kept,
    )


def _node_scene(query: Query, *given: Any, **options: Any) -> Scene:
    return scene_of(query.index, *given, **options)


def _of_graph(
    explanation: Explanation,
    edge_index: Tensor | Edges | EdgesByReceiver,
    node_names: Labels | None,
    edge_names: Sequence[str | None] | None,
    hops: int | None,
    most_context: int,
) -> Scene:
    if hops is not None:
        raise InputError(f"hops: expected none for an explanation of a graph, got {hops}")
    if not isinstance(edge_index, Tensor):
        raise InputError(
            f"edge_index: expected a tensor (2, E) of the graph, got {type(edge_index).__name__}"
        )
    check_edges(edge_index)
    edges, total = edge_index.size(1), explanation.graph.num_nodes
    if edge_names is not None and len(edge_names) != edges:
        raise InputError(
            f"edge_names: expected one for each of {edges} edges, got {len(edge_names)}"
        )
    names = [label(node_names or {}, node) for node in range(total)]
    atoms = [name for name in names if name is not None]
    layout = layout_of(
        edge_index,
        total,
        bonds=edge_names,
        atoms=atoms if len(atoms) == total else None,
    )
    return graph_scene(explanation.nodes, layout, edges=KeptEdges.of(explanation))


# What the two answers are called where classes are those of nodes.
_ANSWERS: Mapping[Level, Labels] = {"link": LINK_CLASSES}
_SCENES: Mapping[Level, Callable[..., Scene]] = {
    "node": partial(_around, _node_scene),
    "link": partial(_around, link_scene),
    "graph": _of_graph,
}


def _marker(number: int) -> str:
    """Return the marker of a class: colours that are used again have another one."""
    return MARKERS[palette.repetition(number) % len(MARKERS)]


def _marker_of_type(number: int) -> str:
    """Return the marker of a type: each has its own, as far as there are some."""
    return _MARKERS_OF_TYPES[number % len(_MARKERS_OF_TYPES)]


def _draw_nodes(
    axes: Axes,
    scene: Scene,
    stage: Stage,
    classes: list[int] | None,
    marker_of: Callable[[int], str],
) -> None:
    """Draw all nodes, those alike but for place and colour at once."""
    alike = defaultdict(list)
    for node in scene.nodes:
        kind = "selected" if node.selected else "query" if node.id in scene.centre else "context"
        kind = "end" if kind == "context" and node.id in scene.ends else kind
        marker = "o" if classes is None else marker_of(classes[node.id])
        alike[kind, marker].append(node)
    for (kind, marker), nodes in alike.items():
        if classes is not None:
            colours = [palette.class_colour(classes[node.id]) for node in nodes]
        else:
            plain = palette.CONTEXT if kind == "context" else palette.PLAIN
            colours = [plain] * len(nodes)
        how: dict[str, Any] = {
            "selected": {"facecolors": colours, "edgecolors": palette.INK, "linewidths": 0.6},
            "query": {"facecolors": "white", "edgecolors": colours, "linewidths": 1.8},
            "end": {"facecolors": colours, "edgecolors": "white", "linewidths": 0.8},
            "context": {"facecolors": colours, "linewidths": 0, "alpha": 0.4 if classes else 1},
        }[kind]
        size = {"context": 22.0, "end": (0.7 * stage.node) ** 2}.get(kind, stage.node**2)
        axes.scatter(
            [node.x for node in nodes],
            [node.y for node in nodes],
            s=size,
            marker=marker,
            zorder=2 if kind == "context" else 3,
            gid=kind,
            **how,
        )


def _keys(
    scene: Scene,
    classes: list[int] | None,
    class_names: Labels | None,
    marker_of: Callable[[int], str],
    *,
    has_symbols: bool,
) -> list[tuple[dict[str, Any], str]]:
    """Return the legend's lines: what a node's look means, then the classes that are shown."""
    plain = palette.PLAIN if classes is None and not has_symbols else "#8A9096"
    hollow = {"markerfacecolor": "white", "markeredgecolor": palette.CONTEXT, "markersize": 8}
    faint = hollow if has_symbols else {"markersize": 4, "color": palette.CONTEXT}
    ring = {"markerfacecolor": "none", "markeredgecolor": palette.INK}
    whose = "query" if len(scene.centre) < 2 else "ends"
    asked = [({"marker": "o", "markersize": 11, **ring}, whose)]
    for place, name in enumerate(("asked about", "compared with")[: len(scene.asked)]):
        colour = palette.CONTEXT if place else palette.ASKED
        asked.append(({"linestyle": ASKED_STYLE, "linewidth": 2.0, "color": colour}, name))
    keys: list[tuple[dict[str, Any], str]] = [*(asked if scene.centre else [])]
    if scene.elements:
        kept = {"linestyle": "-", "linewidth": KEPT_WIDTH, "color": palette.PLAIN}
        keys.append((kept, "edge that is kept"))
    has_nodes = not scene.elements or any(node.selected for node in scene.nodes)
    if has_nodes:
        keys.append(({"marker": "o", "markersize": 8, "color": plain}, "selected"))
    if has_nodes and any(not node.selected and node.id not in scene.centre for node in scene.nodes):
        keys.append(({"marker": "o", **faint}, "not selected"))
    if len(scene.nodes) > len(scene.centre) > 0:
        keys.append(({"linestyle": RING_STYLE, "color": palette.LINE}, "1, 2, … hops away"))
    shown = (
        [] if classes is None or has_symbols else sorted({classes[node.id] for node in scene.nodes})
    )
    for number in shown[:_MOST_CLASSES]:
        look = {"marker": marker_of(number), "color": palette.class_colour(number)}
        name = name_of(class_names, number, otherwise=f"class {number}")
        keys.append(({"markersize": 8, **look}, name))
    if len(shown) > _MOST_CLASSES:
        keys.append(({}, f"+{len(shown) - _MOST_CLASSES} more classes"))
    return keys


def _draw_legend(
    figure: Figure, keys: list[tuple[dict[str, Any], str]], *, at: tuple[float, float]
) -> None:
    from matplotlib.lines import Line2D

    legend = figure.legend(
        [Line2D([], [], **{"linestyle": "none", **look}) for look, _ in keys],
        [str(place) for place in range(len(keys))],
        loc="upper left",
        bbox_to_anchor=at,
        frameon=False,
        fontsize=9,
    )
    # Set afterwards, so that names with a leading underscore or a dollar are names as well.
    for text, (_, name) in zip(legend.get_texts(), keys, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _title(explanation: Explanation, class_names: Labels | None, node_names: Labels | None) -> str:
    predicted, told = explanation.predicted_class, explanation.label
    name = explanation.answer
    if len(explanation.probabilities) == len(LINK_CLASSES):
        class_names = _ANSWERS.get(explanation.query.level, class_names)
    if predicted is not None and told is None:
        name = name_of(class_names, predicted, otherwise=name)
    elif told is not None and label(class_names or {}, told) is not None:
        name = f"{'' if predicted else 'not '}{name_of(class_names, told)}"
    query = explanation.query
    blocks = [[kind for kind in block if kind in explanation.selected] for block in BLOCKS]
    by_type = explanation.claim.counted
    size = " and ".join(
        " × ".join(
            by_type.get(kind) or Names().counted(kind, len(explanation.elements(kind)))
            for kind in block
            if explanation.elements(kind) or not explanation.claim.rows_suffice
        )
        for block in blocks
        if block
    )
    asked, fidelity = _asked(query, node_names), short_fidelity(explanation)
    return f"{asked} → {name}\n{size}, fidelity {fidelity}"


def _asked(query: Query, node_names: Labels | None) -> str:
    """Return what was asked about: a node or both ends of a link, by name if they have some."""
    if query.types and query.to is None:
        return name_of(node_names, query.index)
    ends = query.seeds[:2]
    if not ends or all(label(node_names or {}, end) is None for end in ends):
        return str(query)
    return "–".join(name_of(node_names, end) for end in ends)
