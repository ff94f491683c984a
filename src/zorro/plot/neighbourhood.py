"""An explanation drawn on the neighbourhood of its query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from zorro import palette
from zorro.edge_index import Edges, EdgesByReceiver, edges_of
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.plot.canvas import new_figure
from zorro.plot.names import Names, check_names, name_of
from zorro.plot.stage import (
    Stage,
    draw_context,
    draw_ground,
    draw_hidden,
    draw_labels,
    draw_query_ring,
    stage_of,
)
from zorro.scene import Scene, SceneNode, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# A marker per round through the colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_LEGEND = 2.3  # inches
_TITLE = 0.6
_MOST_IN_LEGEND = 30


def explanation(
    explanation: Explanation,
    edge_index: Tensor | Edges | EdgesByReceiver,
    *,
    classes: Tensor | Sequence[int] | None = None,
    class_names: Names | None = None,
    node_names: Names | None = None,
    hops: int | None = None,
    most_context: int = 60,
    title: str | None = None,
) -> Figure:
    """Draw an explanation's nodes among their neighbours.

    The query stands in the centre with a ring around it, nodes that are as many hops away on one
    ring. Selected nodes are filled and labelled, an unselected query is hollow, all others are
    faint.

    >>> figure = explanation(found, data.edge_index, classes=data.y)    # doctest: +SKIP
    >>> figure.savefig("node.png")                                      # doctest: +SKIP

    Args:
        explanation: what is drawn.
        edge_index: of the whole graph; grouped by receiver it need not be indexed again.
        classes: (N,), by which nodes are coloured: predicted or true.
        class_names: of the classes, for the legend.
        node_names: shown instead of ids.
        hops: how far context reaches; as far as the explanation looked when None.
        most_context: how many nodes that are not selected are shown.
        title: what stands above; the prediction and the size when None.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(
            f"explanation: expected an Explanation, got {type(explanation).__name__}"
        )
    total = explanation.graph.num_nodes
    graph = graph_of(edge_index, total)
    check_names("node_names", node_names, total)
    check_names("class_names", class_names, None)
    colour_by = None if classes is None else class_numbers(classes, total)
    scene = scene_of(
        explanation.node,
        explanation.nodes,
        graph,
        hops=explanation.graph.hops if hops is None else hops,
        most_context=most_context,
    )
    stage = stage_of(scene)
    figure = new_figure(stage.width + _LEGEND, stage.height + _TITLE)
    across, up = stage.width / (stage.width + _LEGEND), stage.height / (stage.height + _TITLE)
    axes = figure.add_axes((0, 0, across, up))
    draw_ground(axes, scene, stage)
    _draw_nodes(axes, scene, stage, colour_by)
    first = [node for node in scene.nodes if node.selected or node.id == scene.query]
    draw_labels(axes, scene, stage, first, lambda node: name_of(node_names, node))
    draw_hidden(axes, scene)
    _draw_legend(figure, scene, colour_by, class_names, at=(across, up))
    figure.text(
        0.15 / (stage.width + _LEGEND),
        1 - 0.3 / (stage.height + _TITLE),
        _title(explanation, class_names, node_names) if title is None else title,
        fontsize=11,
        va="center",
        color=palette.INK,
        parse_math=False,
    )
    return figure


def graph_of(
    edge_index: Tensor | Edges | EdgesByReceiver, total: int
) -> EdgesByReceiver | Edges | Tensor:
    """Return the edges of a graph with `total` nodes, or raise `InputError` if they are not."""
    if isinstance(edge_index, Tensor):
        largest = int(edge_index.max()) if edge_index.numel() else 0
        if edge_index.dtype == torch.int64 and edge_index.dim() == 2 and largest < total:
            return edge_index if edge_index.size(0) != 2 else edges_of(edge_index, total)
        if largest >= total:
            raise InputError(
                f"edge_index: expected edges between the {total} nodes of the explained graph, "
                f"got node {largest}"
            )
    elif isinstance(edge_index, (Edges, EdgesByReceiver)) and edge_index.num_nodes != total:
        raise InputError(
            f"edge_index: expected the edges of a graph with {total} nodes, got "
            f"{edge_index.num_nodes}"
        )
    return edge_index


