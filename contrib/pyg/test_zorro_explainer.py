import math
from itertools import product

import pytest
import torch

from torch_geometric.explain import Explainer, ZorroExplainer
from torch_geometric.explain.algorithm.zorro_explainer import _lower_bound
from torch_geometric.explain.config import (
    ExplanationType,
    MaskType,
    ModelConfig,
    ModelMode,
    ModelReturnType,
    ModelTaskLevel,
)
from torch_geometric.nn import APPNP, GATConv, GCNConv, global_add_pool


class GNN(torch.nn.Module):
    def __init__(self, Conv, model_config: ModelConfig):
        super().__init__()
        self.model_config = model_config
        multiclass = ModelMode.multiclass_classification
        self.conv1 = Conv(3, 16)
        self.conv2 = Conv(16, 4 if model_config.mode == multiclass else 1)

    def forward(self, x, edge_index, batch=None, edge_label_index=None):
        x = self.conv1(x, edge_index).relu()
        x = self.conv2(x, edge_index)

        if self.model_config.task_level == ModelTaskLevel.graph:
            x = global_add_pool(x, batch)
        elif self.model_config.task_level == ModelTaskLevel.edge:
            x = x[edge_label_index[0]] * x[edge_label_index[1]]

        is_binary = self.model_config.mode == ModelMode.binary_classification
        if self.model_config.return_type == ModelReturnType.probs:
            return x.sigmoid() if is_binary else x.softmax(dim=-1)
        if self.model_config.return_type == ModelReturnType.log_probs:
            return x.log_softmax(dim=-1)
        return x


@pytest.fixture()
def graph():
    torch.manual_seed(12345)
    row = torch.arange(12)
    edge_index = torch.stack([row, row.roll(1)])  # A ring.
    return {
        'x': torch.randn(12, 3),
        'edge_index': torch.cat([edge_index, edge_index.flip(0)], dim=1),
    }


@pytest.fixture()
def further():
    return {
        'batch': torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]),
        'edge_label_index': torch.tensor([[0, 1, 2], [3, 4, 5]]),
    }


def get_explainer(model, **kwargs):
    model_config = kwargs.pop('model_config', None) or ModelConfig(
        mode='multiclass_classification',
        task_level='node',
        return_type='raw',
    )
    names = ['explanation_type', 'node_mask_type', 'edge_mask_type']
    config = {key: kwargs.pop(key) for key in names if key in kwargs}
    config.setdefault('explanation_type', 'model')
    config.setdefault('node_mask_type', 'attributes')
    return Explainer(
        model=model,
        algorithm=ZorroExplainer(**kwargs),
        model_config=model_config,
        **config,
    )


def check_explanation(explanation, node_mask_type, tau):
    N, F = explanation.x.size()
    size = {
        MaskType.attributes: (N, F),
        MaskType.object: (N, 1),
        MaskType.common_attributes: (1, F),
    }[node_mask_type]
    node_mask = explanation.node_mask
    assert node_mask.size() == size
    assert node_mask.is_floating_point()
    assert set(node_mask.unique().tolist()) <= {0.0, 1.0}
    # A hard mask is the product of a set of nodes and a set of features:
    nodes, features = node_mask.amax(dim=1), node_mask.amax(dim=0)
    assert torch.equal(node_mask, nodes[:, None] * features)

    assert 'edge_mask' not in explanation
    assert 0 <= explanation.rdt_fidelity_bound <= explanation.rdt_fidelity <= 1
    assert explanation.certified == (explanation.rdt_fidelity_bound >= tau)
    assert explanation.validate()


modes_and_return_types = [
    *product(['binary_classification'], ['raw', 'probs']),
    *product(['multiclass_classification'], ['raw', 'probs', 'log_probs']),
]
explanation_types = [ExplanationType.model, ExplanationType.phenomenon]


@pytest.mark.parametrize('mode,return_type', modes_and_return_types)
@pytest.mark.parametrize('task_level', ['node', 'edge', 'graph'])
@pytest.mark.parametrize('node_mask_type', list(MaskType))
@pytest.mark.parametrize('explanation_type', explanation_types)
@pytest.mark.parametrize('index', [None, 2, torch.arange(3)])
def test_zorro_explainer(
    mode,
    return_type,
    task_level,
    node_mask_type,
    explanation_type,
    index,
    graph,
    further,
):
    model_config = ModelConfig(mode, task_level, return_type)
    model = GNN(GCNConv, model_config)
    explainer = get_explainer(
        model,
        model_config=model_config,
        explanation_type=explanation_type,
        node_mask_type=node_mask_type,
        tau=0.6,
        top_k=2,
        num_samples=10,
        num_test_samples=20,
    )

    target = None
    if explanation_type == ExplanationType.phenomenon:
        prediction = explainer.get_prediction(**graph, **further)
        target = explainer.get_target(prediction)

    explanation = explainer(**graph, target=target, index=index, **further)
    check_explanation(explanation, node_mask_type, tau=0.6)


