"""What an explanation claims, in one sentence or two that anyone can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zorro.elements.edges import Member
from zorro.elements.space import BLOCKS, FEATURES, NODES
from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation.written import NBSP, percent, probability
from zorro.graph.names import Names
from zorro.question import Level, Query

# What else can be asked where the answer is a class.
_WHY_NOT: dict[Level, str] = {
    "node": "why it is not another class",
    "link": "why it is ahead of another link",
    "graph": "why it is not another class",
}
Phrase = tuple[str, bool]  # a piece of text, and whether it is stressed


@dataclass(frozen=True)
class Claim:
    """The facts that the sentence is about.

    Args:
        query: what was asked about.
        predicted_class: what the model says of it, None if that is a value.
        probability: of that class.
        kept: how many elements of each selectable kind are kept.
        status: of the explanation.
        tau: the fidelity that was looked for.
        shown: the fidelity that was to be shown: τ, or more where it was to go beyond chance.
        sure: the probability with which the fidelity is at least that, None if it was not shown.
        fidelity: as measured on unseen samples.
        other: the class that the answer is held against, if any.
        contrast: in what sense it is.
        caveat: what was left at its true values though it may matter, if anything.
        chance: how often random inputs get the same answer, where the set was to go beyond that.
        value: what the model says, if it is no class.
        tolerance: how far the value may move.
        side: in which direction it may not.
        answer: what the model says, in a word or two.
        label: the label that the model was asked about, if it has several; the class says whether
            it is there.
        weightiest: elements without which the most is lost: of which kind, which, and how much.
        without_itself: whether nodes are kept and the one that was asked about is not among them.
        rows_suffice: whether a kept node keeps something of itself though no feature is kept.
        counted: what is kept of a kind in words, where there are several types to be told.
    """

    query: Query
    predicted_class: int | None
    probability: float | None
    kept: Mapping[str, int]
    status: str
    tau: float
    shown: float
    sure: float | None
    fidelity: FidelityEstimate
    other: int | None = None
    contrast: str | None = None
    caveat: str | None = None
    chance: FidelityEstimate | None = None
    value: float | None = None
    tolerance: float | None = None
    side: str | None = None
    label: int | None = None
    answer: str = ""
    rows_suffice: bool = False
    weightiest: Sequence[tuple[str, tuple[Member, ...], float]] = ()
    without_itself: bool = False
    counted: Mapping[str, str] = field(default_factory=dict)


def phrases(claim: Claim, names: Names | None = None) -> list[Phrase]:
    """Return the claim in pieces, the classes stressed."""
    names = names or Names()
    return [
        *_prediction(claim, names),
        *_worlds(claim, names),
        *_inside(claim, names),
        *_remarks(claim),
    ]


def text(phrases: Sequence[Phrase]) -> str:
    """Return pieces as plain text."""
    return "".join(piece for piece, _ in phrases)


def _prediction(claim: Claim, names: Names) -> list[Phrase]:
    query = claim.query
    if query.rivals and query.to is not None:
        link = f"The model puts the link {names.of_link(query.index, query.to)} "
        return [(link, False), (_ahead(claim, names), True), (". ", False)]
    sure = "" if claim.probability is None else f" (p{NBSP}{_probability(claim.probability)})"
    said: list[Phrase] = [
        ("The model says ", False),
        (_answer(claim, names), True),
        (f"{sure} for {names.of_query(query)}", False),
    ]
    if claim.other is not None:
        said += [(". Why not ", False), (names.of_class(claim.other), True), ("? ", False)]
    else:
        said += [(". ", False)]
    return said


def _ahead(claim: Claim, names: Names) -> str:
    """Return what a link is ahead of."""
    if len(claim.query.rivals) > 1:
        return claim.answer
    return f"ahead of {names.of_link(claim.query.index, claim.query.rivals[0])}"


def _answer(claim: Claim, names: Names) -> str:
    if claim.value is not None:
        return f"{claim.value:.4g}".replace("-", "−", 1)
    assert claim.predicted_class is not None
    if claim.label is None:
        return names.of_class(claim.predicted_class)
    return f"{'' if claim.predicted_class else 'not '}{names.of_label(claim.label)}"


def _worlds(claim: Claim, names: Names) -> list[Phrase]:
    kept = _kept(claim, names)
    if claim.sure is not None:
        least = f"≥{NBSP}{percent(claim.shown)}"
        share = f"in {least} of all random worlds ({percent(claim.sure)} sure)."
        return [(f"{kept} ", False), *_event(claim, names, "keeps"), (f" {share}", False)]
    measured = claim.fidelity
    share = (
        f"in {percent(measured.value)} of {measured.samples:,} random worlds "
        f"({percent(measured.confidence)} interval: {percent(measured.lower)} to "
        f"{percent(measured.upper)}). Nothing is proved: {_why_not_proved(claim)}."
    )
    return [(f"{kept} ", False), *_event(claim, names, "kept"), (f" {share}", False)]


def _inside(claim: Claim, names: Names) -> list[Phrase]:
    """Say what matters most among what is kept, and what one might look for there in vain."""
    said: list[Phrase] = []
    if claim.without_itself:
        said.append((f" The {_asked(claim, names)} itself is not among what is kept.", False))
    if claim.weightiest:
        each = [
            f"{_element(claim, kind, members, names)} ({percent(loss)} of all worlds)"
            for kind, members, loss in claim.weightiest
        ]
        said.append((f" Most is lost without {' and '.join(each)}.", False))
    return said


def _element(claim: Claim, kind: str, members: tuple[Member, ...], names: Names) -> str:
    if kind == NODES and claim.query.level == "node" and members == (claim.query.index,):
        return f"the {_asked(claim, names)} itself"
    return names.element(kind, members)


def _asked(claim: Claim, names: Names) -> str:
    """Return what the node that was asked about is, with several types its type."""
    return claim.query.kind if claim.query.types else names.node


def _remarks(claim: Claim) -> list[Phrase]:
    said: list[Phrase] = []
    if claim.chance is not None:
        share = f"{percent(claim.chance.value)} of {claim.chance.samples:,}"
        said.append((f" Chance alone gives it in {share}.", False))
    if claim.status == "nothing needed":
        said.append(
            (
                f" So random inputs get this answer anyway: ask {_what_else(claim)}.",
                False,
            )
        )
    if claim.caveat is not None:
        said.append((f" This is not certified: {claim.caveat}.", False))
    return said


def _what_else(claim: Claim) -> str:
    """Return what can be asked of an answer that needs nothing."""
    always = ["for what goes beyond chance", "for a higher τ"]
    if claim.value is not None:
        *others, last = [*always, "for a smaller tolerance"]
    elif claim.predicted_class is None or claim.label is not None:
        *others, last = always
    else:
        *others, last = [*always, _WHY_NOT[claim.query.level]]
    return f"{', '.join(others)}, or {last}"


def _kept(claim: Claim, names: Names) -> str:
    blocks = [[kind for kind in block if kind in claim.kept] for block in BLOCKS]
    filled = [block for block in blocks if block and _is_filled(claim, block)]
    size = " and ".join(_block(claim, block, names) for block in filled)
    if claim.status == "nothing needed" or not filled:
        return "Even keeping nothing fixed"
    if claim.status == "everything needed":
        return f"Keeping everything fixed that was looked at ({size})"
    return f"Keeping {size} fixed"


def _block(claim: Claim, block: Sequence[str], names: Names) -> str:
    """Return how much is kept of kinds that are kept together."""
    parts = [
        claim.counted.get(kind) or names.counted(kind, claim.kept[kind])
        for kind in block
        if claim.kept[kind]
    ]
    if len(parts) > 1:
        parts = [f"({part})" if " and " in part else part for part in parts]
    return f"{NBSP}×{NBSP}".join(parts)


def _is_filled(claim: Claim, block: Sequence[str]) -> bool:
    """Whether something is kept by what is kept of a block's kinds."""
    suffice = claim.rows_suffice and len(block) > 1
    return all(claim.kept[kind] for kind in block if kind != FEATURES or not suffice)


