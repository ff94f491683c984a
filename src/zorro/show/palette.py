"""Colours that people with any kind of colour vision can tell apart, as hex strings."""

from __future__ import annotations

# Okabe and Ito's, without the black and with the pale yellow last.
CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK = "#222222"  # text, and the ring around the query
CONTEXT = "#C4C8CC"  # nodes that are not selected
LINE = "#D9DCDF"  # edges and rings
PLAIN = "#0072B2"  # what is selected, where no classes are known
ASKED = "#C04F00"  # a link that is asked about
LINKS = ("#8A9096", ASKED)  # none, and one
# Atoms, whose letters tell them apart; about as chemists colour them.
_ELEMENTS = {
    "C": "#6F767D",
    "H": "#C4C8CC",
    "N": "#0072B2",
    "O": "#C04F00",
    "S": "#E69F00",
    "P": "#E69F00",
    "F": "#007A59",
    "Cl": "#007A59",
    "Br": "#A6467A",
    "I": "#A6467A",
}
_OTHER_ELEMENT = "#5B6F9B"


def class_colour(number: int) -> str:
    """Return the colour of a class; after the last the colours begin again.

    >>> class_colour(0) == class_colour(len(CLASSES))
    True
    """
    return CLASSES[number % len(CLASSES)]


def atom_colour(symbol: str) -> str:
    """Return the colour of a chemical element; rare ones share one.

    >>> atom_colour("Na") == atom_colour("K") != atom_colour("C")
    True
    """
    return _ELEMENTS.get(symbol, _OTHER_ELEMENT)


def on(colour: str) -> str:
    """Return the colour of letters that can be read on another.

    >>> on("#000000"), on("#F0E442")
    ('#FFFFFF', '#222222')
    """
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "#FFFFFF"


def repetition(number: int) -> int:
    """Return how often the colours were used up before a class, for another marker then."""
    return number // len(CLASSES)
