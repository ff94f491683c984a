"""An audit as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from zorro.audit import Audit, ClassProfile, Share, Use
from zorro.audit.findings import median_in_words
from zorro.cli.terminal import show_fitted
from zorro.explanation.written import percent, shortened, times
from zorro.graph.names import Names, label
from zorro.runs import Run

_MOST_FEATURES = 4
_MOST_SUSPICIOUS = 10
_MOST_GROUPS = 8
_MOST_OF_A_NAME = 32
_HEAD = 21  # of a name above a column of numbers
_STYLES = {"alarm": "bold red", "notice": "yellow", "note": "blue"}


def show(audited: Audit, run: Run, names: Names, *, console: Console) -> None:
    """Print what stands out, what each class rests on, and which predictions to look at."""
    _findings(audited, console)
    show_fitted(_classes(audited.classes, names), console)
    if audited.contrasts:
        console.print("\nRight against wrong answers: medians", markup=False)
        show_fitted(_contrasts(audited), console)
    if audited.cells:
        console.print("\nTruth in rows, answers in columns", markup=False)
        show_fitted(_confusion(audited, names), console)
    if audited.suspicious:
        console.print(
            f"\nPredictions to look at: {len(audited.suspicious):,} of {audited.explanations:,}",
            markup=False,
        )
        show_fitted(_suspicious(audited, run), console)
    if audited.groups:
        console.print(
            f"\nExplanations that say the same: {len(audited.groups):,} groups", markup=False
        )
        show_fitted(_groups(audited, run, names), console)


def _findings(audited: Audit, console: Console) -> None:
    right = "" if audited.right is None else f", {_share(audited.right)} of the answers right"
    console.print(
        f"{audited.explanations:,} explanations, {audited.certified:,} certified{right}\n",
        markup=False,
        highlight=False,
    )
    for finding in audited.findings:
        style = _STYLES[finding.gravity]
        console.print(f"[{style}]{finding.gravity:<6}[/]  {escape(finding.text)}", highlight=False)
    console.print("Nothing stands out.\n" if not audited.findings else "", markup=False)


def _classes(classes: Sequence[ClassProfile], names: Names) -> Table:
    table = _table("answer", "count", "right", "size", "rests on")
    for profile in classes:
        table.add_row(
            escape(_answer(profile.answer, names)),
            f"{len(profile.keys):,}",
            "–" if profile.right is None else percent(profile.right.value),
            " × ".join(f"{size:g}" for size in profile.sizes.values()),
            escape("; ".join(_used(profile, names))),
        )
    return table


def _used(profile: ClassProfile, names: Names) -> list[str]:
    """Return what a class's explanations keep most: features, or nodes where they keep none."""
    if profile.features:
        return [_often(use, names.of_feature) for use in profile.features[:_MOST_FEATURES]]
    return [_often(use, names.of_node) for use in profile.nodes[:_MOST_FEATURES]]


def _often(use: Use, name: Callable[[int], str]) -> str:
    lift = "" if use.lift is None else f", ×{times(use.lift)}"
    return f"{_short(name(int(use.what)))} {percent(use.share.value)}{lift}"


def _answer(answer: int | None, names: Names) -> str:
    return "all" if answer is None else _short(names.of_class(answer))


def _short(name: str) -> str:
    return shortened(name, _MOST_OF_A_NAME)


def _contrasts(audited: Audit) -> Table:
    table = _table("", "right", "wrong", "larger where wrong", "")
    for one in audited.contrasts:
        table.add_row(
            one.quantity,
            median_in_words(one.right, one.quantity),
            median_in_words(one.wrong, one.quantity),
            f"{percent(one.larger)} of pairs",
            "differs" if one.differs else "",
        )
    return table


def _confusion(audited: Audit, names: Names) -> Table:
    counts = {(cell.truth, cell.predicted): len(cell.keys) for cell in audited.cells}
    numbers = sorted({number for pair in counts for number in pair})
    table = _table(
        "", *(escape(shortened(label(names.classes, n) or str(n), _HEAD)) for n in numbers)
    )
    for truth in numbers:
        row = [f"{counts[truth, n]:,}" if (truth, n) in counts else "·" for n in numbers]
        table.add_row(escape(_answer(truth, names)), *row)
    return table


def _suspicious(audited: Audit, run: Run) -> Table:
    table = _table(run.about.kind, "why")
    for one in audited.suspicious[:_MOST_SUSPICIOUS]:
        table.add_row(run.about.of_key(one.key).label, "; ".join(one.reasons))
    return table


def _groups(audited: Audit, run: Run, names: Names) -> Table:
    table = _table("count", "answer", "all keep", "typical")
    for group in audited.groups[:_MOST_GROUPS]:
        shared = ", ".join(
            f"{_short(names.of_feature(feature))} ({percent(count / len(group.keys))})"
            for feature, count in group.features
        )
        table.add_row(
            f"{len(group.keys):,}",
            escape(_answer(group.answer, names)),
            escape(shared),
            run.about.of_key(group.representative).label,
        )
    return table


def _table(*headers: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for header in headers:
        is_number = header in ("count", "right", "size", "wrong", "larger where wrong")
        table.add_column(header, justify="right" if is_number else "left")
    return table


def _share(share: Share) -> str:
    return f"{percent(share.value)} ({percent(share.lower)} to {percent(share.upper)})"
