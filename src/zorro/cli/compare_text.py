"""A comparison of two runs as people read it in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from zorro.audit import ClassShift, FeatureShift, RunComparison, Share
from zorro.audit.comparison import Grounds
from zorro.cli.terminal import show_fitted
from zorro.explanation.written import hundredths, percent
from zorro.graph.names import Names
from zorro.question import About

_MOST_LISTED = 10
_MEANT: dict[Grounds, str] = {
    "kept": "each model's set keeps the other's answer",
    "more": "B needs more than A kept",
    "fewer": "A needs more than B kept",
    "changed": "neither model's set keeps the other's answer",
    "unmeasured": "not measured",
}


def show(result: RunComparison, about: About, names: Names, *, console: Console) -> None:
    """Print what changed, class by class."""
    lines = [
        f"{result.shared:,} {about.nouns} are in both runs "
        f"({result.only_first:,} only in the first, "
        f"{result.only_second:,} only in the second)",
        *result.notes,
        "",
        f"{_share(result.changed_predictions)} of the answers changed",
        *_grounds(result),
        "",
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False)
    if result.classes:
        show_fitted(_classes(result.classes, names), console)
    for moved in result.moved:
        console.print(f"\n[bold red]moved[/]  {escape(_said(moved, names))}", highlight=False)
    changed = [pair.key for pair in result.pairs if pair.grounds == "changed"]
    if changed:
        shown = ", ".join(about.of_key(key).label for key in changed[:_MOST_LISTED])
        more = len(changed) - _MOST_LISTED
        rest = f" and {more} more" if more > 0 else ""
        console.print(f"\nChanged grounds: {about.kind} {shown}{rest}", markup=False)


def _grounds(result: RunComparison) -> list[str]:
    same = result.changed_predictions.total - result.changed_predictions.count
    if not same:
        return ["so there are no grounds to compare"]
    lines = [f"of the {same:,} others, sets share {percent(result.jaccard)} of their elements"]
    if result.changed_grounds is not None:
        counts = Counter(pair.grounds for pair in result.pairs if pair.same)
        lines.append(f"and {_share(result.changed_grounds)} rest on other grounds:")
        lines += [f"  {counts[kind]:>6,}  {text}" for kind, text in _MEANT.items() if counts[kind]]
    return lines


def _classes(classes: Sequence[ClassShift], names: Names) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    headers = ("answer", "same", "changed grounds", "overlap", "A on B", "B on A", "features")
    for header in headers:
        table.add_column(header, justify="left" if header in ("answer", "features") else "right")
    for one in classes:
        table.add_row(
            escape("all" if one.answer is None else names.of_class(one.answer)),
            f"{len(one.keys):,}",
            "–" if one.changed is None else percent(one.changed.value),
            percent(one.jaccard),
            *("–" if value is None else hundredths(value) for value in (one.there, one.back)),
            escape("; ".join(_shift(shift, names) for shift in one.features)),
        )
    return table


def _said(moved: ClassShift, names: Names) -> str:
    assert moved.changed is not None
    name = "All answers" if moved.answer is None else names.of_class(moved.answer)
    said = f"{name}: {_share(moved.changed)} of its answers rest on other grounds"
    if moved.features:
        said += f"; {'; '.join(_shift(shift, names) for shift in moved.features)}"
    return said


def _shift(shift: FeatureShift, names: Names) -> str:
    name = names.of_feature(shift.feature)
    return f"{name} {percent(shift.before.value)} → {percent(shift.after.value)}"


def _share(share: Share) -> str:
    return (
        f"{percent(share.value)} ({share.count:,} of {share.total:,}; {percent(share.lower)} to "
        f"{percent(share.upper)})"
    )
