"""Two models compared: what is counted, and a leak told apart from another seed."""

import dataclasses
import json
import math

import numpy as np
import planted
import pytest
from made_runs import made_explanation
from scipy.stats import binomtest

from zorro import Zorro
from zorro.audit import Condition, compare_runs
from zorro.audit.comparison import _moved_by_chance
from zorro.audit.crossing import MeasuredOn, same_columns
from zorro.audit.share import Share
from zorro.errors import InputError
from zorro.evaluation import FidelityEstimate


def said(node, number=1, **options):
    return dataclasses.replace(made_explanation(node, **options), predicted_class=number)


def measures(shares):
    """A meter that knows what to answer."""
    return lambda e: FidelityEstimate(round(200 * shares[e.node]), 200)


def test_answers_sets_and_grounds_are_counted():
    first = [said(n, nodes=(n,), features=(0, 1)) for n in range(6)]
    second = [
        said(0, 0, nodes=(0,), features=(0, 1)),
        *(said(n, nodes=(n,), features=(1, 2)) for n in range(1, 6)),
        said(9),
    ]
    result = compare_runs(
        first,
        second,
        on_second=measures({1: 0.9, 2: 0.3, 3: 0.9, 4: 0.3, 5: 0.84}),
        on_first=measures({1: 0.9, 2: 0.9, 3: 0.3, 4: 0.3, 5: 0.84}),
    )
    assert (result.shared, result.only_first, result.only_second) == (6, 0, 1)
    assert (result.changed_predictions.count, result.changed_predictions.total) == (1, 6)
    assert {pair.key: pair.grounds for pair in result.pairs} == {
        **{0: "unmeasured", 1: "kept", 2: "more", 3: "fewer", 4: "changed"},
        5: "kept",  # .84 of 200 samples does not show that it is below .85
    }
    assert result.changed_grounds is not None
    assert (result.changed_grounds.count, result.changed_grounds.total) == (1, 5)
    assert result.jaccard == pytest.approx(2 / 4)  # the node and feature 1, of four elements
    assert result.figures()["changed-grounds"] == 0.2
    told = json.loads(result.to_json())
    assert told["pairs"][4]["there"]["value"] == 0.3
    assert told["figures"]["class-grounds"] == 0.2


def test_without_models_only_sets_are_compared():
    result = compare_runs([said(1)], [said(1)])
    assert result.changed_grounds is None
    assert result.jaccard == 1
    with pytest.raises(
        InputError, match="expected a figure that was measured, got changed-grounds"
    ):
        Condition.read("changed-grounds>.1", result.figures()).holds(result.figures())


def test_features_that_enter_are_told_by_mcnemars_test():
    nodes = range(20)
    first = [said(n, features=(0, 1)) for n in nodes]
    second = [said(n, features=(1, 4) if n < 12 else (0, 1)) for n in nodes]
    (shift,) = compare_runs(first, second).classes
    changed = {one.feature: (one.before.count, one.after.count) for one in shift.features}
    assert changed == {0: (20, 8), 4: (0, 12)}
    p_value = binomtest(12, 12).pvalue
    assert all(one.q_value == pytest.approx(1.5 * p_value) for one in shift.features)


def test_runs_that_share_nothing_are_refused():
    with pytest.raises(InputError, match="expected queries that both have, got 1 and 1 others"):
        compare_runs([said(1)], [said(2)])
    other = dataclasses.replace(said(1), selected={"nodes": (1,)})
    with pytest.raises(InputError, match="expected sets of the same kinds"):
        compare_runs([said(1)], [other])


@pytest.mark.parametrize("text", ["changed>1", "changed-grounds<.2", "changed-grounds", ">.2"])
def test_conditions_that_mean_nothing_are_refused(text):
    with pytest.raises(InputError, match="--fail-on: expected FIGURE>LIMIT with one of changed-"):
        Condition.read(text, ["changed-grounds"])


