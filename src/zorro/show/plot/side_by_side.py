"""What several methods say of one prediction, side by side on one layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from torch import Tensor

from zorro.elements import NODES
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges, EdgesByReceiver
from zorro.graph.names import Labels, check_labels, counted
from zorro.methods.masks import Masks
from zorro.question import Query
from zorro.show import palette
from zorro.show.kept_edges import KeptEdges
from zorro.show.link_scene import link_scene
from zorro.show.plot.arguments import check_size
from zorro.show.plot.canvas import new_figure
from zorro.show.plot.labels import Label, font_size
from zorro.show.plot.names import name_of
from zorro.show.plot.stage import (
    Stage,
    draw_ground,
    draw_hidden,
    draw_labels,
    draw_query_rings,
    labels_of,
    stage_of,
)
from zorro.show.scene import Scene, SceneNode, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

Answer = Explanation | Masks | Mapping[int, float] | Sequence[int]

_MOST_COLUMNS = 4
_TITLE = 0.55  # inches above a panel
_BAR = 1.0  # inches beside the panels
_LEAST_LABELLED = 0.25  # of the highest value: nodes below go without a label
_CONTEXT = 4.5  # points, the diameter of a node that is not marked


def compare(
    answers: Mapping[str, Answer],
    query: int | tuple[int, int],
    edge_index: Tensor | Edges | EdgesByReceiver,
    *,
    candidates: Tensor | Sequence[int] | None = None,
    node_names: Labels | None = None,
    hops: int | None = None,
    top: int = 20,
    most_context: int = 60,
) -> Figure:
    """Draw the nodes that each of several methods holds important, in a panel each.

    A node stands at the same place in all panels. What the methods select together decides which
    nodes are shown; of a soft mask that is the `top` nodes with the highest values. Nodes of hard
    masks are filled, those of soft ones shaded by value, the method's highest being darkest.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> from zorro.plot import compare
    >>> club = karate_club()
    >>> found = Zorro(SimpleConv(), club.x, club.edge_index).explain(12)
    >>> figure = compare({"zorro": found, "friends": [0, 3]}, 12, club.edge_index)
    >>> len(figure.axes)  # a panel each
    2

    Args:
        answers: by the method's name: an explanation, ids of nodes, values by node id, or masks
            of the candidates.
        query: the node whose prediction is explained, or the ends of a link.
        edge_index: of the whole graph, in memory, stored, or grouped by receiver.
        candidates: (n,), ids of the nodes that masks speak of.
        node_names: shown instead of ids.
        hops: how far context reaches; as far as the explanations looked when None.
        top: how many nodes of a soft mask are selected.
        most_context: how many nodes that no method selects are shown.
    """
    asked = Query("link", *query) if isinstance(query, tuple) else Query("node", query)
    panels = _panels(answers, asked, candidates, top)
    check_labels("node_names", node_names or {}, None)
    looked_at = [answer.graph for answer in answers.values() if isinstance(answer, Explanation)]
    for graph in looked_at:
        check_size(edge_index, graph.num_nodes)
    if hops is None:
        hops = max((graph.hops for graph in looked_at), default=None)
    if hops is None:
        raise InputError(
            "hops: expected a number, since no explanation says how far to look, got None"
        )
    selected = sorted({node for panel in panels for node in panel.selected})
    kept = [panel.edges for panel in panels if panel.edges is not None]
    every = tuple({label: None for edges in kept for label in edges.labels})
    edges = KeptEdges(every, kept[0].directed) if kept else None
    around: dict[str, Any] = {"hops": hops, "most_context": most_context, "edges": edges}
    if isinstance(query, tuple):
        scene = link_scene(asked, selected, edge_index, **around)
    else:
        scene = scene_of(query, selected, edge_index, **around)
    rows = math.ceil(len(panels) / _MOST_COLUMNS)
    columns = math.ceil(len(panels) / rows)
    stage = stage_of(scene, least=3.2, most=max(3.6, 16.0 / columns))
    labels = [
        labels_of(scene, stage, _named(panel, scene), lambda node: name_of(node_names, node))
        for panel in panels
    ]
    stage = stage.holding([label for some in labels for label in some])
    soft = any(panel.soft for panel in panels)
    width = columns * stage.width + (_BAR if soft else 0.0)
    height = rows * (stage.height + _TITLE)
    figure = new_figure(width, height)
    shades = _shades()
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        axes = figure.add_axes(
            (
                column * stage.width / width,
                1 - (row + 1) * (stage.height + _TITLE) / height,
                stage.width / width,
                stage.height / height,
            )
        )
        _draw_panel(axes, panel, scene, stage, shades, labels[place])
    draw_hidden(figure.axes[len(panels) - 1], scene)
    if soft:
        _draw_bar(figure, shades, at=columns * stage.width, width=width, height=height)
    return figure


@dataclass(frozen=True)
class _Panel:
    """What a method says: values by node, the highest 1; none where it says nothing of nodes."""

    name: str
    values: Mapping[int, float] | None
    soft: bool
    selected: tuple[int, ...]
    edges: KeptEdges | None = None

    def on(self, scene: Scene) -> Scene:
        """Return a scene with what is kept here; without edges as if there were none to keep."""
        if self.edges is None:
            return replace(scene, elements=(), kept=frozenset())
        return replace(scene, kept=frozenset(self.edges.labels))


def _panels(
    answers: Mapping[str, Answer],
    query: Query,
    candidates: Tensor | Sequence[int] | None,
    top: int,
) -> list[_Panel]:
    if not isinstance(answers, Mapping) or not answers:
        raise InputError(
            "answers: expected one or more by the name of the method, got "
            f"{answers if isinstance(answers, Mapping) else type(answers).__name__}"
        )
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise InputError(f"top: expected a whole number from 1, got {top!r}")
    ids = None
    if candidates is not None:
        ids = [int(node) for node in candidates]
    return [_panel(name, answer, query, ids, top) for name, answer in answers.items()]


def _panel(
    name: str,
    answer: Answer,
    query: Query,
    candidates: list[int] | None,
    top: int,
) -> _Panel:
    values = _values(f"answers[{name!r}]", answer, query, candidates)
    edges = KeptEdges.of(answer) if isinstance(answer, Explanation) else None
    if values is None:
        return _Panel(name, None, soft=False, selected=(), edges=edges)
    kept = {node: value for node, value in values.items() if value > 0}
    soft = len(set(kept.values()) | {1.0}) > 1
    if not soft:
        return _Panel(name, kept, soft=False, selected=tuple(kept), edges=edges)
    highest = max(kept.values())
    order = sorted(kept, key=lambda node: (-kept[node], node))
    shares = {node: kept[node] / highest for node in order}
    return _Panel(name, shares, soft=True, selected=tuple(order[:top]))


def _values(
    argument: str, answer: Answer, query: Query, candidates: list[int] | None
) -> dict[int, float] | None:
    """Return the importance of each node that a method speaks of, None if it speaks of none."""
    if isinstance(answer, Explanation):
        if replace(answer.query, rivals=()) != query:
            raise InputError(
                f"{argument}: expected an explanation of {query}, got one of {answer.query}"
            )
        return dict.fromkeys(answer.nodes, 1.0) if NODES in answer.selected else None
    if isinstance(answer, Masks):
        return _mask_values(argument, answer, candidates)
    if isinstance(answer, Mapping):
        _check_ids(argument, answer)
        values = {int(node): float(value) for node, value in answer.items()}
        wrong = [value for value in values.values() if not 0 <= value < math.inf]
        if wrong:
            raise InputError(f"{argument}: expected values from 0, got {wrong[0]}")
        return values
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        _check_ids(argument, answer)
        return {int(node): 1.0 for node in answer}
    raise InputError(
        f"{argument}: expected an explanation, ids of nodes, values by id, or masks, got "
        f"{type(answer).__name__}"
    )


def _check_ids(argument: str, ids: Iterable[int]) -> None:
    for node in ids:
        if isinstance(node, bool) or not isinstance(node, Integral) or int(node) < 0:
            raise InputError(f"{argument}: expected node numbers from 0, got {node!r}")


def _mask_values(
    argument: str, masks: Masks, candidates: list[int] | None
) -> dict[int, float] | None:
    if masks.nodes is None:
        return None
    if candidates is None:
        raise InputError(
            f"candidates: expected the ids of the nodes that {argument} speaks of, got None"
        )
    if len(candidates) != masks.nodes.numel():
        raise InputError(
            f"{argument}: expected a mask of {len(candidates)} candidates, got "
            f"{masks.nodes.numel()}"
        )
    return dict(zip(candidates, masks.nodes.tolist(), strict=True))


def _named(panel: _Panel, scene: Scene) -> list[SceneNode]:
    """Return the nodes that are labelled: the query, then those with the highest values."""
    values = panel.values or {}
    chosen = {node for node in panel.selected if values[node] >= _LEAST_LABELLED}
    chosen = (chosen | panel.on(scene).ends) - {*scene.centre}
    named = [node for node in scene.nodes if node.id in chosen]
    named.sort(key=lambda node: -values.get(node.id, 0.0))
    return [*scene.nodes[: len(scene.centre)], *named]


def _draw_panel(
    axes: Axes,
    panel: _Panel,
    scene: Scene,
    stage: Stage,
    shades: Colormap,
    labels: list[Label],
) -> None:
    values = panel.values or {}
    named = _named(panel, scene)
    draw_ground(axes, panel.on(scene), stage, {node.id for node in named})
    for kind, nodes in (
        ("marked", [node for node in scene.nodes if node.id in values]),
        ("context", [node for node in scene.nodes if node.id not in values]),
    ):
        # A value shows in the size too, from that of context to that of a node that is selected.
        shares = [values.get(node.id, 0.0) for node in nodes]
        axes.scatter(
            [node.x for node in nodes],
            [node.y for node in nodes],
            s=[(_CONTEXT + share * (stage.node - _CONTEXT)) ** 2 for share in shares],
            c=[shades(share) if kind == "marked" else palette.CONTEXT for share in shares],
            edgecolors=palette.PLAIN if kind == "marked" else "none",
            linewidths=0.6,
            zorder=3 if kind == "marked" else 2,
            gid=kind,
        )
    draw_query_rings(axes, scene, stage)
    draw_labels(axes, labels, font_size(len(named)))
    axes.set_title(
        f"{name_of({0: panel.name}, 0)}\n{_summary(panel)}", fontsize=9, parse_math=False
    )


def _summary(panel: _Panel) -> str:
    if panel.edges is not None:
        nodes = [] if panel.values is None else [counted(len(panel.values), "node")]
        return " and ".join([*nodes, counted(len(panel.edges.labels), "edge")])
    if panel.values is None:
        return "does not rank nodes"
    if panel.soft:
        return f"{counted(len(panel.values), 'node')}, shaded"
    return counted(len(panel.values), "node")


def _shades() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("value", ["#FFFFFF", palette.PLAIN])


def _draw_bar(figure: Figure, shades: Colormap, *, at: float, width: float, height: float) -> None:
    from matplotlib.cm import ScalarMappable

    tall = min(2.5, 0.6 * height)
    axes = figure.add_axes(
        ((at + 0.1) / width, (height - tall) / 2 / height, 0.12 / width, tall / height)
    )
    bar = figure.colorbar(ScalarMappable(cmap=shades), cax=axes, ticks=[0, 1])
    bar.ax.set_yticklabels(["0", "highest"], fontsize=8)