@pytest.mark.parametrize(
    'kwargs',
    [
        dict(mode='regression', task_level='node'),
        dict(mode='regression', task_level='edge'),
        dict(mode='regression', task_level='graph'),
    ],
)
def test_zorro_explainer_does_not_support_regression(kwargs):
    model_config = ModelConfig(**kwargs)
    with pytest.raises(ValueError, match='does not support the given'):
        get_explainer(GNN(GCNConv, model_config), model_config=model_config)


@pytest.mark.parametrize('node_mask_type', [None, *MaskType])
def test_zorro_explainer_does_not_support_edge_masks(node_mask_type):
    with pytest.raises(ValueError, match='does not support the given'):
        get_explainer(
            torch.nn.Identity(),
            node_mask_type=node_mask_type,
            edge_mask_type='object',
        )


def test_zorro_explainer_does_not_support_hetero():
    explainer = get_explainer(torch.nn.Identity(),
                              explanation_type='phenomenon')
    with pytest.raises(ValueError, match='Heterogeneous graphs not support'):
        explainer(
            {'paper': torch.randn(3, 2)},
            {},
            target=torch.zeros(3, dtype=torch.long),
        )


def test_zorro_explainer_refuses_what_is_not_predicted(graph):
    model = GNN(GCNConv, get_explainer(torch.nn.Identity()).model_config)
    explainer = get_explainer(model, explanation_type='phenomenon')
    target = explainer.get_target(explainer.get_prediction(**graph))
    target[5] = (target[5] + 1) % 4

    with pytest.raises(ValueError, match=r'for the outputs \[5\]'):
        explainer(**graph, target=target)
    with pytest.raises(ValueError, match='Expected one class for each output'):
        explainer(**graph, target=target[:5])
    assert explainer(**graph, target=target, index=4).rdt_fidelity > 0


@pytest.mark.parametrize(
    'kwargs',
    [
        dict(tau=0.0),
        dict(tau=1.0),
        dict(confidence=95),
        dict(num_samples=0),
        dict(num_test_samples=0),
        dict(batch_size=0),
        dict(top_k=0),
    ],
)
def test_zorro_explainer_refuses_options(kwargs):
    with pytest.raises(ValueError, match=f"'{next(iter(kwargs))}' needs"):
        ZorroExplainer(**kwargs)


class Sum(torch.nn.Module):
    r"""Predicts the sign of `2a + b` for two entries `a` and `b` of -1 or 1,
    whose fidelities can be worked out by hand.
    """
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, x, edge_index):
        # As absolute places, which several graphs at once do not have:
        score = (2 * x[self.a] + x[self.b]).expand(x.size(0))
        return torch.stack([-score, score], dim=1)