@pytest.mark.parametrize(
    ("text", "holds"), [("x>.2", True), ("x>=30%", True), ("x>.3", False), ("x > 0.31", False)]
)
def test_conditions_hold_above_their_limit(text, holds):
    assert Condition.read(text, ["x"]).holds({"x": 0.3}) is holds


def test_columns_are_told_by_name_where_both_have_names():
    assert same_columns(["a", "b"], ["a", "b"]) is None
    assert same_columns({0: "a"}, ["b"]) is None
    assert same_columns(["a", "b", "x"], ["b", "a"]) == {0: 1, 1: 0}


def test_a_set_is_measured_as_the_meter_measures_it():
    data = planted.clean_graph()
    one, other = (planted.trained(data, seed=seed, epochs=60) for seed in (0, 1))
    mine, theirs = (Zorro(it.model, data.x, data.edge_index) for it in (one, other))
    e = mine.explain(100)
    there = MeasuredOn(theirs, 300)(e)
    assert there == theirs.fidelity(100, nodes=e.nodes, features=e.features, samples=300)
    assert there != mine.fidelity(100, nodes=e.nodes, features=e.features, samples=300)


def explained(made, nodes):
    zorro = Zorro(made.model, made.data.x, made.data.edge_index)
    return zorro, [zorro.explain(node) for node in nodes]


def test_a_leak_moves_the_grounds_of_its_class_and_another_seed_moves_none():
    clean = planted.clean_graph()
    nodes = range(0, planted.CLASSES * planted.EACH, 12)
    before, mine = explained(planted.trained(clean), nodes)
    for data, seed in ((clean, 1), (planted.with_leak(clean), 0)):
        after, theirs = explained(planted.trained(data, seed=seed), nodes)
        result = compare_runs(
            mine, theirs, on_first=MeasuredOn(before), on_second=MeasuredOn(after)
        )
        if data is clean:
            assert result.moved == ()
            assert result.figures()["class-grounds"] <= 0.2
        else:
            assert [one.answer for one in result.moved] == [planted.GUILTY]
            assert result.moved[0].features[0].feature == planted.LEAKED


def test_features_are_compared_by_the_second_runs_numbers():
    """The second run has the first's features 0, 1, 2 as 2, 0 and not at all."""
    columns = {0: 2, 1: 0}
    first = [said(n, nodes=(n,), features=(0, 2)) for n in range(20)]
    second = [said(n, nodes=(n,), features=(1, 2) if n % 2 else (2,)) for n in range(20)]
    result = compare_runs(first, second, columns=columns)
    # Node and feature 2 of both; of three elements or, where the second keeps 1 too, of four.
    assert result.jaccard == pytest.approx((2 / 3 + 2 / 4) / 2)
    (shift,) = result.classes
    assert [(one.feature, one.before.count, one.after.count) for one in shift.features] == [
        (1, 0, 10)
    ]


def test_where_no_answer_is_the_same_there_are_no_grounds():
    result = compare_runs(
        [said(1)], [said(1, 0)], on_first=measures({1: 1}), on_second=measures({})
    )
    assert result.classes == ()
    assert result.changed_grounds is None
    assert math.isnan(result.figures()["set-distance"])
    assert json.loads(result.to_json())["jaccard"] is None
    with pytest.raises(InputError, match="a figure that was measured, got set-distance"):
        Condition.read("set-distance>.1", result.figures()).holds(result.figures())


def test_a_class_is_rarely_said_to_have_moved_that_has_not():
    """A fifth of each of ten classes' answers changed: the most that is no move."""
    rng = np.random.default_rng(0)
    rounds, wrong = 300, 0
    for _ in range(rounds):
        shares = [Share(int(rng.binomial(30, 0.2)), 30) for _ in range(10)]
        wrong += min(_moved_by_chance(shares)) <= 0.05
    assert wrong <= 0.05 * rounds + 3 * math.sqrt(0.05 * 0.95 * rounds)
    assert _moved_by_chance([None, Share(4, 4)]) == [1.0, 1.0]
    assert _moved_by_chance([Share(5, 5)])[0] == pytest.approx(0.2**5)
