"""What chance would keep, against sets that are really drawn at random."""

from typing import Any

import numpy as np
import pytest
import torch
from made_runs import made_explanation, ring
from scipy.stats import hypergeom

from zorro.audit import GraphSetting, audit
from zorro.audit.cases import cases_of
from zorro.audit.uses import feature_uses, kind_uses, node_uses

GRAPH = ring()


@pytest.fixture
def setting():
    x = (GRAPH["x"] > 0.3).float()  # some features occur in a neighbourhood, some do not
    x[:, 4] = 0
    return GraphSetting(
        x,
        GRAPH["edge_index"],
        predicted=np.arange(40) % 2,
        labels=np.arange(40) % 2,
        training=np.arange(40) < 10,
    )


def some(nodes=(3, 10, 17, 30)):
    sets = {3: ((3, 4), (0, 4)), 10: ((9, 11), (1,)), 17: ((17,), (0, 1, 2)), 30: ((30, 35), (3,))}
    return [made_explanation(n, nodes=sets[n][0], features=sets[n][1]) for n in nodes]


def neighbours(node, hops):
    """All within so many hops, by walking along the edges one by one."""
    reached = {node}
    for _ in range(hops):
        reached |= {s for s, t in GRAPH["edge_index"].T.tolist() if t in reached}
    return reached


def test_candidates_are_those_within_the_hops(setting):
    for case in cases_of(some(), setting=setting):
        node = case.explanation.node
        assert case.place is not None
        assert set(case.place.nodes.tolist()) == neighbours(node, 2)
        assert case.place.hops is not None
        for hop in (0, 1, 2):
            near = set(case.place.nodes[case.place.hops <= hop].tolist())
            assert near == neighbours(node, hop)
        occurs = setting.x[sorted(neighbours(node, 2))].any(0).numpy()
        assert (case.place.occurring == occurs).all()


def test_expected_shares_are_those_of_sets_drawn_at_random(setting):
    cases = cases_of(some(), setting=setting)
    uses = feature_uses([(1, cases)], confidence=0.95)[0]
    rng = np.random.default_rng(0)
    drawn = np.zeros(5)
    rounds = 4000
    for _ in range(rounds):
        for case in cases:
            assert case.place is not None
            occurs = case.place.occurring
            there, absent = np.flatnonzero(occurs), np.flatnonzero(~occurs)
            present = sum(bool(occurs[f]) for f in case.features)
            picked = [
                *rng.choice(there, present, replace=False),
                *rng.choice(absent, len(case.features) - present, replace=False),
            ]
            drawn[picked] += 1
    drawn /= rounds * len(cases)
    for use in uses:
        assert isinstance(use.what, int)
        assert use.expected == pytest.approx(drawn[use.what], abs=0.02)
        assert use.share.count == sum(use.what in case.features for case in cases)
    assert sum(use.share.count for use in uses) == sum(len(case.features) for case in cases)


def test_kinds_of_nodes_by_the_hypergeometric_distribution(setting):
    cases: list[Any] = cases_of(some(), setting=setting)
    uses = {use.what: use for use in kind_uses([(1, cases)], predicted=None, confidence=0.95)[0]}
    assert list(uses) == [
        "own",
        "1 hop away",
        "2 hops away",
        "same class",
        "other class",
        "training",
        "not training",
    ]
    assert uses["own"].share.count == 3  # of 10 two neighbours are kept, and not the node
    for kind, use in uses.items():
        if kind == "training":  # by other nodes that had been trained on, below
            continue
        chances = [
            1 - hypergeom.pmf(0, len(c.place.nodes), c.place.kinds[kind].sum(), len(c.nodes))
            for c in cases
        ]
        assert use.expected == pytest.approx(np.mean(chances))


def test_single_nodes_leave_out_what_is_asked_about(setting):
    cases: list[Any] = cases_of(some(), setting=setting)
    uses = {use.what: use for use in node_uses([(1, cases)], confidence=0.95)[0]}
    assert set(uses) == {4, 9, 11, 35}
    near = [c for c in cases if 4 in c.place.nodes and c.explanation.node != 4]
    assert uses[4].expected == pytest.approx(
        sum(len(c.others) / (len(c.place.nodes) - 1) for c in near) / len(cases)
    )


def test_training_nodes_by_dealing_them_out_among_the_candidates(setting):
    """Of each set, by the hypergeometric distribution within even and within odd nodes."""
    cases: list[Any] = cases_of(some(), setting=setting)
    others = {n for c in cases for n in c.place.nodes.tolist() if n != c.explanation.node}
    for predicted in (None, setting.predicted):
        parts = (
            [others] if predicted is None else [{n for n in others if n % 2 == p} for p in (0, 1)]
        )
        chances = []
        for case in cases:
            none = 1.0
            for part in parts:
                trained = sum(n < 10 for n in part)
                none *= hypergeom.pmf(0, len(part), trained, len(part & set(case.others)))
            chances.append(1 - none)
        uses = kind_uses([(1, cases)], predicted=predicted, confidence=0.95)[0]
        [use] = [use for use in uses if use.what == "training"]
        assert use.share.count == sum(any(n < 10 for n in case.others) for case in cases)
        assert use.expected == pytest.approx(np.mean(chances), abs=0.03)


def test_without_the_graph_chance_is_not_known():
    audited = audit(some())
    assert not audited.has_graph
    assert all(use.expected is None and use.lift is None for use in audited.classes[0].features)
    assert audited.classes[0].kinds == ()


def test_a_whole_graph_of_candidates_is_taken_as_such():
    import dataclasses

    whole = made_explanation(3)
    whole = dataclasses.replace(
        whole, graph=dataclasses.replace(whole.graph, candidates=40, whole=True)
    )
    setting = GraphSetting(torch.ones(40, 5), GRAPH["edge_index"])
    assert len(setting.place(whole).nodes) == 40