def _event(claim: Claim, names: Names, verb: str) -> list[Phrase]:
    if claim.value is not None:
        how = {
            "both": f"within {claim.tolerance:.3g} of that",
            "up": f"from falling by more than {claim.tolerance:.3g}",
            "down": f"from rising by more than {claim.tolerance:.3g}",
        }
        return [(f"{verb} it {how[str(claim.side)]}", False)]
    if claim.query.rivals:
        return [(f"{verb} it there", False)]
    if claim.other is None:
        return [(f"{verb} that answer", False)]
    assert claim.predicted_class is not None
    other = (names.of_class(claim.other), True)
    if claim.contrast == "not":
        return [(f"{verb} the model from saying ", False), other]
    predicted = (names.of_class(claim.predicted_class), True)
    return [(f"{verb} ", False), predicted, (" ahead of ", False), other]


def _why_not_proved(claim: Claim) -> str:
    return {
        "budget exhausted": f"the search ended at its limits before {percent(claim.tau)} was shown",
        "everything needed": f"no smaller set reached {percent(claim.tau)}",
    }.get(claim.status, "no certificate was asked for")


def _probability(value: float) -> str:
    """Return what a probability is: = .93, and never 1.00 for what is less."""
    sign, _, digits = probability(value).rpartition(" ")
    return f"{sign or '='}{NBSP}{digits.removeprefix('0')}"
