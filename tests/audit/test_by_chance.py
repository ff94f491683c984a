"""What is drawn by chance shows nothing; what chance cannot explain is found."""

import dataclasses
import itertools
import random

import numpy as np
import pytest
import torch
from made_runs import made_explanation

from zorro.audit import GraphSetting, audit
from zorro.audit.permutations import adjusted_by_permutation, permute_within, standardise
from zorro.audit.share import FAMILIES, adjusted

NODES, CLASSES, WORDS = 120, 3, 12
PREDICTED = np.arange(NODES) * CLASSES // NODES  # three arcs of a ring
AROUND = (torch.arange(NODES)[:, None] + torch.tensor([1, 2])) % NODES
HERE = torch.arange(NODES).repeat_interleave(2)
EDGES = torch.stack([torch.cat([HERE, AROUND.flatten()]), torch.cat([AROUND.flatten(), HERE])])
X = torch.ones(NODES, WORDS)
NO_MASK = np.zeros(NODES, dtype=bool)


def explained(node, *, nodes=None, features=(0, 1), probability=0.8, **options):
    """An explanation of the class that the node's arc is given."""
    number = int(PREDICTED[node])
    rest = (1 - probability) / (CLASSES - 1)
    probabilities = tuple(probability if c == number else rest for c in range(CLASSES))
    made = made_explanation(
        node,
        nodes=(node, (node + 1) % NODES) if nodes is None else nodes,
        features=features,
        size=(NODES, WORDS),
        **options,
    )
    return dataclasses.replace(made, predicted_class=number, probabilities=probabilities)


def drawn(rng):
    """Explanations that keep some of their neighbours and some features."""
    near = np.array([-2, -1, 1, 2])
    return [
        explained(
            node,
            nodes=(node, *((node + rng.choice(near, rng.integers(1, 4), False)) % NODES).tolist()),
            features=tuple(sorted(rng.choice(WORDS, rng.integers(1, 5), False).tolist())),
            probability=float(rng.uniform(0.4, 0.99)),
        )
        for node in range(0, NODES, 2)
    ]


def audited(explanations, truth, training=NO_MASK):
    setting = GraphSetting(X, EDGES, PREDICTED, labels=np.asarray(truth), training=training)
    truths = {e.node: int(truth[e.node]) for e in explanations}
    return audit(explanations, truth=truths, setting=setting)


def wrong_at(is_wrong):
    return np.where(is_wrong, (PREDICTED + 1) % CLASSES, PREDICTED)


def even_coins(rng):
    return rng.integers(0, CLASSES, NODES)


def loaded_coins(rng):
    return rng.choice(CLASSES, NODES, p=[0.7, 0.2, 0.1])


def errors_by_coins(rng):
    return wrong_at(rng.random(NODES) < 0.3)


@pytest.mark.parametrize("coins", [even_coins, loaded_coins, errors_by_coins])
def test_a_truth_drawn_by_coins_shows_nothing(coins):
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        told = audited(drawn(rng), coins(rng), rng.random(NODES) < 0.3)
        kinds = {finding.kind for finding in told.findings}
        found.append(kinds & {"leaked feature", "mistakes differ", "typical of errors"})
        found[-1] |= kinds & {"training nodes", "dominant feature", "single neighbour"}
    assert sum(map(bool, found)) <= 1  # 5 % of 20


def test_what_wrong_answers_rest_on_is_found():
    rng = np.random.default_rng(0)
    some = drawn(rng)
    texts = {}
    unsure = np.zeros(NODES, dtype=bool)
    unsure[[e.node for e in some if e.probability < 0.65]] = True
    misled = np.zeros(NODES, dtype=bool)
    misled[[e.node for e in some if 3 in e.features]] = True
    region = np.arange(NODES) % 20 < 8  # what is wrong lies together
    for name, more in (("unsure", unsure), ("misled", misled), ("region", region)):
        truth = wrong_at(rng.random(NODES) < np.where(more, 0.9, 0.1))
        texts[name] = " ".join(finding.text for finding in audited(some, truth).findings)
    assert "are given lower probabilities than right ones" in texts["unsure"]
    assert "Typical of wrong answers: feature 3 in" in texts["misled"]
    assert "smaller share of nodes that truly are of the answer's class" in texts["region"]


