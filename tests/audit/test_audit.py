"""What an audit tells of explanations whose content is known."""

import dataclasses
import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from made_runs import made_explanation, made_run, ring
from scipy.stats import fisher_exact, mannwhitneyu

from zorro.audit import GraphSetting, audit
from zorro.audit.cases import cases_of
from zorro.audit.mistakes import _expected, _tails
from zorro.audit.share import FAMILIES
from zorro.audit.telltale import telltale_of
from zorro.errors import InputError, RunError

GRAPH = ring()


def setting():
    labels = np.arange(40) % 2
    return GraphSetting(GRAPH["x"], GRAPH["edge_index"], predicted=labels, labels=labels)


def answered(node, number, *, probability=0.93, **options):
    """An explanation of the class 0 or 1."""
    probabilities = (1 - probability, probability) if number else (probability, 1 - probability)
    return dataclasses.replace(
        made_explanation(node, **options), predicted_class=number, probabilities=probabilities
    )


def test_the_confusion_matrix_counts_truths_against_answers():
    explanations = [answered(n, int(n < 6)) for n in range(10)]
    audited = audit(explanations, truth={n: n % 2 for n in range(9)})
    cells = {(cell.truth, cell.predicted): cell.keys for cell in audited.cells}
    assert cells == {(0, 0): (6, 8), (0, 1): (0, 2, 4), (1, 0): (7,), (1, 1): (1, 3, 5)}
    assert audited.right is not None
    assert (audited.right.count, audited.right.total) == (5, 9)
    assert [profile.answer for profile in audited.classes] == [0, 1]
    assert audited.classes[0].keys == (6, 7, 8, 9)


def test_every_reason_to_look_at_a_prediction_is_given():
    usual = [answered(n, 1, features=(0, 1, 2)) for n in range(10, 20)]
    odd = {
        0: answered(0, 1, probability=0.97),  # wrong: even nodes are of class 0
        1: answered(1, 1, nodes=(), features=(), status="nothing needed"),
        2: answered(2, 1, probability=0.6, nodes=(2, 4, 6), features=(0, 1)),  # all of class 0
        3: answered(3, 1, nodes=(3,), features=(4,)),
        7: answered(7, 1, status="budget exhausted"),
    }
    where = setting()
    where = dataclasses.replace(where, predicted=np.where(np.arange(40) == 2, 1, where.labels))
    audited = audit([*odd.values(), *usual], truth={n: n % 2 for n in range(40)}, setting=where)
    reasons = {one.key: one.reasons for one in audited.suspicious}
    assert reasons[0] == ("confident and wrong",)
    assert "nothing needed" in reasons[1]
    assert reasons[2] == ("other class",)
    assert reasons[3] == ("single feature",)
    assert set(reasons) == {0, 1, 2, 3, 7, *range(10, 20, 2)}  # of the usual ones even are wrong
    assert reasons[7] == ("not certified",)


def test_far_larger_than_the_median_of_its_class_is_told():
    usual = [answered(n, 1, features=(0,)) for n in range(1, 19, 2)]
    large = answered(21, 1, nodes=tuple(range(1, 21, 2)), features=(0, 1))
    audited = audit([*usual, large])
    reasons = {one.key: one.reasons for one in audited.suspicious}
    assert reasons[21] == ("far larger",)


def test_where_most_need_nothing_little_is_not_far_larger():
    nothing = [answered(n, 1, nodes=(), features=(), status="nothing needed") for n in range(1, 9)]
    audited = audit([*nothing, answered(21, 1, nodes=(21,), features=(0,))])
    reasons = {one.key: one.reasons for one in audited.suspicious}
    assert reasons[21] == ("single feature",)


