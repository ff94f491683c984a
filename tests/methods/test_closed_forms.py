"""Methods where the answer is known."""

import sys
from pathlib import Path

import pytest
import torch
from torch_geometric.explain import GNNExplainer as PygGNNExplainer
from torch_geometric.nn import APPNP

sys.path.append(str(Path(__file__).parent))
from every_method import pygs_gnn_explainer

from zorro import Zorro
from zorro.errors import InputError, ModelError
from zorro.methods import PGExplainer, PygAlgorithm, Subjects, build

# At node 0 the score is s = Σ over its 3 candidates of x₁ − x₂ / 2 = 3 − 2 = 1, class 1 is
# predicted with log-probability log σ(s), and its slope in s is σ(−s).
SLOPE = torch.sigmoid(torch.tensor(-1.0))


def test_nothing_is_selected_by_the_empty_explanation(linear):
    masks = build("empty").explain(linear.of(0))
    assert masks.nodes is not None
    assert masks.nodes.tolist() == [False] * 3
    assert masks.features is not None
    assert masks.features.tolist() == [False] * 2


def test_random_sets_have_the_given_sizes_and_differ_between_queries(with_context):
    subjects, subject = with_context
    masks = build("random", sizes=(4, 3)).explain(subject)
    assert masks.nodes is not None
    assert masks.features is not None
    assert (int(masks.nodes.sum()), int(masks.features.sum())) == (4, 3)
    of_each = build("random", sizes={5: (2, 12), 6: (0, 1)})
    five, six = of_each.explain(subject), of_each.explain(subjects.of(6))
    assert five.nodes is not None
    assert int(five.nodes.sum()) == 2
    assert five.features is not None
    assert five.features.all()
    assert six.nodes is not None
    assert not six.nodes.any()
    with pytest.raises(InputError, match="size of node 7's explanation"):
        of_each.explain(subjects.of(7))
    with pytest.raises(InputError, match="expected 0 to 12 features, got 13"):
        build("random", sizes=(1, 13)).explain(subject)


def test_every_random_set_is_as_likely_as_any_other(linear):
    counts = torch.zeros(3)
    for seed in range(300):
        subject = linear.of(0)
        object.__setattr__(subject, "seed", seed)
        nodes = build("random", sizes=(1, 1)).explain(subject).nodes
        assert nodes is not None
        counts += nodes
    assert counts.min() > 70  # of 100 expected each; five standard deviations are 41


def test_gradients_of_a_linear_model(linear):
    subject = linear.of(0)
    change = SLOPE * torch.tensor([[1.0, 0.0], [2.0, -0.5], [0.0, -1.5]])  # X ⊙ ∂s/∂X
    masks = build("grad").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, change.sum(1).abs())
    assert masks.features is not None
    assert torch.allclose(masks.features, change.sum(0).abs())
    masks = build("grad-input").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, change.abs().sum(1))
    assert masks.features is not None
    assert torch.allclose(masks.features, change.abs().sum(0))
    masks = build("grad", of="entries").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, SLOPE * torch.full((3,), 1.5))
    assert masks.features is not None
    assert torch.allclose(masks.features, SLOPE * torch.tensor([3.0, 1.5]))


def test_a_model_without_a_gradient_is_refused(linear):
    subject = linear.of(0)
    subject.model.forward = torch.no_grad()(subject.model.forward)
    for name in ("grad", "grad-input"):
        with pytest.raises(ModelError, match="no gradient"):
            build(name).explain(subject)
    with pytest.raises(ModelError, match="no gradient"):
        build("soft-zorro", noise=linear.noise).explain(subject)


def test_gnn_explainer_is_pygs_own_run(with_context):
    _, subject = with_context
    graph = subject.graph
    masks = build("gnnexplainer", epochs=20).explain(subject)
    theirs = pygs_gnn_explainer(subject, level="node", epochs=20, index=graph.target)
    assert masks.edges is not None
    assert torch.allclose(masks.edges, theirs.edge_mask, atol=1e-5)
    assert masks.features is not None
    assert torch.allclose(masks.features, theirs.node_mask[0], atol=1e-5)
    halves = torch.zeros(graph.x.size(0))
    for (sender, receiver), value in zip(graph.edge_index.T, theirs.edge_mask, strict=True):
        halves[sender] += value / 2
        halves[receiver] += value / 2
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, halves[: subject.candidates], atol=1e-5)


@pytest.mark.parametrize(("kind", "nodes", "features"), [("object", 1, 0), ("attributes", 1, 1)])
def test_node_masks_of_pyg_are_aggregated(kind, nodes, features, with_context):
    _, subject = with_context
    masks = PygAlgorithm(PygGNNExplainer(epochs=2), node_mask_type=kind).explain(subject)
    assert masks.edges is None
    assert (masks.nodes is not None, masks.features is not None) == (bool(nodes), bool(features))
    if features:
        assert masks.nodes is not None
        assert masks.features is not None
        assert torch.isclose(masks.nodes.sum(), masks.features.sum())


def test_pg_explainer_sees_all_that_a_propagation_reaches_and_keeps_its_coefficients():
    class Propagated(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(2, 2)
            self.propagation = APPNP(K=3, alpha=0.1)

        def forward(self, x, edge_index):
            return self.propagation(self.first(x), edge_index)

    torch.manual_seed(0)
    path = torch.tensor([[1, 2, 3, 4], [0, 1, 2, 3]])
    subjects = Subjects(Propagated(), torch.rand(5, 2), path)
    # A sum of sizes so small that no edge is driven to 0.
    explainer = PGExplainer(subjects, [0, 1], epochs=2, edge_size=0.0)
    masks = explainer.explain(subjects.of(0))
    assert masks.edges is not None
    reached = masks.edges > 0
    assert reached[subjects.of(0).graph.edge_index[0] < 4].all()
    other = PGExplainer(subjects, [0], epochs=1)
    assert explainer._algorithm.coeffs["edge_size"] == 0.0
    assert other._algorithm.coeffs["edge_size"] == 0.05


def test_soft_masks_find_the_planted_node_and_feature(planted):
    subject = planted.of(0)
    masks = build("soft-zorro", noise=planted.noise).explain(subject)
    ids = subject.graph.candidates.tolist()
    assert masks.nodes is not None
    assert ids[int(masks.nodes.argmax())] == 1
    assert masks.features is not None
    assert int(masks.features.argmax()) == 2
    assert masks.nodes.max() > 0.5
    assert masks.nodes.sort().values[:-1].max() < 0.1
    assert masks.features.max() > 0.5
    assert masks.features.sort().values[:-1].max() < 0.1


@pytest.mark.parametrize(("name", "search"), [("zorro", "guided"), ("zorro-paper", "paper")])
def test_our_searches_find_what_the_front_door_finds(name, search, with_context, random_graph):
    subjects, subject = with_context
    masks = build(name, noise=subjects.noise, tau=0.8).explain(subject)
    explanation = Zorro(subject.model, *random_graph, tau=0.8, search=search, seed=3).explain(5)
    assert tuple(subject.graph.candidates[masks.nodes].tolist()) == explanation.nodes
    assert masks.features is not None
    assert tuple(masks.features.nonzero().flatten().tolist()) == explanation.features
