"""Explanations as people read them: a row each, and for a few what was selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from zorro.cli.terminal import show_fitted
from zorro.elements import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    NODES,
    RELATIONS,
    TYPES,
    redraws_features,
)
from zorro.errors import TROUBLESHOOTING
from zorro.explanation.typed import listed_by_type
from zorro.explanation.written import at_least, interval, shortened
from zorro.graph.names import LINK_CLASSES, Labels, LabelsByType, Names, label
from zorro.question import Level

if TYPE_CHECKING:
    from zorro.explanation import Explanation, Parameters
    from zorro.explanation.explanation import Status
    from zorro.runs import Known

# What two classes are called where that follows from what is asked about.
_CLASSES: Mapping[Level, Labels] = {"link": LINK_CLASSES}
_RIGHT, _WRONG = " ✓", " ✗"
_STYLES = {_RIGHT: "green", _WRONG: "red", "": ""}
_BESIDE_NAMES = 82  # characters of a row that are no names
_SHORTEST = 12  # to which names are cut
_MOST_OF_A_NAME = 40
_MOST_SHOWN_IN_FULL = 10
_MOST_MEMBERS = 20
# Statuses that people ask about, which are headings there.
EXPLAINED_IN_DOCS: tuple[Status, ...] = (
    "nothing needed",
    "everything needed",
    "budget exhausted",
    "conditional",
)


def show(
    explanations: Sequence[Explanation],
    known: Known,
    *,
    description: str,
    console: Console,
) -> None:
    """Print `explanations` in the words that are known, with what is true if that is."""
    if not explanations:
        return
    parts: list[RenderableType] = [
        _heading(description, explanations),
        _overview(explanations, known, console.width),
    ]
    if len(explanations) <= _MOST_SHOWN_IN_FULL:
        parts.append(_selected(explanations, known.names))
    parts.append(_summary(explanations, known.truth))
    for part in parts:
        console.print()
        show_fitted(part, console)


def _heading(description: str, explanations: Sequence[Explanation]) -> str:
    p = explanations[0].parameters
    claim = (
        "" if p.delta is None else f", certified with {1 - p.delta:.0%} confidence on unseen ones"
    )
    held_out = sorted({e.fidelity.samples for e in explanations})
    counts = " to ".join(str(count) for count in dict.fromkeys([held_out[0], held_out[-1]]))
    return (
        f"{description}\n"
        f"{p.search} search (k = {p.k or 'all'}) for a fidelity above τ = {p.tau:g} on {p.samples} "
        f"samples{_noise(p)}, seed {p.seed}{claim}; "
        f"estimated on {counts} held-out ones"
    )


def _overview(explanations: Sequence[Explanation], known: Known, width: int) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    confidence = explanations[0].fidelity.confidence
    kind, size = explanations[0].query.kind, " × ".join(explanations[0].selected)
    for header in (kind, "predicted", "truth", size):
        table.add_column(header, justify="right", no_wrap=header != size)
    table.add_column("fidelity", no_wrap=True)
    table.add_column(f"estimated [{confidence:.0%}]", no_wrap=True)
    table.add_column("search")
    table.add_column("seconds", justify="right", no_wrap=True)
    named = [
        (_query(e, known.names), _predicted(e, known.names), *_truth(e, known))
        for e in explanations
    ]
    most = _most_that_fits(
        [max(len(row[at]) for row in named) for at in range(3)], width - _BESIDE_NAMES
    )
    for e, (query, predicted, truth, mark) in zip(explanations, named, strict=True):
        table.add_row(
            shortened(query, most),
            shortened(predicted, most),
            Text(f"{shortened(truth, most)}{mark}", style=_STYLES[mark]),
            " × ".join(str(len(e.elements(kind))) for kind in e.selected),
            "" if e.bound is None else at_least(e.bound),
            interval(e.fidelity),
            e.status,
            f"{e.seconds:.1f}",
        )
    return table


def _most_that_fits(lengths: Sequence[int], room: int) -> int:
    """Return the most characters of a name with which columns of names fit beside each other."""
    return next(
        (
            most
            for most in range(max(lengths), _SHORTEST, -1)
            if sum(min(length, most) for length in lengths) <= room
        ),
        _SHORTEST,
    )


def sizes_in_words(sizes: Mapping[str, float]) -> str:
    """Return how many elements there are of each kind."""
    return " × ".join(f"{number:g} {kind}" for kind, number in sizes.items())


def _query(explanation: Explanation, names: Names) -> str:
    """Return what was asked about, by its names if it has some."""
    query = explanation.query
    if query.level == "graph" or query.types:
        return query.label
    ends = (query.index,) if query.to is None else (query.index, query.to)
    return "–".join(label(names.nodes, end) or str(end) for end in ends)


def _predicted(explanation: Explanation, names: Names) -> str:
    if explanation.predicted_class is None or explanation.label is not None:
        return explanation.answer
    predicted = _class(explanation, explanation.predicted_class, names)
    if explanation.versus is None:
        return predicted
    how = "not" if explanation.versus.contrast == "beats" else "or any but"
    return f"{predicted}, {how} {_class(explanation, explanation.versus.other, names)}"


def _class(explanation: Explanation, number: int, names: Names) -> str:
    """Return what a class is called: by its name, its number, or whether there is a link."""
    level = explanation.query.level
    if level in _CLASSES and len(explanation.probabilities) != 2:
        return str(number)
    return label(names.classes or _CLASSES.get(level, ()), number) or str(number)


def _truth(explanation: Explanation, known: Known) -> tuple[str, str]:
    """Return what is true, and a mark that says whether the answer is that, if it can be."""
    true = None if known.truth is None else known.truth.get(explanation.query.key)
    if true is None:
        return "unknown", ""
    is_class = isinstance(true, int) and explanation.predicted_class is not None
    if explanation.query.level in _CLASSES:
        named = label(_CLASSES[explanation.query.level], int(true))
    else:
        named = label(known.names.classes, int(true)) if is_class else None
    shown = named or (str(true) if isinstance(true, int) else f"{true:.4g}")
    if not _can_be_right(explanation):
        return shown, ""
    return shown, _RIGHT if true == explanation.predicted_class else _WRONG


def _can_be_right(explanation: Explanation) -> bool:
    """Whether the answer is one of the classes of which the truth is one."""
    names = _CLASSES.get(explanation.query.level)
    if explanation.predicted_class is None:
        return False
    return names is None or len(explanation.probabilities) == len(names)


def _noise(asked: Parameters) -> str:
    """Return what happens to all that is not kept."""
    noise = f" of {asked.noise} noise" if redraws_features(asked.keep) else ""
    return f"{noise}, {asked.other_edges}" if asked.other_edges else noise


def _selected(explanations: Sequence[Explanation], names: Names) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column(explanations[0].query.kind, justify="right", no_wrap=True)
    titles: dict[str, str] = {
        NODES: "rests on nodes",
        FEATURES: "with features",
        EDGES: "rests on edges",
        EDGE_ATTRIBUTES: "and attributes of",
        TYPES: "rests on nodes of",
        RELATIONS: "rests on edges",
    }
    for kind in explanations[0].selected:
        table.add_column(titles[kind])
    for e in explanations:
        query = shortened(_query(e, names), _MOST_OF_A_NAME)
        table.add_row(query, *(_members(e, kind, names) for kind in e.selected))
    return table


def _members(explanation: Explanation, kind: str, names: Names) -> str:
    """Return what is kept of a kind, that first without which most is lost; type by type."""
    members = [member for members in explanation.ordered(kind) for member in members]
    if explanation.types is not None:
        named: dict[str, Labels] = {NODES: names.nodes, FEATURES: names.features}
        labels = named.get(kind)
        if isinstance(labels, LabelsByType):  # some have names of their own
            return _listed([labels[member] for member in members if isinstance(member, int)])
        return listed_by_type(kind, members, explanation.types, most=_MOST_MEMBERS)
    return _listed([names.member(kind, member) for member in members])


def _how_right(explanations: Sequence[Explanation], truth: Mapping[int, float]) -> list[str]:
    if _can_be_right(explanations[0]):
        known = [e for e in explanations if e.query.key in truth]
        right = sum(truth[e.query.key] == e.predicted_class for e in known)
        return [f"{right} of {len(known)} predictions are right."]
    if explanations[0].value is None or explanations[0].query.level in _CLASSES:
        return []  # to be ahead of others, or a value of a link, is neither right nor wrong
    off = [
        abs(truth[e.query.key] - e.value.value)
        for e in explanations
        if e.value is not None and e.query.key in truth
    ]
    return [f"Predictions are off by {median(off):.3g} at the median."]


def _listed(members: Sequence[str]) -> str:
    text = ", ".join(members[:_MOST_MEMBERS]) or "none"
    left = len(members) - _MOST_MEMBERS
    return f"{text} and {left} more" if left > 0 else text


def _summary(explanations: Sequence[Explanation], truth: Mapping[int, float] | None) -> str:
    count = len(explanations)
    lines = [] if truth is None else _how_right(explanations, truth)
    if count > _MOST_SHOWN_IN_FULL:
        kinds = explanations[0].selected
        sizes = {kind: median(len(e.elements(kind)) for e in explanations) for kind in kinds}
        lines.append(f"The median size is {sizes_in_words(sizes)}.")
    certified = sum(e.certified for e in explanations)
    if any(e.certificate is not None for e in explanations):
        lines.append(f"{certified} of {count} are certified.")
    others = [e for e in explanations if not e.certified]
    if others:
        below = [e.query.label for e in others if e.fidelity.value <= e.parameters.tau]
        which = "others" if certified else "sets"
        share = f"{len(others) - len(below)} of {len(others)} {which} exceed τ on held-out samples"
        lines.append(f"{share}; not for: {_listed(below)}." if below else f"{share}.")
    for status in EXPLAINED_IN_DOCS:
        having = [e.query.label for e in explanations if e.status == status]
        if having:
            about = f"{TROUBLESHOOTING}#{status.replace(' ', '-')}"
            lines.append(f"{status.capitalize()} for {_listed(having)}: see {about}.")
    for caveat in sorted({e.caveat for e in explanations if e.caveat is not None}):
        having = [e.query.label for e in explanations if e.caveat == caveat]
        lines.append(f"Of {_listed(having)}: {caveat}.")
    return "\n".join(lines)
