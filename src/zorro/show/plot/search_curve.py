"""How the fidelity grew while the search went on, and what it was on noise not seen before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zorro.elements import KINDS, Kind
from zorro.elements.edges import named
from zorro.explanation import Explanation, Step
from zorro.explanation.written import at_least, hundredths
from zorro.graph.names import Labels, check_labels
from zorro.show import palette
from zorro.show.plot.arguments import check_explanation
from zorro.show.plot.canvas import new_figure
from zorro.show.plot.names import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NAMED = 45  # steps that are named one by one
_NODE, _FEATURE, _FRESH, _EDGE, _TAU = (palette.CLASSES[place] for place in (0, 1, 2, 3, 5))
_NOUNS: Mapping[Kind, str] = dict(
    zip(KINDS, ("type", "node", "feature", "relation", "edge", "edge's attributes"), strict=True)
)
_LEGEND = 2.4  # inches


def curve(
    explanation: Explanation,
    *,
    node_names: Labels | None = None,
    feature_names: Labels | None = None,
) -> Figure:
    """Draw the fidelity on the search's samples step by step, and that on unseen ones.

    The point on the right is `explanation.fidelity` with its interval: what counts, since the
    search chose its set by the samples of the curve. A certificate's bound is marked below it.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> from zorro.plot import curve
    >>> club = karate_club()
    >>> found = Zorro(SimpleConv(), club.x, club.edge_index).explain(12)
    >>> curve(found).savefig("search.pdf")

    Args:
        explanation: whose steps are drawn; few are named, with a sign for in or out.
        node_names: shown instead of ids.
        feature_names: shown instead of numbers.
    """
    check_explanation(explanation)
    check_labels("node_names", node_names or {}, explanation.graph.num_nodes)
    check_labels("feature_names", feature_names or {}, explanation.graph.num_features)
    steps = explanation.steps
    names = [_step_name(step, node_names, feature_names) for step in steps]
    named = len(steps) <= _MOST_NAMED
    inner = min(9.0, max(3.5, 0.2 * len(steps)))
    below = 0.6 + (0.068 * max(map(len, [*names, "fresh noise"])) if named else 0.0)
    width, height = 0.8 + inner + _LEGEND, below + 3.0 + 0.4
    figure = new_figure(width, height)
    axes = figure.add_axes((0.8 / width, below / height, inner / width, 3.0 / height))
    _draw_steps(axes, steps)
    last = max(len(steps), 1)
    fresh_at = last - 1 + max(1.0, 0.06 * last)
    _draw_claim(axes, explanation, fresh_at)
    if named:
        axes.set_xticks(
            [*range(len(steps)), fresh_at],
            labels=[*names, "fresh noise"],
            rotation=90,
            parse_math=False,
        )
    else:
        axes.set_xlabel("step")
    axes.set_xlim(-0.5, fresh_at + max(0.5, 0.03 * last))
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("fidelity")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=8)
    axes.set_title(f"{explanation.query}: {explanation.status}", fontsize=10, loc="left")
    return figure


def _step_name(step: Step, node_names: Labels | None, feature_names: Labels | None) -> str:
    sign = "+" if step.added else "−"
    if step.node is not None:
        return f"{sign} {name_of(node_names, step.node, otherwise=f'node {step.node}')}"
    if step.kind is not None and isinstance(step.members[0], tuple):
        return f"{sign} {_NOUNS[step.kind]} {named(step.members[0])}"
    if step.feature is not None:
        name = name_of(feature_names, step.feature, otherwise=f"feature {step.feature}")
        return f"{sign} {name}"
    return "start"


def _draw_steps(axes: Axes, steps: tuple[Step, ...]) -> None:
    fidelity = [step.fidelity for step in steps]
    axes.plot(range(len(steps)), fidelity, color="#9AA0A6", linewidth=1.2, zorder=2, gid="search")
    size = 30 if len(steps) <= _MOST_NAMED else 12
    for kind, marker, colour in (
        ("start", "D", palette.INK),
        ("node", "o", _NODE),
        ("feature", "s", _FEATURE),
        ("edge", "^", _EDGE),
        ("edge's attributes", "v", _EDGE),
    ):
        for added in (True, False):
            at = [n for n, step in enumerate(steps) if (_kind(step), step.added) == (kind, added)]
            if not at:
                continue
            axes.scatter(
                at,
                [fidelity[place] for place in at],
                s=size,
                marker=marker,
                facecolors=colour if added else "white",
                edgecolors=colour,
                zorder=3,
                label=kind if kind == "start" else f"{kind} {'added' if added else 'taken out'}",
            )


def _kind(step: Step) -> str:
    return "start" if step.kind is None else _NOUNS[step.kind]


def _draw_claim(axes: Axes, explanation: Explanation, at: float) -> None:
    """Draw the threshold, the measured fidelity and the certificate's bound."""
    tau = explanation.parameters.tau
    axes.axhline(tau, color=_TAU, linewidth=1.2, linestyle=(0, (5, 3)), label=f"τ = {tau:g}")
    fidelity = explanation.fidelity
    axes.errorbar(
        [at],
        [fidelity.value],
        yerr=[[fidelity.value - fidelity.lower], [fidelity.upper - fidelity.value]],
        fmt="o",
        color=_FRESH,
        capsize=4,
        markersize=6,
        label=f"{hundredths(fidelity.value)} on {fidelity.samples} held-out samples\n"
        f"[{hundredths(fidelity.lower)}, {hundredths(fidelity.upper)}] "
        f"at {fidelity.confidence:.0%}",
    )
    certificate = explanation.certificate
    if certificate is not None:
        claim = "certified:" if explanation.certified else "not certified:"
        axes.scatter(
            [at],
            [certificate.shown],
            marker="^",
            s=40,
            facecolors=_FRESH if explanation.certified else "white",
            edgecolors=_FRESH,
            zorder=4,
            label=f"{claim} {at_least(certificate.shown, 3)}",
        )
