"""What a set may be of: nodes, features, groups of columns; every claim counted in a plain loop."""

import math
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn

from zorro import Zorro, explain_many

NODES, FEATURES, QUERY = 40, 6, 7
GROUPS = [[0, 1, 2], [4, 5]]


@pytest.fixture
def case():
    torch.manual_seed(0)
    here = torch.arange(NODES)
    pairs = torch.stack([here.repeat(2), torch.cat([(here + 1) % NODES, (here + 7) % NODES])])
    x = torch.randn(NODES, FEATURES)
    kind = torch.randint(3, (NODES,))
    x[:, :3] = 3 * torch.nn.functional.one_hot(kind, 3).float() - 1
    model = gnn.GCN(FEATURES, 8, num_layers=2, out_channels=3, act="tanh", bias=False).eval()
    return model, x, torch.cat([pairs, pairs.flip(0)], dim=1)


def plain_fidelity(case, explanation, groups, samples=300):
    """The whole graph, each group of columns redrawn from one row, each other column from one."""
    model, x, edge_index = case
    generator = torch.Generator().manual_seed(3)
    keep = torch.zeros_like(x, dtype=torch.bool)
    for row in explanation.selected.get("nodes", range(NODES)):
        for column in explanation.selected.get("features", range(FEATURES)):
            keep[row, column] = True
    grouped = {column for group in groups for column in group}
    parts = [*groups, *([column] for column in range(FEATURES) if column not in grouped)]
    stayed = 0
    with torch.no_grad():
        for _ in range(samples):
            noise = torch.empty_like(x)
            for part in parts:
                rows = torch.randint(NODES, (NODES,), generator=generator)
                noise[:, part] = x[rows][:, part]
            predicted = model(torch.where(keep, x, noise), edge_index)[QUERY].argmax()
            stayed += int(predicted) == explanation.predicted_class
    return stayed / samples


@pytest.mark.parametrize("search", ["guided", "paper"])
@pytest.mark.parametrize(
    "groups", [[], GROUPS, [range(FEATURES)]], ids=["columns", "groups", "one"]
)
@pytest.mark.parametrize("keep", [("nodes",), ("features",), ("nodes", "features")])
def test_both_evaluators_find_the_same_and_it_holds(case, keep, groups, search):
    model, x, edge_index = case
    options = {"tau": 0.8, "keep": keep, "feature_groups": groups or None, "search": search}
    traced, run = (
        Zorro(model, x, edge_index, evaluator=name, **options).explain(QUERY)
        for name in ("traced", "any-model")
    )
    assert traced.status != "nothing needed", "else anything would do"
    assert traced.selected == run.selected
    assert traced.steps == run.steps
    assert set(traced.selected) == set(keep)
    for group in groups if "features" in keep else []:
        assert len(set(group) & set(traced.features)) in (0, len(group))
    measured = plain_fidelity(case, traced, groups)
    if search == "guided":
        assert traced.certified
        assert measured > 0.8 - 4 * math.sqrt(0.16 / 300)
    assert abs(measured - traced.fidelity.value) < 5 * math.sqrt(0.25 / 300)


def test_a_group_is_one_element(case):
    model, x, edge_index = case
    explanation = Zorro(model, x, edge_index, tau=0.8, feature_groups=GROUPS).explain(QUERY)
    sizes = {len(step.members) for step in explanation.steps if step.kind == "features"}
    assert sizes <= {1, 2, 3}
    chosen = [step.members for step in explanation.steps if step.kind == "features" and step.added]
    groups: list[set[Any]] = [set(group) for group in [*GROUPS, [3]]]
    assert all(set(members) in groups for members in chosen)
    limited = Zorro(model, x, edge_index, tau=0.8, feature_groups=GROUPS, max_elements=2)
    found = limited.explain(QUERY)
    assert len(found.nodes) <= 1
    assert found.features in ((), (0, 1, 2), (3,), (4, 5))


def test_the_order_of_kinds_does_not_matter(case):
    model, x, edge_index = case
    one, other = (
        Zorro(model, x, edge_index, tau=0.8, keep=keep).explain(QUERY)
        for keep in (("nodes", "features"), ("features", "nodes"))
    )
    assert one.selected == other.selected
    assert one.parameters == other.parameters


@pytest.mark.parametrize("keep", ["nodes", "features"])
def test_masks_hold_all_of_what_is_not_selectable(case, keep):
    model, x, edge_index = case
    explanation = Zorro(model, x, edge_index, tau=0.8, keep=(keep,)).explain(QUERY)
    assert explanation.selected[keep], "else there is nothing to see"
    mask = explanation.to_pyg().node_mask
    expected = torch.zeros_like(x)
    if keep == "nodes":
        expected[list(explanation.nodes)] = 1.0
    else:
        expected[:, list(explanation.features)] = 1.0
    assert torch.equal(mask, expected)


def test_a_group_counts_as_one_wherever_sizes_are_told(case, tmp_path):
    model, x, edge_index = case
    run = explain_many(
        model,
        x,
        edge_index,
        [QUERY, 3],
        out=tmp_path / "run",
        engine="in-process",
        tau=0.8,
        feature_groups=[range(FEATURES)],
    )
    for explanation in run.explanations():
        assert explanation.features == tuple(range(FEATURES))
        assert "× 1 features" in repr(explanation)
        assert explanation.feature_entropy == 0.0
    assert run.median_sizes()["features"] == 1.0
