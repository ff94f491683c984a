import copy
import doctest
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.explain import Explainer, fidelity, unfaithfulness
from torch_geometric.explain.config import ExplainerConfig, ModelConfig
from torch_geometric.nn import GCNConv, SimpleConv

import zorro.pyg.algorithm
from zorro import Zorro
from zorro.errors import InputError
from zorro.models import build, checkpoint
from zorro.pyg import ZorroExplainer

MULTICLASS = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
LOG_PROBS = {**MULTICLASS, "return_type": "log_probs"}
BINARY = {**MULTICLASS, "mode": "binary_classification"}

# Node i + 1 receives from node i and so predicts class i. Node 1 needs feature 0 of node 0 alone,
# since class 0 wins ties; node 0 needs all features of node 2, since class 2 loses them.
RING = torch.tensor([[0, 1, 2], [1, 2, 0]])
X = torch.eye(3)


def explainer_of(model=None, *, config=MULTICLASS, kind="model", mask="attributes", **options):
    return Explainer(
        SimpleConv() if model is None else model,
        ZorroExplainer(**options),
        explanation_type=kind,
        model_config=config,
        node_mask_type=mask,
    )


def entries(explanation):
    return {tuple(entry) for entry in explanation.node_mask.nonzero().tolist()}


class Scores(nn.Module):
    """A function of the sum of the neighbours' features, and no parameters."""

    def __init__(self, function):
        super().__init__()
        self.conv = SimpleConv()
        self.function = function

    def forward(self, x, edge_index):
        return self.function(self.conv(x, edge_index))


