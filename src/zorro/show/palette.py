"""Colours that people with any kind of colour vision can tell apart, as hex strings."""

from __future__ import annotations

# Okabe and Ito's, without the black and with the pale yellow last.
CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK = "#222222"  # text, and the ring around the query
CONTEXT = "#C4C8CC"  # nodes that are not selected
LINE = "#D9DCDF"  # edges and rings
PLAIN = "#0072B2"  # what is selected, where no classes are known


def class_colour(number: int) -> str:
    """Return the colour of a class; after the last the colours begin again.

    >>> class_colour(0) == class_colour(len(CLASSES))
    True
    """
    return CLASSES[number % len(CLASSES)]


def repetition(number: int) -> int:
    """Return how often the colours were used up before a class, for another marker then."""
    return number // len(CLASSES)
