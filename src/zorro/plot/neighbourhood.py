"""An explanation drawn on the neighbourhood of its query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from zorro import palette
from zorro.edge_index import Edges, EdgesByReceiver
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.plot.canvas import new_figure
from zorro.plot.labels import font_size
from zorro.plot.names import Names, check_names, name_of
from zorro.plot.stage import (
    RING_STYLE,
    Stage,
    draw_ground,
    draw_hidden,
    draw_labels,
    draw_query_ring,
    labels_of,
    stage_of,
)
from zorro.scene import Scene, scene_of

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
        raise InputError(f"explanation: expected an Explanation, got {type(explanation).__name__}")
    total = explanation.graph.num_nodes
    _check_size(edge_index, total)
    check_names("node_names", node_names, total)
    check_names("class_names", class_names, None)
    colour_by = None if classes is None else _class_numbers(classes, total)
    scene = scene_of(
        explanation.node,
        explanation.nodes,
        edge_index,
        hops=explanation.graph.hops if hops is None else hops,
        most_context=most_context,
    )
    kept = [node for node in scene.nodes if node.selected or node.id == scene.query]
    stage = stage_of(scene)
    labels = labels_of(scene, stage, kept, lambda node: name_of(node_names, node))
    stage = stage.holding(labels)
    figure = new_figure(stage.width + _LEGEND, stage.height + _TITLE)
    across, up = stage.width / (stage.width + _LEGEND), stage.height / (stage.height + _TITLE)
    axes = figure.add_axes((0, 0, across, up))
    draw_ground(axes, scene, stage, {node.id for node in kept})
    _draw_nodes(axes, scene, stage, colour_by)
    draw_query_ring(axes, stage)
    draw_labels(axes, labels, font_size(len(kept)))
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


def _check_size(edge_index: Tensor | Edges | EdgesByReceiver, total: int) -> None:
    """Raise `InputError` if edges cannot be those of a graph with `total` nodes."""
    if isinstance(edge_index, Tensor):
        largest = int(edge_index.max()) if edge_index.numel() else 0
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


def _class_numbers(classes: Tensor | Sequence[int], total: int) -> list[int]:
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


def _marker(number: int) -> str:
    """Return the marker of a class: colours that are used again have another one."""
    return MARKERS[palette.repetition(number) % len(MARKERS)]


def _draw_nodes(axes: Axes, scene: Scene, stage: Stage, classes: list[int] | None) -> None:
    """Draw all nodes, those alike but for place and colour at once."""
    alike = defaultdict(list)
    for node in scene.nodes:
        kind = "selected" if node.selected else "query" if node.id == scene.query else "context"
        marker = "o" if classes is None else _marker(classes[node.id])
        alike[kind, marker].append(node)
    for (kind, marker), nodes in alike.items():
        if classes is not None:
            colours = [palette.class_colour(classes[node.id]) for node in nodes]
        else:
            plain = palette.CONTEXT if kind == "context" else palette.PLAIN
            colours = [plain] * len(nodes)
        how = {
            "selected": {"facecolors": colours, "edgecolors": palette.INK, "linewidths": 0.6},
            "query": {"facecolors": "white", "edgecolors": colours, "linewidths": 1.8},
            "context": {"facecolors": colours, "linewidths": 0, "alpha": 0.4 if classes else 1},
        }[kind]
        axes.scatter(
            [node.x for node in nodes],
            [node.y for node in nodes],
            s=22 if kind == "context" else stage.node**2,
            marker=marker,
            zorder=2 if kind == "context" else 3,
            gid=kind,
            **how,
        )


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
    if len(scene.nodes) > 1:
        ring = Line2D([], [], color=palette.LINE, linestyle=RING_STYLE)
        entries.append((ring, "1, 2, … hops away"))
    if classes is not None:
        shown = sorted({classes[node.id] for node in scene.nodes})
        for number in shown[:_MOST_IN_LEGEND]:
            colour = palette.class_colour(number)
            name = name_of(class_names, number, otherwise=f"class {number}")
            entries.append((key(_marker(number), markersize=8, color=colour), name))
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


def _title(explanation: Explanation, class_names: Names | None, node_names: Names | None) -> str:
    predicted = explanation.predicted_class
    name = name_of(class_names, predicted, otherwise=f"class {predicted}")
    fidelity = explanation.fidelity
    return (
        f"{name_of(node_names, explanation.node, otherwise=f'node {explanation.node}')} → {name}\n"
        f"{len(explanation.nodes)} nodes × {len(explanation.features)} features, fidelity "
        f"{fidelity.value:.2f} [{fidelity.lower:.2f}, {fidelity.upper:.2f}]"
    )
