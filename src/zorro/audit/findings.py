"""What stands out in an audit: one sentence each, with its numbers and its cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from zorro.audit.cases import Case
from zorro.audit.contrasts import SHARES, Contrast
from zorro.audit.mistakes import TypicalFeature
from zorro.audit.profile import ClassProfile
from zorro.audit.setting import OWN, TRAINING, Setting
from zorro.audit.share import FAMILIES, SURE, Median, Share, more_than_chance
from zorro.audit.suspicious import CONFIDENT, Suspicion
from zorro.audit.telltale import Telltale, telltale_of
from zorro.audit.uses import HUB, Use
from zorro.explanation.written import percent, times
from zorro.graph.names import Names

Gravity = Literal["alarm", "notice", "note"]
GRAVITIES: tuple[Gravity, ...] = get_args(Gravity)
_DOMINANT = 0.5  # share of a class's explanations that keep one and the same feature
_TELLS = 0.9  # how well it must tell the class on its own to look like a leaked label
_TIMES_CHANCE = 2.0
_WORTH_TELLING = 0.1  # by how much pairs of a right and a wrong answer differ from even
_MOST_OF_EACH = 5  # findings of a kind


@dataclass(frozen=True)
class Finding:
    """Something that stands out.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import GraphSetting, audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> found = [votes.explain(node) for node in (8, 9, 14, 15, 18, 20, 22, 26)]
    >>> finding = audit(found, setting=GraphSetting(club.x, club.edge_index)).findings[0]
    >>> finding.gravity, finding.kind, len(finding.keys)
    ('notice', 'neighbours decide', 8)
    >>> print(finding.text)  # doctest: +NORMALIZE_WHITESPACE
    100 % (8 of 8; 63.1 % to 100 %) of the explanations of class 0 do not keep
    the node itself: its neighbours decide.

    Args:
        kind: what it is about, in a word or two.
        gravity: `"alarm"` for what a sound model would hardly show, `"notice"` for what should be
            looked at, `"note"` for what is good to know.
        text: one sentence with the numbers.
        keys: of the queries that show it.
        strength: by which findings of one gravity are ordered.
    """

    kind: str
    gravity: Gravity
    text: str
    keys: tuple[int, ...]
    strength: float = 0.0


def findings_of(
    profiles: Sequence[ClassProfile],
    cases: Sequence[Case],
    *,
    contrasts: Sequence[Contrast],
    error_features: Sequence[TypicalFeature],
    suspicious: Sequence[Suspicion],
    setting: Setting | None,
    names: Names,
    confidence: float,
) -> list[Finding]:
    """Return what stands out, the gravest first.

    Args:
        profiles: what each class rests on.
        cases: all of them.
        contrasts: right against wrong answers.
        error_features: features that are typical of wrong answers.
        suspicious: predictions that somebody should look at.
        setting: the graph or graphs, if they are at hand.
        names: of nodes, features and classes.
        confidence: of the intervals.
    """
    teller = _Teller(cases, setting, names, confidence)
    found = [
        *(finding for profile in profiles for finding in teller.of_class(profile)),
        *teller.of_mistakes(contrasts, error_features),
        *teller.of_suspicions(suspicious),
    ]
    order = {gravity: at for at, gravity in enumerate(GRAVITIES)}
    return sorted(found, key=lambda one: (order[one.gravity], -one.strength, one.kind, one.text))


@dataclass(frozen=True)
class _Teller:
    cases: Sequence[Case]
    setting: Setting | None
    names: Names
    confidence: float

    def of_class(self, profile: ClassProfile) -> Iterator[Finding]:
        """Yield what stands out about the explanations of a class."""
        mine = [case for case in self.cases if case.answer == profile.answer]
        dominant = [use for use in profile.features if use.share.lower > _DOMINANT]
        leaked = [use for use in dominant if self._is_leaked(use, profile)]
        for use in leaked:
            yield self._leak(use, profile, mine)
        if rest := [use for use in dominant if use not in leaked and _beyond_chance(use, least=1)]:
            yield self._dominant(rest, profile, mine)
        for use in profile.nodes:
            if use.share.lower > HUB and _beyond_chance(use):
                yield self._hub(use, profile, mine)
        for use in profile.kinds:
            if use.what == TRAINING and _beyond_chance(use, least=1.25):
                yield self._training(use, profile, mine)
            if use.what == OWN:
                yield from self._without_own(profile, mine)

    def _is_leaked(self, use: Use, profile: ClassProfile) -> bool:
        told = self._telltale(int(use.what), profile.answer)
        return told is not None and told.tells(_TELLS)

    def _leak(self, use: Use, profile: ClassProfile, cases: Sequence[Case]) -> Finding:
        feature = int(use.what)
        told = self._telltale(feature, profile.answer)
        assert told is not None
        text = (
            f"{_capital(self.names.of_feature(feature))} is in "
            f"{_percent(use.share, self._compared(use))} of the explanations "
            f"{self._class(profile)}. On its own it tells that "
            f"class from all others: it marks {percent(told.inside.value)} of the "
            f"{told.inside.total:,} that are of it and leaves out {percent(told.outside.value)} of "
            f"the {told.outside.total:,} that are not. It may be the label in disguise."
        )
        keys = tuple(case.key for case in cases if feature in case.features)
        return Finding("leaked feature", "alarm", text, keys, use.share.value)

    def _dominant(
        self, uses: Sequence[Use], profile: ClassProfile, cases: Sequence[Case]
    ) -> Finding:
        """Say which features are in most explanations of a class."""
        each = [
            f"{self.names.of_feature(int(use.what))} in {_percent(use.share, self._compared(use))}"
            for use in uses[:_MOST_OF_EACH]
        ]
        text = f"Most explanations {self._class(profile)} keep the same: {'; '.join(each)}."
        features = {int(use.what) for use in uses}
        keys = tuple(case.key for case in cases if features.intersection(case.features))
        return Finding("dominant feature", "note", text, keys, uses[0].share.value)

    def _hub(self, use: Use, profile: ClassProfile, cases: Sequence[Case]) -> Finding:
        node = int(use.what)
        keys = tuple(case.key for case in cases if node in case.others)
        text = (
            f"{_capital(self.names.of_node(node))} is in "
            f"{_percent(use.share, self._compared(use))} of the explanations "
            f"{self._class(profile)}. One neighbour seems to stand for the class"
        )
        if use.expected is None:  # a venue of most papers is in most sets by chance alone
            text += "; how often sets would keep it by chance is not known here"
        gravity: Gravity = "alarm" if use.expected is not None else "notice"
        return Finding("single neighbour", gravity, f"{text}.", keys, use.share.value)

    def _training(self, use: Use, profile: ClassProfile, cases: Sequence[Case]) -> Finding:
        keys = tuple(
            case.key
            for case in cases
            if case.place is not None
            and (case.is_kept(case.place) & case.place.kinds[TRAINING]).any()
        )
        text = (
            f"{_percent(use.share, self._compared(use))} of the explanations "
            f"{self._class(profile)} keep a training {self.names.node} besides the one that is "
            "asked about."
        )
        return Finding("training nodes", "notice", _capital(text), keys, use.share.value)

    def _without_own(self, profile: ClassProfile, cases: Sequence[Case]) -> Iterator[Finding]:
        """Say that most keep others and not the node itself; that nothing is kept says neither."""
        keys = tuple(
            case.key
            for case in cases
            if case.others and not set(case.nodes).intersection(case.explanation.query.seeds)
        )
        without = Share(len(keys), len(cases), self.confidence)
        if without.lower > 0.5:
            text = (
                f"{_percent(without)} of the explanations {self._class(profile)} do not keep the "
                f"{self.names.node} itself: its neighbours decide."
            )
            yield Finding("neighbours decide", "notice", _capital(text), keys, without.value)

    def of_mistakes(
        self, contrasts: Sequence[Contrast], features: Sequence[TypicalFeature]
    ) -> Iterator[Finding]:
        """Yield what is different about wrong answers."""
        wrong = tuple(case.key for case in self.cases if case.is_right is False)
        for one in contrasts:
            if one.differs and abs(one.larger - 0.5) >= _WORTH_TELLING:
                often = max(one.larger, 1 - one.larger)
                wrongs, rights = (
                    median_in_words(median, one.quantity) for median in (one.wrong, one.right)
                )
                text = (
                    f"Wrong answers {self._differ(one)} than right ones: so it is in "
                    f"{percent(often)} of all pairs of a wrong and a right answer of the same "
                    f"class, ties counting half. The medians over all classes are {wrongs} and "
                    f"{rights}."
                )
                yield Finding("mistakes differ", "notice", text, wrong, 2 * often - 1)
        if features:
            each = [
                f"{self.names.of_feature(one.feature)} in {_percent(one.wrong)} of their "
                f"explanations, and of right ones of the same classes in {percent(one.expected)}"
                for one in features[:_MOST_OF_EACH]
            ]
            typical = {one.feature for one in features[:_MOST_OF_EACH]}
            keys = tuple(
                case.key
                for case in self.cases
                if case.is_right is False and typical.intersection(case.features)
            )
            text = f"Typical of wrong answers: {'; '.join(each)}."
            yield Finding("typical of errors", "notice", text, keys, features[0].wrong.value)

    def _differ(self, one: Contrast) -> str:
        """Say in what wrong answers differ, in words that need no explanation."""
        more = one.larger > 0.5
        nodes = f"{self.names.node}s"
        amounts = {
            "nodes": f"rest on {'more' if more else 'fewer'} {nodes}",
            "features": f"rest on {'more' if more else 'fewer'} {self.names.feature}s",
            "edges": f"rest on {'more' if more else 'fewer'} edges",
            "probability": f"are given {'higher' if more else 'lower'} probabilities",
            "distance": f"rest on {nodes} that are {'more' if more else 'fewer'} hops away",
            "predicted support": f"rest on a {'larger' if more else 'smaller'} share of "
            f"{nodes} to which the model gives the answer's class",
            "true support": f"rest on a {'larger' if more else 'smaller'} share of {nodes} "
            "that truly are of the answer's class",
            "training share": f"rest on a {'larger' if more else 'smaller'} share of training "
            f"{nodes}",
        }
        return amounts[one.quantity]

    def of_suspicions(self, suspicious: Sequence[Suspicion]) -> Iterator[Finding]:
        """Yield how many predictions are suspicious in ways that concern all classes."""
        said = {
            "nothing needed": "are given whatever the input is: random inputs get them often "
            "enough",
            "other class": "rest on neighbours most of which are of another class, by the model",
            "not certified": "have no certificate: what was found is not proved",
        }
        for reason, what in said.items():
            keys = tuple(one.key for one in suspicious if reason in one.reasons)
            if keys:
                share = Share(len(keys), len(self.cases), self.confidence)
                text = f"{_percent(share)} of all answers {what}."
                yield Finding(reason, "notice", text, keys, share.value)
        yield from self._overconfident()

    def _overconfident(self) -> Iterator[Finding]:
        """Say that confident answers are wrong more often than their probabilities promise."""
        sure = [
            case
            for case in self.cases
            if case.is_right is not None and case.probability >= CONFIDENT
        ]
        keys = tuple(case.key for case in sure if not case.is_right)
        promised = float(np.mean([1 - case.probability for case in sure])) if sure else 0.0
        chance = more_than_chance(np.array([len(keys)]), len(sure), np.array([promised]))
        if sure and FAMILIES * chance[0] <= SURE:
            share = Share(len(keys), len(sure), self.confidence)
            text = (
                f"{_percent(share)} of the answers to which the model gives "
                f"{percent(CONFIDENT)} or more are wrong; its probabilities promise "
                f"{percent(promised)}."
            )
            yield Finding("confident and wrong", "notice", text, keys, share.value)

    def _telltale(self, feature: int, answer: int | None) -> Telltale | None:
        if self.setting is None or answer is None:
            return None
        labels, column = self.setting.truths(), self.setting.column(feature)
        if labels is None or column is None:
            return None
        return telltale_of(column, labels, answer, confidence=self.confidence)

    def _class(self, profile: ClassProfile) -> str:
        if profile.answer is None:
            return "of all answers"
        return f"of {self.names.of_class(profile.answer)}"

    def _compared(self, use: Use) -> list[str]:
        """Say how much more often that is than by chance, and than in other classes."""
        said = []
        if use.lift is not None:
            said.append(f"{times(use.lift)} times as often as by chance")
        if use.elsewhere is not None:
            said.append(f"{percent(use.elsewhere.value)} elsewhere")
        if use.present is not None and use.present < 0.5:
            said.append(f"absent in {percent(1 - use.present)} of these")
        return said


def _beyond_chance(use: Use, *, least: float = _TIMES_CHANCE) -> bool:
    if use.expected is None:
        return True  # nobody knows
    return use.q_value <= SURE and use.share.lower >= least * use.expected


def _percent(share: Share, further: Sequence[str] = ()) -> str:
    said = [
        f"{share.count:,} of {share.total:,}",
        f"{percent(share.lower)} to {percent(share.upper)}",
        *further,
    ]
    return f"{percent(share.value)} ({'; '.join(said)})"


def median_in_words(median: Median, quantity: str) -> str:
    """Return a quantity's median with its interval, or that this is open: too few numbers."""
    written = percent if quantity in SHARES else _short
    if not math.isfinite(median.lower):
        return f"{written(median.value)} (of too few to say more)"
    return f"{written(median.value)} ({written(median.lower)} to {written(median.upper)})"


def _short(number: float) -> str:
    return f"{number:.3g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
