"""What an experiment leaves: a tidy CSV, a Markdown table, and figures."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import torch
import torch_geometric

from zorro.files.whole_file import whole_file
from zorro.show.plot.canvas import save
from zorro.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
# Called when it is to be written, so that experiments need no plotting package to be listed.
Draw = Callable[[], "Figure"]


@dataclass(frozen=True)
class Report:
    """An experiment's outcome.

    Args:
        title: of the table.
        rows: one measured value or mean each, with what it is of.
        text: Markdown: tables beside the published values, and what to make of them.
        figures: what draws them, by name.
        made_with: versions and hardware behind the rows; those in use when empty.
    """

    title: str
    rows: Sequence[Row]
    text: str
    figures: Mapping[str, Draw] = field(default_factory=dict)
    made_with: Sequence[str] = ()

    def write(self, folder: Path, name: str, *, command: str) -> list[Path]:
        """Write everything below a name; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / f"{name}.csv"
        with whole_file(table) as file:
            file.write(as_csv(self.rows).encode())
        drawn = []
        for part, draw in self.figures.items():
            stem = name if part == "figure" else f"{name}_{part}"
            figure = draw()
            for kind in ("svg", "png"):
                drawn.append(folder / f"{stem}.{kind}")
                with whole_file(drawn[-1]) as file:
                    save(figure, file, kind=kind)
        pictures = [f"![{path.stem}]({path.name})" for path in drawn if path.suffix == ".png"]
        made_with = "; ".join(self.made_with) or versions()
        page = folder / f"{name}.md"
        text = "\n".join([f"# {self.title}", "", f"`{command}`; {made_with}.", "", self.text, ""])
        text += "".join(f"\n{picture}\n" for picture in pictures)
        with whole_file(page) as file:
            file.write(text.encode())
        return [table, page, *drawn]


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV, with the columns of all."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; numbers are given two decimals, None a dash.

    >>> print(as_table(["a", "b"], [["x", 0.125]]))
    | a | b |
    | --- | --- |
    | x | 0.12 |
    """
    lines = [header, ["---"] * len(header), *([shown(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def triple(*values: float | None) -> str:
    """Return values beside one another.

    >>> triple(0.5, None, 0.25)
    '0.50 / – / 0.25'
    """
    return " / ".join(shown(value) for value in values)


def shown(value: object) -> str:
    """Return a table's entry."""
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def versions() -> str:
    """Return what computed."""
    return (
        f"zorro {__version__}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"torch_geometric {torch_geometric.__version__}, numpy {numpy.__version__}"
    )
