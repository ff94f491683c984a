"""A small piece of HTML that says one explanation, for notebooks: no scripts, no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from zorro.explanation.explanation import Explanation
from zorro.explanation.sentence import Phrase, phrases
from zorro.explanation.text import lines
from zorro.graph.names import Names

_SENTENCE = "font-size:1.1em;line-height:1.5;max-width:44em;margin:.4em 0 .8em"
_LABEL = "text-align:left;padding-right:1em;font-weight:600;vertical-align:top"
_TEXT = "text-align:left;max-width:44em"


def shown(explanation: Explanation) -> str:
    """Return what a notebook shows of an explanation."""
    said = phrases(explanation.claim)
    return _card(said, lines(explanation, Names()), explanation.band_svg())


def _card(said: Sequence[Phrase], lines: Sequence[tuple[str, str]], drawing: str) -> str:
    """Return the sentence, a drawing if there is one, and a small table.

    Args:
        said: the sentence's pieces.
        lines: the table's labels and texts.
        drawing: SVG, inserted as it is.
    """
    sentence = "".join(
        f"<strong>{escape(piece)}</strong>" if stressed else escape(piece)
        for piece, stressed in said
    )
    rows = "".join(
        f'<tr><th style="{_LABEL}">{escape(label)}</th><td style="{_TEXT}">{escape(line)}</td></tr>'
        for label, line in lines
    )
    return f'<div><p style="{_SENTENCE}">{sentence}</p>{drawing}<table>{rows}</table></div>'