def test_a_single_neighbour_is_an_alarm_only_beyond_chance():
    """Without the graph nobody knows how often a node would be kept by chance."""
    some = [answered(n, 1, nodes=(n, 30), features=(0, 1)) for n in range(1, 25)]
    [told] = [one for one in audit(some).findings if one.kind == "single neighbour"]
    assert told.gravity == "notice"
    assert told.text.endswith("how often sets would keep it by chance is not known here.")


def test_right_and_wrong_answers_are_compared_as_scipy_does():
    rng = np.random.default_rng(0)
    explanations = []
    for node in range(40):
        errs = node % 4 == 0
        sizes = rng.integers(3, 6) if errs else rng.integers(1, 4)
        explanations.append(answered(node, 1, features=tuple(range(sizes))))
    truth = {node: int(node % 4 != 0) for node in range(40)}
    audited = audit(explanations, truth=truth)
    contrast = next(one for one in audited.contrasts if one.quantity == "features")
    right, wrong = (
        [len(e.features) for e in explanations if truth[e.node] == side] for side in (1, 0)
    )
    test = mannwhitneyu(wrong, right)
    assert contrast.larger == pytest.approx(test.statistic / (len(wrong) * len(right)))
    assert contrast.right.value == np.median(right)
    assert contrast.q_value >= test.pvalue
    assert contrast.differs
    assert any("rest on more features" in finding.text for finding in audited.findings)
    typical = {one.feature: one for one in audited.error_features}
    assert 3 in typical
    by_hand = _adjusted_by_hand(3, explanations, truth)
    assert typical[3].q_value == pytest.approx(by_hand, abs=0.05)
    assert 0 not in typical


def _adjusted_by_hand(feature, explanations, truth):
    """Of one class: how often shuffled errors give any feature so small a p-value of Fisher's."""
    every = sorted({f for e in explanations for f in e.features})
    dealer, smallest = random.Random(1), []
    labels = [truth[e.node] for e in explanations]
    for shuffled in range(300):
        p_values = {}
        for f in every:
            counts = [[0, 0], [0, 0]]
            for e, label in zip(explanations, labels, strict=True):
                counts[label][f not in e.features] += 1
            p_values[f] = fisher_exact(np.array(counts), alternative="greater").pvalue
        if not shuffled:
            observed = p_values[feature]
        smallest.append(min(p_values.values()))
        dealer.shuffle(labels)
    return min(1, FAMILIES * np.mean([p <= observed + 1e-9 for p in smallest]))


def test_what_is_typical_of_errors_is_told_with_the_class_held_fixed():
    """By all ways of dealing out the errors among the answers of each class."""
    features = [(0, 2), (0,), (0, 1), (1,), (1, 2), (1,), (2,)]
    answers = [0, 0, 0, 1, 1, 1, 1]
    wrong = {1, 2, 4}
    cases = cases_of(
        [answered(n, answers[n], features=features[n]) for n in range(7)],
        truth={n: 1 - answers[n] if n in wrong else answers[n] for n in range(7)},
    )
    strata = [[case for case in cases if case.answer == number] for number in (0, 1)]
    counts = Counter(f for n in wrong for f in features[n])
    tails = _tails([0, 1, 2], strata)
    p_values = [tails[feature][counts[feature]] for feature in (0, 1, 2)]
    ways = [{*of_0, of_1} for of_0 in itertools.combinations(range(3), 2) for of_1 in range(3, 7)]
    for feature, p_value in zip([0, 1, 2], p_values, strict=True):
        as_many = sum(sum(feature in features[n] for n in way) >= counts[feature] for way in ways)
        assert p_value == pytest.approx(as_many / len(ways))


def test_nothing_is_found_where_answers_are_wrong_by_a_throw_of_dice():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        explanations = [
            answered(
                n, 1, features=tuple(sorted(rng.permutation(5)[: rng.integers(1, 5)].tolist()))
            )
            for n in range(40)
        ]
        truth = dict(enumerate(rng.integers(0, 2, 40).tolist()))
        audited = audit(explanations, truth=truth)
        found += bool(audited.error_features) or any(one.differs for one in audited.contrasts)
    assert found <= 6  # 5 % of 40 are 2