def get_signs(num_nodes=10):
    x = torch.ones(num_nodes, 4)
    x[num_nodes // 2:] = -1.0  # Half of each column.
    return x


def test_zorro_explainer_finds_what_the_model_reads():
    # With a = 1 the sum is positive. Without a it is in half of the cases,
    # whatever b is:
    x, edge_index = get_signs(), torch.empty(2, 0, dtype=torch.long)
    model = Sum((1, 2), (3, 0))
    explanation = get_explainer(model, tau=0.85)(x, edge_index, index=7)
    expected = torch.zeros(10, 4)
    expected[1, 2] = 1.0
    assert torch.equal(explanation.node_mask, expected)
    assert explanation.rdt_fidelity == 1.0
    assert explanation.certified

    explanation = get_explainer(model, tau=0.3)(x, edge_index, index=7)
    assert int(explanation.node_mask.sum()) == 0
    assert abs(explanation.rdt_fidelity - 0.5) < 4 * math.sqrt(0.25 / 1000)


@pytest.mark.parametrize(
    'model',
    [
        GCNConv(3, 4),
        GATConv(3, 4, heads=2),
        GCNConv(3, 4, cached=True),
        APPNP(K=4, alpha=0.1),  # Looks further than one hop.
    ],
    ids=['GCN', 'GAT', 'cached', 'APPNP'],
)
@pytest.mark.parametrize('node_mask_type', list(MaskType))
@pytest.mark.parametrize('index', [0, torch.arange(3)], ids=str)
def test_zorro_explainer_reports_the_fidelity_of_its_mask(
        model, node_mask_type, index, graph):
    torch.manual_seed(12345)
    model = model.eval()
    x, edge_index = graph['x'], graph['edge_index']
    explainer = get_explainer(model, node_mask_type=node_mask_type, tau=0.7,
                              top_k=3, num_test_samples=500, batch_size=30)
    explanation = explainer(x, edge_index, index=index)

    # One draw after the other, on the whole graph:
    with torch.no_grad():
        prediction = model(x, edge_index).argmax(dim=-1)
        mask = explanation.node_mask.bool().expand_as(x)
        num_hits = 0
        for _ in range(500):
            z = x.gather(0, torch.randint(x.size(0), x.size()))
            out = model(torch.where(mask, x, z), edge_index).argmax(dim=-1)
            num_hits += int((out == prediction)[index].all())
    # Four standard errors of the difference of two shares:
    assert abs(num_hits / 500 - explanation.rdt_fidelity) < 0.12


@pytest.mark.parametrize(
    'model,num_nodes',
    [
        (GCNConv(3, 4), 5),  # Three nodes, and the two which they are next to.
        (GCNConv(3, 4, cached=True), 12),
        (APPNP(K=4, alpha=0.1), 12),
    ],
    ids=['GCN', 'cached', 'APPNP'],
)
def test_zorro_explainer_cuts_what_does_not_matter(model, num_nodes, graph):
    sizes = []
    model.register_forward_pre_hook(
        lambda _, args: sizes.append(args[0].size(0)))
    explainer = get_explainer(model, batch_size=50)
    explainer(**graph, index=3)

    is_cached = getattr(model, 'cached', False)
    assert sizes[-1] == num_nodes * (1 if is_cached else 50)


def test_zorro_explainer_is_reproducible(graph):
    model = GNN(GCNConv, get_explainer(torch.nn.Identity()).model_config)
    state = torch.get_rng_state()
    first, again, other = (get_explainer(model, seed=seed)(**graph, index=1)
                           for seed in [0, 0, 1])
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.node_mask, again.node_mask)
    assert first.rdt_fidelity == again.rdt_fidelity
    assert first.rdt_fidelity != other.rdt_fidelity


def test_zorro_explainer_draws_from_background(graph):
    model = GCNConv(3, 2)
    same = graph['x'].mean(dim=0, keepdim=True)  # Noise is always the same.
    explainer = get_explainer(model, background=same, tau=0.9)
    explanation = explainer(**graph, index=1)
    x = graph['x']
    z = torch.where(explanation.node_mask.bool(), x, same)
    stays = model(z, graph['edge_index'])[1].argmax() == explanation.target[1]
    assert explanation.rdt_fidelity == float(stays)


def test_zorro_explainer_passes_edge_level_inputs(graph):
    # Without its heavy edge, node 0 would be of another class:
    edge_weight = torch.full((24, ), 0.01)
    edge_weight[(graph['edge_index'] == torch.tensor([[1], [0]])).all(0)] = 9.0
    conv = GCNConv(2, 2, normalize=False, bias=False, add_self_loops=False)
    conv.lin.weight.data = torch.eye(2)
    x = torch.tensor([[0.0, 1.0]]).repeat(12, 1)
    x[1], x[4] = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0])

    explainer = get_explainer(conv)
    explanation = explainer(x, graph['edge_index'], index=0,
                            edge_weight=edge_weight)
    assert explanation.target[0] == 0
    assert explanation.node_mask.nonzero()[:, 0].unique().tolist() == [1]
    assert explanation.certified


@pytest.mark.parametrize(
    'num_hits,expected',
    [
        # All samples hit: the bound is the root of 1 - confidence.
        (100, 0.05**(1 / 100)),
        # None but one: at least one hit has probability 1 - confidence.
        (1, 1 - 0.95**(1 / 100)),
        (0, 0.0),
    ],
)
def test_lower_bound(num_hits, expected):
    bound = _lower_bound(num_hits, 100, confidence=0.95)
    assert math.isclose(bound, expected, abs_tol=1e-9)


def test_lower_bound_is_exact():
    for num_hits in [3, 50, 90, 99]:
        p = _lower_bound(num_hits, 100, confidence=0.9)
        tail = sum(
            math.comb(100, k) * p**k * (1 - p)**(100 - k)
            for k in range(num_hits, 101))
        assert math.isclose(tail, 0.1, abs_tol=1e-9)
