"""Audits and comparisons of runs as figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zorro.audit import Audit, ClassProfile, RunComparison, Use
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.show import palette
from zorro.show.plot.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE = 0.24  # inches of a bar
_INNER = 2.3  # inches of all bars
_LETTER = 0.068  # inches, of labels
_GAP = 0.75
_LONGEST = 28  # letters of a name


def audit(audited: Audit, *, names: Names | None = None, features: int = 6) -> Figure:
    """Draw what each class rests on: the share of its explanations that keep each feature.

    Bars have their exact intervals; a mark says what sets of the same sizes would keep by chance.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.plot import audit
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [8, 9, 11], out="runs/votes")
    >>> audit(run.audit(x=club.x, edge_index=club.edge_index)).savefig("audit.pdf")

    Args:
        audited: what `Run.audit` returns.
        names: of features and classes.
        features: how many of each class.
    """
    if not isinstance(audited, Audit):
        raise InputError(f"audited: expected what Run.audit returns, got {type(audited).__name__}")
    known = names or Names()
    profiles = [profile for profile in audited.classes if profile.features]
    if not profiles:
        raise InputError("audited: expected explanations that keep features, got none that do")
    columns = min(3, len(profiles))
    rows = -(-len(profiles) // columns)
    shown = [profile.features[:features] for profile in profiles]
    labels = [[_short(known.of_feature(int(use.what))) for use in uses] for uses in shown]
    left = 0.25 + _LETTER * max(len(label) for each in labels for label in each)
    height_of = 0.35 + _LINE * max(map(len, shown))
    width = columns * (left + _INNER + 0.25)
    height = rows * (height_of + _GAP) + 0.3
    figure = new_figure(width, height)
    for at, (profile, uses) in enumerate(zip(profiles, shown, strict=True)):
        row, column = divmod(at, columns)
        axes = figure.add_axes(
            (
                (column * (left + _INNER + 0.25) + left) / width,
                (height - (row + 1) * (height_of + _GAP) + 0.45) / height,
                _INNER / width,
                height_of / height,
            )
        )
        _bars(axes, uses, labels[at])
        axes.set_title(_title(profile, known), fontsize=9, loc="left")
    return figure


def compare_runs(result: RunComparison, *, names: Names | None = None) -> Figure:
    """Draw how much of each class's answers rests on other grounds, and the cross-fidelities.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs as compared
    >>> from zorro.data import karate_club
    >>> from zorro.plot import compare_runs
    >>> club = karate_club()
    >>> one = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> other = Zorro(SimpleConv(combine_root="self_loop"), club.x, club.edge_index)  # and oneself
    >>> def on_other(e):
    ...     return other.fidelity(e.node, nodes=e.nodes, features=e.features)
    >>> nodes = (8, 11)
    >>> result = compared(map(one.explain, nodes), map(other.explain, nodes), on_second=on_other)
    >>> compare_runs(result).savefig("compared.pdf")

    Args:
        result: what `zorro.audit.compare_runs` returns.
        names: of classes.
    """
    if not isinstance(result, RunComparison):
        raise InputError(
            f"result: expected what zorro.audit.compare_runs returns, got {type(result).__name__}"
        )
    known = names or Names()
    classes = result.classes
    if not classes:
        raise InputError("result: expected answers that both models give, got none")
    labels = [
        _short("all" if one.answer is None else known.of_class(one.answer)) for one in classes
    ]
    left = 0.3 + _LETTER * max(map(len, labels))
    inner = 0.4 + _LINE * len(classes)
    width, height = left + 2 * _INNER + 0.5, inner + 1.0
    figure = new_figure(width, height)
    grounds, crossed = (
        figure.add_axes((start / width, 0.55 / height, _INNER / width, inner / height))
        for start in (left, left + _INNER + 0.3)
    )
    places = range(len(classes))
    for place, one in zip(places, classes, strict=True):
        if one.changed is not None:
            share = one.changed
            colour = palette.ASKED if one.moved else palette.PLAIN
            grounds.barh(place, share.value, height=0.6, color=colour, alpha=0.7)
            _interval(grounds, place, share.lower, share.upper)
        for value, marker, label in ((one.there, "o", "A on B"), (one.back, "s", "B on A")):
            if value is not None:
                crossed.plot(
                    value, place, marker, color=palette.INK, label="" if place else label, ms=5
                )
    _share_axis(grounds, labels)
    _share_axis(crossed, [""] * len(labels))
    grounds.set_title("rest on other grounds", fontsize=9, loc="left")
    crossed.set_title("cross-fidelity, mean", fontsize=9, loc="left")
    if crossed.lines:
        crossed.legend(frameon=False, fontsize=7, loc="lower left")
    return figure


def _bars(axes: Axes, uses: Sequence[Use], labels: Sequence[str]) -> None:
    for place, use in enumerate(uses):
        axes.barh(place, use.share.value, height=0.6, color=palette.PLAIN, alpha=0.55)
        _interval(axes, place, use.share.lower, use.share.upper)
        if use.expected is not None:
            axes.plot([use.expected] * 2, [place - 0.42, place + 0.42], color=palette.ASKED, lw=1.5)
    _share_axis(axes, labels)


def _interval(axes: Axes, place: int, lower: float, upper: float) -> None:
    axes.plot([lower, upper], [place, place], color=palette.INK, lw=1.2)


def _share_axis(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels=list(labels), parse_math=False)
    axes.set_xticks([0, 0.5, 1], labels=["0", ".5", "1"])
    axes.tick_params(length=0, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(palette.LINE)


def _title(profile: ClassProfile, names: Names) -> str:
    name = "all" if profile.answer is None else names.of_class(profile.answer)
    return f"{_short(name)} ({len(profile.keys):,})"


def _short(name: str) -> str:
    """Return a name that is shortened in its middle where it is long."""
    if len(name) <= _LONGEST:
        return name
    half = (_LONGEST - 1) // 2
    return f"{name[:half]}…{name[-half:]}"
