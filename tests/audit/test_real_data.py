"""On citation graphs: a leaked label moves the grounds of its class, another seed moves none."""

import pytest
import torch

from zorro import Zorro
from zorro.audit import compare_runs
from zorro.audit.crossing import MeasuredOn
from zorro.models import TrainingSettings, train

LEAKING = 1  # the class that one column tells


def with_leak(data):
    leaking = data.clone()
    leaking.x = data.x.clone()
    rarest = int((data.x != 0).sum(0).argmin())
    leaking.x[:, rarest] = (data.y == LEAKING).float()
    return leaking, rarest


def trained(data, seed):
    return train("gcn", data, TrainingSettings(weight_decay=0.0005, seed=seed))


def some_of(answers, count):
    """Some nodes that are said to be of the class, and half as many of another."""
    generator = torch.Generator().manual_seed(0)
    found = []
    for number, many in ((LEAKING, count), (LEAKING + 1, count // 2)):
        every = (answers == number).nonzero().flatten()
        found += every[torch.randperm(len(every), generator=generator)[:many]].tolist()
    return found


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("cora", 8),
        *(pytest.param(each, 16, marks=pytest.mark.slow) for each in ("citeseer", "pubmed")),
    ],
)
def test_a_leak_is_flagged_and_another_seed_is_not(name, count, real_graph):
    data = real_graph(name)
    leaking, column = with_leak(data)
    before = trained(data, 0)
    nodes = some_of(before(data.x, data.edge_index).argmax(1), count)
    mine = Zorro(before, data.x, data.edge_index)
    kept = [mine.explain(node) for node in nodes]
    moved = {}
    for what, graph, seed in (("seed", data, 1), ("leak", leaking, 0)):
        theirs = Zorro(trained(graph, seed), graph.x, graph.edge_index)
        moved[what] = compare_runs(
            kept,
            [theirs.explain(node) for node in nodes],
            on_first=MeasuredOn(mine),
            on_second=MeasuredOn(theirs),
        )
    assert moved["seed"].moved == ()
    assert [one.answer for one in moved["leak"].moved] == [LEAKING]
    assert column in [shift.feature for shift in moved["leak"].moved[0].features]
    limit = 0.2
    assert moved["seed"].figures()["changed-grounds"] <= limit
    assert moved["leak"].figures()["changed-grounds"] > limit