def plain_support(e, truth):
    """Of the other nodes that are kept, the share that truly are of the answer's class."""
    others = [node for node in e.nodes if node != e.node]
    return sum(truth[node] == e.predicted_class for node in others) / len(others)


def plain_larger(some, truth, values):
    """Of all pairs of a wrong and a right answer of one class, how often the wrong one's is it."""
    count = pairs = 0.0
    for one, other in itertools.product(some, some):
        is_pair = one.predicted_class == other.predicted_class
        wrong = truth[one.node] != one.predicted_class
        right = truth[other.node] == other.predicted_class
        if is_pair and wrong and right:
            pairs += 1
            count += (values[one.node] > values[other.node]) + (
                values[one.node] == values[other.node]
            ) / 2
    return count / pairs


def test_contrasts_are_those_of_a_plain_loop_over_pairs_and_shuffled_truths():
    """Of two quantities, by shuffles of another generator; half of the others are no queries."""
    rng = np.random.default_rng(5)
    some = [e for e in drawn(rng) if e.node % 3 == 0]
    truth = wrong_at(rng.random(NODES) < 0.4).tolist()
    contrasts = {one.quantity: one for one in audited(some, truth).contrasts}

    def support(labels):
        return {e.node: plain_support(e, labels) for e in some}

    fixed = {
        "probability": {e.node: e.probability for e in some},
        "nodes": {e.node: len(e.nodes) for e in some},
        "features": {e.node: len(e.features) for e in some},
        "distance": {
            e.node: sum(min(abs(n - e.node), NODES - abs(n - e.node)) > 0 for n in e.nodes)
            / len(e.nodes)
            for e in some
        },
        "predicted support": {
            e.node: sum(PREDICTED[n] == e.predicted_class for n in e.nodes if n != e.node)
            / (len(e.nodes) - 1)
            for e in some
        },
    }

    def statistics(labels):
        values = {**fixed, "true support": support(labels)}
        return [plain_larger(some, labels, values[name]) for name in contrasts if name in values]

    observed = statistics(truth)
    names = [name for name in contrasts if name in {*fixed, "true support"}]
    assert [contrasts[name].larger for name in names] == pytest.approx(observed)
    dealer, rows = random.Random(1), [observed]
    for _ in range(400):
        labels = list(truth)
        for number in range(CLASSES):
            own = [e.node for e in some if e.predicted_class == number]
            for node, label in zip(
                own, dealer.sample([truth[n] for n in own], len(own)), strict=True
            ):
                labels[node] = label
        rows.append(statistics(labels))
    table = np.abs(np.array(rows) - np.mean(rows, axis=0))
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    for at, name in enumerate(names):
        p_value = np.mean(scaled.max(axis=1) >= scaled[0, at] - 1e-9)
        error = 4 * (p_value * (1 - p_value) / 400) ** 0.5 + 0.005
        assert contrasts[name].q_value == pytest.approx(
            min(1, FAMILIES * p_value), abs=FAMILIES * error
        )


def test_one_training_node_in_all_sets_is_one_coincidence():
    """A hub that every set keeps has been trained on, as a fifth of all nodes have."""
    hub = 0
    edges = torch.cat([EDGES, torch.stack([torch.full((NODES,), hub), torch.arange(NODES)])], 1)
    some = [explained(node, nodes=(node, hub)) for node in range(1, NODES, 2)]
    training = np.random.default_rng(0).random(NODES) < 0.2
    training[hub] = True
    setting = GraphSetting(X, edges, PREDICTED, training=training)
    kinds = {finding.kind for finding in audit(some, setting=setting).findings}
    assert "training nodes" not in kinds
    assert "single neighbour" in kinds