class Regularised(nn.Module):
    """A model whose output depends on its mode."""

    def __init__(self):
        super().__init__()
        self.conv = GCNConv(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x, edge_index):
        return self.dropout(self.norm(self.conv(x, edge_index)))


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """The graphs are small: on a busy machine several threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def cora(real_graph, paper_dir):
    """The paper's trained GCN, Cora, options, and Zorro's own explanations of two nodes."""
    data = real_graph("cora")
    model = build("gcn", data.num_features, 7)
    checkpoint.load(model, checkpoint.paper_checkpoint("cora", "gcn"))
    options: dict[str, Any] = {"tau": 0.8, "samples": 20, "fresh_samples": 20, "seed": 3}
    own = Zorro(model, data.x, data.edge_index, **options)
    return model, data, options, {node: own.explain(node) for node in (2521, 658)}


def test_the_example_in_the_docstring_is_true():
    results = doctest.testmod(zorro.pyg.algorithm)
    assert results.attempted > 0
    assert results.failed == 0


def test_by_hand_on_the_ring():
    explainer = explainer_of()
    assert entries(explainer(X, RING, index=1)) == {(0, 0)}
    assert entries(explainer(X, RING, index=0)) == {(2, 0), (2, 1), (2, 2)}


def test_an_element_of_two_explanations_counts_once():
    explanation = explainer_of(mask="common_attributes")(X, RING, index=torch.tensor([0, 1]))
    assert explanation.node_mask.tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("mask", ["attributes", "object", "common_attributes"])
def test_masks_on_cora_are_those_of_zorro_itself(cora, mask):
    model, data, options, own = cora
    explanation = explainer_of(model, config=LOG_PROBS, mask=mask, **options)(
        data.x, data.edge_index, index=2521
    )
    nodes, features = torch.zeros(2708, 1), torch.zeros(1, 1433)
    nodes[list(own[2521].nodes)] = 1.0
    features[0, list(own[2521].features)] = 1.0
    assert 0 < nodes.sum() < own[2521].graph.candidates
    assert 0 < features.sum() < 1433
    expected = {"attributes": nodes * features, "object": nodes, "common_attributes": features}
    assert torch.equal(explanation.node_mask, expected[mask])
    assert explanation.node_mask.dtype == torch.float32
    assert explanation.validate(raise_on_error=True)
    assert explanation.zorro[2521].steps == own[2521].steps
    assert explanation.zorro[2521].parameters == own[2521].parameters


def test_several_nodes_of_cora_give_the_union_and_each_explanation(cora):
    model, data, options, own = cora
    explanation = explainer_of(model, config=LOG_PROBS, **options)(
        data.x, data.edge_index, index=torch.tensor([658, 2521])
    )
    both = {
        (node, feature) for each in own.values() for node in each.nodes for feature in each.features
    }
    assert entries(explanation) == both
    assert {node: each.nodes for node, each in explanation.zorro.items()} == {
        node: each.nodes for node, each in own.items()
    }


def test_pygs_metrics_on_cora_agree_with_their_definitions(cora):
    model, data, options, _ = cora
    explainer = explainer_of(model, config=LOG_PROBS, **options)
    explanation = explainer(data.x, data.edge_index, index=2521)
    model.eval()
    with torch.no_grad():
        log_probs, kept, removed = (
            model(data.x * mask, data.edge_index)[2521]
            for mask in (1.0, explanation.node_mask, 1 - explanation.node_mask)
        )
    changed = [float(other.argmax() != log_probs.argmax()) for other in (removed, kept)]
    assert list(fidelity(explainer, explanation)) == changed
    divergence = (kept.exp() * (kept - log_probs)).sum()
    assert divergence > 0
    assert unfaithfulness(explainer, explanation) == pytest.approx(
        float(1 - (-divergence).exp()), abs=1e-5
    )


def test_pygs_fidelity_by_hand_on_the_ring():
    explainer = explainer_of()
    # Without node 2 all scores of node 0 are zero, and the first class wins.
    assert fidelity(explainer, explainer(X, RING, index=0)) == (1.0, 0.0)
    assert fidelity(explainer, explainer(X, RING, index=1)) == (0.0, 0.0)


def test_zorros_explanations_survive_what_pyg_does_to_an_explanation():
    explanation = explainer_of()(X, RING, index=torch.arange(3))  # as many as nodes and edges
    derived = [
        explanation.get_explanation_subgraph(),
        explanation.get_complement_subgraph(),
        explanation.threshold("hard", 0.5),
        explanation.to("cpu"),
        explanation.clone(),
        copy.deepcopy(explanation),
    ]
    for each in derived:
        assert each.zorro == explanation.zorro
    assert {node: each.predicted_class for node, each in explanation.zorro.items()} == {
        0: 2,
        1: 0,
        2: 1,
    }


def test_the_explanation_subgraph_is_that_of_the_selected_nodes():
    explanation = explainer_of(mask="object")(X, RING, index=torch.tensor([0, 1]))
    subgraph = explanation.get_explanation_subgraph()
    assert subgraph.x.tolist() == [[1, 0, 0], [0, 0, 1]]  # nodes 0 and 2
    assert subgraph.edge_index.tolist() == [[1], [0]]
    assert explanation.get_complement_subgraph().x.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("mask", ["attributes", "common_attributes"])
def test_pyg_draws_the_feature_importance(mask, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="PyG draws feature importance with pandas")
    monkeypatch.setenv("MPLBACKEND", "agg")
    explanation = explainer_of(mask=mask)(X, RING, index=1)
    explanation.visualize_feature_importance(str(tmp_path / "features.png"), top_k=3)
    assert (tmp_path / "features.png").stat().st_size > 1000


def test_pyg_refuses_what_the_docstring_says_it_refuses(tmp_path):
    with pytest.raises(ValueError, match="'edge_mask' is not available"):
        explainer_of()(X, RING, index=1).visualize_graph(str(tmp_path / "graph.png"))
    with pytest.raises(IndexError):
        explainer_of(mask="common_attributes")(X, RING, index=1).get_explanation_subgraph()
    with pytest.raises(ValueError, match="Cannot compute feature importance"):
        explainer_of(mask="object")(X, RING, index=1).visualize_feature_importance()


@pytest.mark.parametrize(
    ("return_type", "function"),
    [
        ("raw", lambda scores: scores - 2.0),
        ("probs", lambda scores: scores.softmax(-1)),
        ("log_probs", lambda scores: scores.log_softmax(-1)),
    ],
)
def test_all_return_types_give_the_same_masks(return_type, function):
    explainer = explainer_of(Scores(function), config={**MULTICLASS, "return_type": return_type})
    assert entries(explainer(X, RING, index=1)) == {(0, 0)}
    assert entries(explainer(X, RING, index=0)) == {(2, 0), (2, 1), (2, 2)}


@pytest.mark.parametrize("columns", [(), (1,)], ids=["(N,)", "(N, 1)"])
@pytest.mark.parametrize("return_type", ["raw", "probs"])
def test_a_one_column_model_is_separated_where_pyg_separates_it(return_type, columns):
    squash = torch.sigmoid if return_type == "probs" else lambda scores: scores

    def first(scores):  # .3 where the first feature is there, −.2 where it is not
        return squash(0.5 * scores[:, 0] - 0.2).view(-1, *columns)

    explainer = explainer_of(Scores(first), config={**BINARY, "return_type": return_type})
    explanation = explainer(X, RING, index=torch.arange(3))
    classes = {node: each.predicted_class for node, each in explanation.zorro.items()}
    assert classes == {0: 0, 1: 1, 2: 0}
    assert explanation.target.tolist() == [0, 1, 0]
    # Noise turns the first feature on in a third of the samples: all three must keep it.
    assert entries(explanation) == {(0, 0), (1, 0), (2, 0)}


def test_edge_weights_follow_the_graph():
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    edge_index = torch.tensor([[1, 2], [0, 0]])
    explainer = explainer_of(seed=1)
    for weights, heavy in ([9.0, 1.0], 1), ([1.0, 9.0], 2):
        explanation = explainer(x, edge_index, index=0, edge_weight=torch.tensor(weights))
        assert explanation.zorro[0].predicted_class == heavy - 1
        assert explanation.zorro[0].nodes == (heavy,)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"tau": 2.0}, "tau: expected a number above 0"),
        ({"samples": 0}, "samples: expected a whole number"),
        ({"noise": "pink"}, "noise: expected one of column-marginals"),
        ({"hops": -1}, "hops: expected"),
        ({"epochs": 100}, "epochs: expected one of the options tau, "),
        ({"threshold": 0.5}, "threshold: expected one of the options tau, "),
        ({"model_kwargs": {}}, "model_kwargs: expected one of the options tau, "),
    ],
)
def test_bad_options_are_refused_at_once(option, message):
    with pytest.raises(InputError, match=message):
        ZorroExplainer(**option)


def test_the_options_are_in_the_algorithms_name():
    assert repr(ZorroExplainer(tau=0.9, noise="zeros")) == "ZorroExplainer(tau=0.9, noise='zeros')"


@pytest.mark.parametrize(
    "index", [1, torch.tensor(1), torch.tensor([1]), torch.tensor([1, 1]), np.int64(1), [1]]
)
def test_a_node_can_be_named_in_many_ways(index):
    explanation = explainer_of()(X, RING, index=index)
    assert entries(explanation) == {(0, 0)}
    assert list(explanation.zorro) == [1]


def test_a_node_named_twice_is_explained_once():
    draws = []

    def noise(candidates, generator):
        draws.append(generator)
        return torch.zeros(candidates.shape)

    explainer = explainer_of(noise=noise)
    explainer(X, RING, index=torch.tensor([1]))
    once = len(draws)
    explainer(X, RING, index=torch.tensor([1, 1]))
    assert len(draws) == 2 * once > 0


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, "from 0 to 2, got 3"),
        (-1, "from 0 to 2, got -1"),
        (torch.tensor([0, 7]), "from 0 to 2, got 7"),
        (torch.tensor([]), r"got torch.float32 of shape \(0,\)"),
        (torch.tensor([], dtype=torch.long), r"got torch.int64 of shape \(0,\)"),
        (torch.tensor([[1]]), r"got torch.int64 of shape \(1, 1\)"),
        (torch.tensor([1.0]), "got torch.float32"),
        (torch.tensor([True, False, False]), "got a mask"),
        ("one", "got str"),
    ],
)
def test_an_index_that_names_no_nodes_is_refused(index, message):
    with pytest.raises(InputError, match=f"index: expected a node id .*{message}"):
        explainer_of()(X, RING, index=index)


def test_without_an_index_all_nodes_are_explained():
    explanation = explainer_of()(X, RING)
    assert list(explanation.zorro) == [0, 1, 2]
    each = [explainer_of()(X, RING, index=node).node_mask for node in range(3)]
    assert torch.equal(explanation.node_mask, torch.stack(each).amax(0))


def test_a_tolerance_is_for_values(caplog):
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            SimpleConv(),
            ZorroExplainer(tolerance=1.0),
            explanation_type="model",
            model_config=MULTICLASS,
            node_mask_type="attributes",
        )
    assert "tolerance only with mode 'regression'" in caplog.text


@pytest.mark.parametrize("dtype", [torch.long, torch.float, torch.bool])
def test_a_phenomenon_that_is_predicted_is_explained_as_the_prediction(dtype):
    def first(scores):
        return 2.0 * scores[:, :1] - 1.0

    target = torch.tensor([0, 1, 0]).to(dtype)
    model = explainer_of(Scores(first), config=BINARY)
    phenomenon = explainer_of(Scores(first), config=BINARY, kind="phenomenon")
    for node in range(3):
        expected = model(X, RING, index=node)
        explanation = phenomenon(X, RING, target=target, index=node)
        assert torch.equal(explanation.node_mask, expected.node_mask)
        assert fidelity(phenomenon, explanation)[1] == 0.0


def test_a_phenomenon_that_is_not_predicted_is_refused_before_the_search():
    def noise(candidates, generator):
        raise AssertionError("the search has begun")

    explainer = explainer_of(kind="phenomenon", noise=noise)
    with pytest.raises(
        InputError, match="target: expected class 1, which the model predicts for node 2, got 0"
    ):
        explainer(X, RING, target=torch.tensor([2, 0, 0]), index=torch.tensor([0, 1, 2]))


def test_a_cut_that_changes_the_prediction_is_refused():
    explainer = explainer_of(hops=0, halo=0, check="none")  # no neighbours: all scores are zero
    with pytest.raises(
        InputError, match=r"node 0: expected class 0, which is explained, got 2 from PyG"
    ):
        explainer(X, RING, index=0)


def test_a_target_that_is_not_one_class_per_node_is_refused():
    explainer = explainer_of(kind="phenomenon")
    with pytest.raises(InputError, match=r"target: .* one class per node, \(3,\), got \(1,\)"):
        explainer(X, RING, target=torch.tensor([0]), index=1)
    with pytest.raises(InputError, match=r"got \(9,\) \(binary_classification is for models"):
        explainer_of(config=BINARY)(X, RING, index=1)  # three columns


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_mask_has_the_type_of_the_features(dtype):
    assert explainer_of()(X.to(dtype), RING, index=1).node_mask.dtype == dtype


def test_model_and_inputs_are_left_as_they_were():
    torch.manual_seed(0)
    model = Regularised()
    model.norm.eval()  # frozen, as when fine-tuning
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    state = copy.deepcopy(model.state_dict())
    x = X.clone().requires_grad_()
    algorithm = ZorroExplainer()
    algorithm.connect(ExplainerConfig("phenomenon", "attributes"), ModelConfig(**MULTICLASS))
    with torch.no_grad():
        target = copy.deepcopy(model).eval()(x, RING).argmax(-1)
    explanation = algorithm(model, x, RING, target=target, index=torch.tensor([0, 1]))
    assert explanation.node_mask.requires_grad is False
    assert [module.training for module in model.children()] == [True, False, True]
    assert model.training
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    parameters: list[Any] = list(model.parameters())
    assert all((parameter.grad == 1).all() for parameter in parameters)
    assert x.grad is None
    assert torch.equal(x, X)