def test_a_class_that_is_often_wrong_makes_its_words_no_signs_of_errors():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        explanations = [
            answered(n, n % 2, features=tuple(sorted({2 * (n % 2), rng.integers(1, 5).item()})))
            for n in range(40)
        ]
        errors = rng.random(40) < np.where(np.arange(40) % 2, 0.5, 0.1)
        truth = {n: n % 2 if not errors[n] else 1 - n % 2 for n in range(40)}
        found += bool(audit(explanations, truth=truth).error_features)
    assert found <= 6  # 5 % of 40 are 2


def test_explanations_that_keep_the_same_are_one_group():
    same = [answered(n, 1, features=(0, 1, 2)) for n in range(6)]
    other = [answered(n, 1, features=(3, 4)) for n in range(10, 15)]
    alone = [answered(20, 1, features=()), answered(21, 0, features=(0, 1, 2))]
    audited = audit([*same, *other, *alone])
    assert [(g.features, g.keys) for g in audited.groups] == [
        (((0, 6), (1, 6), (2, 6)), (0, 1, 2, 3, 4, 5)),
        (((3, 5), (4, 5)), (10, 11, 12, 13, 14)),
    ]
    assert audited.groups[0].representative in range(6)


def best_cut(values, is_class):
    best = 0.0
    for cut in [*values, -np.inf, np.inf]:
        for side in (values > cut, values <= cut):
            best = max(best, side[is_class].mean() + (~side)[~is_class].mean())
    return best


def test_the_best_cut_is_found():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = rng.integers(0, 5, 30).astype(float)
        labels = rng.integers(0, 3, 30)
        labels[:3] = [0, 1, -1]
        told = telltale_of(values, labels, 1, confidence=0.95)
        known = labels >= 0
        expected = best_cut(values[known], labels[known] == 1)
        assert told is not None
        assert told.inside.value + told.outside.value == pytest.approx(expected)
    assert telltale_of(np.ones(3), np.array([1, 1, 1]), 1, confidence=0.95) is None


def test_json_holds_what_follows_and_nothing_that_is_no_json():
    plain = json.loads(audit([answered(n, 1) for n in range(4)], setting=setting()).to_json())
    feature = plain["classes"][0]["features"][0]
    assert feature["share"]["lower"] == pytest.approx(0.3976, abs=1e-4)
    assert feature["lift"] == pytest.approx(feature["share"]["value"] / feature["expected"])


def test_what_cannot_be_audited_is_one_line(tmp_path):
    with pytest.raises(InputError, match="explanations: expected at least one"):
        audit([])
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1, got 95"):
        audit([answered(1, 1)], confidence=95)
    failed = made_run(tmp_path / "run", [], graph=GRAPH, failures={3: "it broke", 4: "again"})
    with pytest.raises(RunError, match="expected explanations to audit, got none"):
        failed.audit()


def test_what_right_answers_of_the_same_classes_would_keep():
    """Of 2 wrong answers of class 0 and 6 of class 1: right ones keep it in 1 of 2 and 1 of 4."""
    told = [(0, n < 1) for n in range(2)] + [(1, n < 1) for n in range(4)]
    right = [
        answered(n, number, features=(3,) if has else (0,)) for n, (number, has) in enumerate(told)
    ]
    wrong = [answered(n, int(n >= 12), features=(3,)) for n in range(10, 18)]
    truth = {
        **{n: number for n, (number, _) in enumerate(told)},
        **{n: int(n < 12) for n in range(10, 18)},
    }
    cases = cases_of([*right, *wrong], truth=truth)
    strata = [[case for case in cases if case.answer == number] for number in (0, 1)]
    assert _expected(3, strata) == pytest.approx((2 * 1 / 2 + 6 * 1 / 4) / 8)
