"""What holds for every method: lengths, seeds, and a model left as it was."""

import copy
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

sys.path.append(str(Path(__file__).parent))
from every_method import OURS, RANK_EDGES, WITHOUT_FEATURES, built

from zorro.errors import InputError
from zorro.methods import Subjects, build, evaluate, methods


def test_all_are_registered():
    assert set(OURS) <= set(methods())


@pytest.mark.parametrize("name", OURS)
def test_masks_have_the_lengths_of_candidates_features_and_edges(name, with_context):
    subjects, subject = with_context
    masks = built(name, subjects).explain(subject)
    assert masks.nodes is not None
    assert masks.nodes.shape == (subject.candidates,)
    if name in WITHOUT_FEATURES:
        assert masks.features is None
    else:
        assert masks.features.shape == (12,)
    if name in RANK_EDGES:
        assert masks.edges.shape == (subject.graph.edge_index.size(1),)


@pytest.mark.parametrize("name", OURS)
def test_the_same_seed_gives_the_same_masks_whatever_happened_before(name, with_context):
    subjects, subject = with_context
    one = built(name, subjects)
    first = one.explain(subject)
    torch.rand(7)
    one.explain(subjects.of(6))
    for again in (one.explain(subject), built(name, subjects).explain(subject)):
        for part in ("nodes", "features", "edges"):
            before, after = getattr(first, part), getattr(again, part)
            assert (before is None) == (after is None)
            assert before is None or torch.equal(before, after)


@pytest.mark.parametrize("name", OURS)
def test_the_model_and_the_random_state_stay_as_they_were(name, with_context):
    subjects, subject = with_context
    model = subject.model
    model.first.lin.weight.grad = torch.ones_like(model.first.lin.weight)
    weights = copy.deepcopy(model.state_dict())
    attributes = {part: set(vars(module)) for part, module in model.named_modules()}
    parameters = {part: set(module._parameters) for part, module in model.named_modules()}
    explain = {part: getattr(module, "explain", None) for part, module in model.named_modules()}
    random_state = torch.get_rng_state()

    built(name, subjects).explain(subject)

    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(module.training for module in model.modules())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert torch.equal(model.first.lin.weight.grad, torch.ones_like(model.first.lin.weight))
    assert model.second.lin.weight.grad is None
    assert model.state_dict().keys() == weights.keys()
    assert all(torch.equal(value, weights[key]) for key, value in model.state_dict().items())
    assert attributes == {part: set(vars(module)) for part, module in model.named_modules()}
    assert parameters == {part: set(module._parameters) for part, module in model.named_modules()}
    assert explain == {
        part: getattr(module, "explain", None) for part, module in model.named_modules()
    }


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"method: expected one of .*grad"):
        build("nonsense")


@pytest.mark.parametrize("name", [name for name in OURS if name not in ("empty", "random")])
def test_one_score_a_node_and_edge_weights_are_served(name, random_graph):
    class OneScore(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = GCNConv(12, 8)
            self.second = GCNConv(8, 1)

        def forward(self, x, edge_index, edge_weight):
            hidden = self.first(x, edge_index, edge_weight).relu()
            return self.second(hidden, edge_index, edge_weight).sigmoid()

    x, edge_index = random_graph
    weights = torch.rand(edge_index.size(1))
    model = OneScore()
    kwargs = {"edge_weight": weights}
    subjects = Subjects(model, x, edge_index, threshold=0.5, model_kwargs=kwargs)
    subject = subjects.of(5)
    masks = built(name, subjects).explain(subject)
    assert masks.nodes.shape == (subject.candidates,)
    assert 0 <= evaluate(subject, masks, subjects.noise).fidelity <= 1