def class_numbers(classes: Tensor | Sequence[int], total: int) -> list[int]:
    """Return the class of each node, or raise `InputError`."""
    values = classes if isinstance(classes, Tensor) else torch.as_tensor(list(classes))
    if values.shape != (total,) or values.is_floating_point() or values.is_complex():
        raise InputError(
            f"classes: expected a class number for each of {total} nodes, got {values.dtype} of "
            f"shape {tuple(values.shape)}"
        )
    if values.numel() and int(values.min()) < 0:
        raise InputError(f"classes: expected class numbers from 0, got {int(values.min())}")
    return [int(value) for value in values.tolist()]


def marker_of(number: int) -> str:
    """Return the marker of a class: colours that are used again have another one."""
    return MARKERS[palette.repetition(number) % len(MARKERS)]


def _draw_nodes(axes: Axes, scene: Scene, stage: Stage, classes: list[int] | None) -> None:
    context = [node for node in scene.nodes if not node.selected and node.id != scene.query]
    colours = None
    if classes is not None:
        colours = [palette.class_colour(classes[node.id]) for node in context]
    draw_context(axes, context, colours)
    for node in scene.nodes:
        if node in context:
            continue
        colour = palette.PLAIN if classes is None else palette.class_colour(classes[node.id])
        axes.scatter(
            [node.x],
            [node.y],
            s=stage.node**2,
            marker="o" if classes is None else marker_of(classes[node.id]),
            facecolors=colour if node.selected else "white",
            edgecolors="white" if node.selected else colour,
            linewidths=0.8 if node.selected else 1.8,
            zorder=3,
            gid=f"node {node.id}",
        )
    draw_query_ring(axes, stage)


def _draw_legend(
    figure: Figure,
    scene: Scene,
    classes: list[int] | None,
    class_names: Names | None,
    *,
    at: tuple[float, float],
) -> None:
    from matplotlib.lines import Line2D

    def key(marker: str, **how: object) -> Line2D:
        return Line2D([], [], linestyle="none", marker=marker, **how)  # type: ignore[arg-type]

    entries: list[tuple[Line2D, str]] = [
        (key("o", markersize=11, markerfacecolor="none", markeredgecolor=palette.INK), "query"),
        (
            key("o", markersize=8, color=palette.PLAIN if classes is None else "#8A9096"),
            "selected",
        ),
    ]
    if any(not node.selected and node.id != scene.query for node in scene.nodes):
        entries.append((key("o", markersize=4, color=palette.CONTEXT), "not selected"))
    if classes is not None:
        shown = sorted({classes[node.id] for node in scene.nodes})
        for number in shown[:_MOST_IN_LEGEND]:
            colour = palette.class_colour(number)
            name = name_of(class_names, number, otherwise=f"class {number}")
            entries.append((key(marker_of(number), markersize=8, color=colour), name))
        if len(shown) > _MOST_IN_LEGEND:
            entries.append((key(""), f"+{len(shown) - _MOST_IN_LEGEND} more classes"))
    legend = figure.legend(
        [line for line, _ in entries],
        [str(place) for place in range(len(entries))],
        loc="upper left",
        bbox_to_anchor=at,
        frameon=False,
        fontsize=9,
    )
    # Set afterwards, so that names with a leading underscore or a dollar are names as well.
    for text, (_, name) in zip(legend.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _title(
    explanation: Explanation, class_names: Names | None, node_names: Names | None
) -> str:
    predicted = explanation.predicted_class
    name = name_of(class_names, predicted, otherwise=f"class {predicted}")
    fidelity = explanation.fidelity
    return (
        f"{name_of(node_names, explanation.node, otherwise=f'node {explanation.node}')} → {name}\n"
        f"{len(explanation.nodes)} nodes × {len(explanation.features)} features, fidelity "
        f"{fidelity.value:.2f} [{fidelity.lower:.2f}, {fidelity.upper:.2f}]"
    )