def test_sets_that_seek_training_nodes_are_found():
    training = np.arange(NODES) % 4 == 0
    odd = range(1, NODES, 2)
    some = [explained(n, nodes=(n, (n + (1 if n % 4 == 3 else -1)) % NODES)) for n in odd]
    told = audited(some, PREDICTED, training)
    assert "training nodes" in {finding.kind for finding in told.findings}


def test_the_only_neighbour_is_kept_by_chance():
    """Of leaves of a star: sets that keep a neighbour can keep no other."""
    leaves = torch.arange(1, 30)
    star = torch.stack([torch.cat([leaves, torch.zeros(29)]), torch.cat([torch.zeros(29), leaves])])
    some = [explained(node, nodes=(0,)) for node in range(1, 30)]
    some = [dataclasses.replace(e, graph=dataclasses.replace(e.graph, hops=1)) for e in some]
    setting = GraphSetting(X[:30], star.long(), PREDICTED[:30])
    told = audit(some, setting=setting)
    assert told.classes[0].nodes[0].expected == 1
    assert "single neighbour" not in {finding.kind for finding in told.findings}


def test_sets_of_most_features_have_no_dominant_one():
    rng = np.random.default_rng(0)
    some = [
        explained(n, features=tuple(sorted(rng.choice(WORDS, 11, False).tolist())))
        for n in range(NODES)
    ]
    assert "dominant feature" not in {f.kind for f in audited(some, PREDICTED).findings}


def test_of_a_set_that_keeps_nothing_no_neighbour_decides():
    nothing = [explained(n, nodes=(), features=(), status="nothing needed") for n in range(30)]
    assert "neighbours decide" not in {f.kind for f in audited(nothing, PREDICTED).findings}
    others = [explained(n, nodes=((n + 1) % NODES,)) for n in range(30)]
    assert "neighbours decide" in {f.kind for f in audited(others, PREDICTED).findings}


@pytest.mark.parametrize(("wrong", "is_found"), [(0, False), (3, False), (25, True)])
def test_confident_errors_are_told_beyond_what_probabilities_promise(wrong, is_found):
    some = [explained(n, probability=0.95) for n in range(60)]
    told = audited(some, wrong_at(np.arange(NODES) < wrong))
    texts = [f.text for f in told.findings if f.kind == "confident and wrong"]
    assert bool(texts) is is_found
    if is_found:
        assert "25 of 60" in texts[0]
        assert texts[0].endswith("are wrong; its probabilities promise 5\xa0%.")
    reasons = [one.reasons for one in told.suspicious if "confident and wrong" in one.reasons]
    assert len(reasons) == wrong  # each of them can be looked at


def test_shuffles_stay_within_strata_and_begin_with_none():
    strata = np.array([2, 0, 0, 2, 1, 0, 2])
    rows = np.concatenate(list(permute_within(strata, entries=1 << 20)))
    assert len(rows) == 1000
    assert rows[0].tolist() == list(range(7))
    assert (strata[rows] == strata).all()
    assert (np.sort(rows, axis=1) == np.arange(7)).all()
    places = [np.mean(rows[1:, 1] == other) for other in (1, 2, 5)]
    assert places == pytest.approx([1 / 3] * 3, abs=0.06)


def test_an_adjusted_p_value_counts_permutations_as_extreme():
    table = np.array([[3.0, 0.0], [1.0, 2.0], [-1.0, -2.0], [-3.0, 0.0]])
    scaled = standardise(table)
    assert scaled[0] == pytest.approx([3 / 5**0.5, 0])
    assert scaled[1] == pytest.approx([1 / 5**0.5, 2**0.5])  # the larger one is the second
    assert adjusted_by_permutation(scaled, families=1) == pytest.approx([2 / 4, 3 / 4])
    assert adjusted_by_permutation(scaled, families=3) == pytest.approx([1, 1])
    assert standardise(np.ones((5, 1))).tolist() == [[0.0]] * 5
    assert adjusted_by_permutation(np.zeros((5, 1)), families=1) == pytest.approx([1])


def test_families_of_tests_share_the_error():
    assert adjusted([0.001, 0.5], families=4) == pytest.approx([4 * 0.001 * 2 * 1.5, 1])
