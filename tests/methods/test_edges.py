"""What methods say of edges: closed forms, finite differences, plain loops."""

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SimpleConv

from zorro.errors import InputError, ModelError
from zorro.methods import Subjects, build
from zorro.methods.coalition_values import Coalition
from zorro.methods.edge_gradient import edge_gradient
from zorro.methods.edge_removal import scores_with_edges
from zorro.methods.graphmask import _Fitting
from zorro.methods.pyg_algorithm import PygAlgorithm
from zorro.methods.pyg_fidelity import pyg_fidelity
from zorro.methods.subgraphx import _TreeNode, edge_values
from zorro.metrics import UndirectedEdges
from zorro.models import build as build_model

SLOPE = torch.sigmoid(torch.tensor(-1.0))  # of log σ(s) at the score s = 1


def ids_of(subject):
    return torch.cat([subject.graph.candidates, subject.graph.context])


def by_pair(subject, values):
    """Values of columns by the nodes that these lead from and to."""
    ends = ids_of(subject)[subject.graph.edge_index].t().tolist()
    return {tuple(pair): float(value) for pair, value in zip(ends, values, strict=True)}


def test_gradients_of_a_linear_model(linear):
    """A message along an edge adds W·x of its sender, and the slope is that of log σ."""
    subject = linear.of(0)
    found = by_pair(subject, build("grad", of="edges").explain(subject).edges)
    assert found[1, 0] == pytest.approx(float(SLOPE) * 1.5)  # 2 − 1 / 2
    assert found[2, 0] == pytest.approx(float(SLOPE) * 1.5)  # |0 − 3 / 2|
    assert all(found[pair] == 0 for pair in found if pair[1] != 0)


@pytest.mark.parametrize("weighed", [True, False])
def test_gradients_are_of_weights_that_degrees_follow(random_graph, weighed):
    """By finite differences of the model itself, called on the whole graph."""
    x, edge_index = random_graph
    torch.manual_seed(1)
    model = build_model("gcn3", 12, 3).double()
    x = x.double()
    weight = 0.5 + torch.rand(edge_index.size(1)).double() if weighed else None
    kwargs = {} if weight is None else {"edge_weight": weight}
    subject = Subjects(model, x, edge_index, model_kwargs=kwargs).of(5)
    found = by_pair(subject, edge_gradient(subject))
    base = torch.ones(edge_index.size(1), dtype=torch.float64) if weight is None else weight
    step = 1e-6
    moved = 0
    for column, pair in enumerate(map(tuple, edge_index.t().tolist())):
        if pair not in found:
            continue
        changed = base.clone()
        changed[column] *= 1 + step
        with torch.no_grad():
            logs = [model(x, edge_index, w)[5, subject.predicted_class] for w in (base, changed)]
        slope = float(logs[1] - logs[0]) / step
        assert found[pair] == pytest.approx(slope, abs=1e-5)
        moved += abs(slope) > 1e-4
    assert moved > 5


def test_nodes_get_half_of_the_gradients_of_their_edges(linear):
    masks = build("grad", of="edges").explain(linear.of(0))
    expected = float(SLOPE) * 1.5 * torch.tensor([1.0, 0.5, 0.5])
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, expected)


def test_a_model_that_hears_no_edges_has_no_gradient(random_graph):
    class Alone(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(12, 2)

        def forward(self, x, edge_index):
            return self.linear(x)

    subject = Subjects(Alone(), *random_graph).of(0)
    with pytest.raises(ModelError, match="no gradient"):
        build("grad", of="edges").explain(subject)


def test_of_what_gradients_are_is_checked():
    with pytest.raises(InputError, match="of: expected 'masks', 'entries' or 'edges', got 'x'"):
        build("grad", of="x")


def test_gates_of_graphmask_are_trained(with_context):
    """With PyG's own guess of their sizes nothing learns where a layer changes the width."""
    _, subject = with_context

    def gates(epochs):
        algorithm = _Fitting(epochs=epochs, lr=0.05)
        PygAlgorithm(algorithm, node_mask_type="attributes", edge_mask_type="object").explain(
            subject
        )
        return torch.cat([each.detach().flatten() for each in algorithm.gates.parameters()])

    before, after = gates(1), gates(30)
    assert before.shape == after.shape
    assert float((before - after).abs().max()) > 0.1


def test_graphmask_gives_the_share_of_layers_with_an_open_gate(with_context):
    _, subject = with_context
    values = build("graphmask", epochs=20).explain(subject).edges
    assert values is not None
    assert set(values.tolist()) <= {0.0, 0.5, 1.0}  # of two layers


def test_graphmask_serves_attributes_of_edges_and_sums():
    """Layers that send what they get, through attributes of the edges."""
    torch.manual_seed(0)
    graphs = [
        Data(x=torch.rand(5, 4), edge_index=ring(5), edge_attr=torch.rand(10, 3)) for _ in range(3)
    ]
    model = build_model("gine", 4, 2, level="graph", edge_dim=3)
    subjects = Subjects.of_graphs(model, graphs, model_kwargs={"edge_attr": "edge_attr"})
    values = build("graphmask", epochs=3).explain(subjects.of(1)).edges
    assert values is not None
    assert values.shape == (10,)


def ring(nodes):
    pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
    return torch.cat([pairs, pairs.flip(0)], dim=1)


def test_to_subgraphx_an_edge_is_worth_its_best_subgraph(with_context):
    _, subject = with_context
    graph = subject.graph
    generator = torch.Generator().manual_seed(0)
    subgraphs = []
    for reward in (0.3, -0.2, 0.9, 0.3, 0.1):
        nodes = torch.rand(subject.candidates, generator=generator) < 0.5
        coalition = Coalition(nodes, torch.zeros(1), torch.zeros(1))
        subgraphs.append(_TreeNode(coalition, int(nodes.sum()), reward))
    found = edge_values(graph, subgraphs)
    rewards = [each.reward for each in subgraphs]
    for (u, v), value in zip(graph.edge_index.t().tolist(), found.tolist(), strict=True):
        best = max(
            (
                each.reward
                for each in subgraphs
                if u < subject.candidates
                and v < subject.candidates
                and each.coalition.nodes[u]
                and each.coalition.nodes[v]
            ),
            default=None,
        )
        share = 0 if best is None else sum(r <= best for r in rewards) / len(rewards)
        assert value == pytest.approx(share)


def test_to_subgraphx_edges_of_what_it_selects_are_worth_one(with_context):
    _, subject = with_context
    options = {"rollouts": 3, "samples": 20}
    masks = build("subgraphx", of="edges", **options).explain(subject)
    nodes = build("subgraphx", **options).explain(subject)
    assert masks.nodes is not None
    assert nodes.nodes is not None
    assert torch.equal(masks.nodes, nodes.nodes)
    assert nodes.edges is None
    chosen = torch.zeros(subject.graph.x.size(0), dtype=torch.bool)
    chosen[: subject.candidates] = masks.nodes.bool()
    inside = chosen[subject.graph.edge_index].all(0)
    assert inside.any()
    assert masks.edges is not None
    assert (masks.edges[inside] == 1).all()
    with pytest.raises(InputError, match="of: expected one of nodes, edges, got 'both'"):
        build("subgraphx", of="both")


def test_a_random_order_is_the_same_in_both_directions(with_context):
    subjects, subject = with_context
    found = by_pair(subject, build("random-edges").explain(subject).edges)
    both = [pair for pair in found if pair[::-1] in found]
    assert len(both) > 5
    assert all(found[pair] == found[pair[::-1]] for pair in both)
    other = by_pair(subjects.of(6), build("random-edges").explain(subjects.of(6)).edges)
    common = set(found) & set(other)
    assert not common or any(found[pair] != other[pair] for pair in common)


def test_removed_edges_go_with_their_attributes():
    torch.manual_seed(0)
    graphs = [
        Data(x=torch.rand(6, 4), edge_index=ring(6), edge_attr=torch.rand(12, 3)) for _ in range(3)
    ]
    model = build_model("gine", 4, 2, level="graph", edge_dim=3).eval()
    subjects = Subjects.of_graphs(model, graphs, model_kwargs={"edge_attr": "edge_attr"})
    graph = graphs[2]
    edges = UndirectedEdges.of(graph.edge_index)
    scores = scores_with_edges(subjects.of(2), edges)
    for seed in range(5):
        there = torch.rand(6, generator=torch.Generator().manual_seed(seed)) < 0.6
        pairs = {tuple(pair) for pair in edges.ends[there].tolist()}
        ends = [tuple(sorted(pair)) for pair in graph.edge_index.t().tolist()]
        left = torch.tensor([pair in pairs for pair in ends])
        with torch.no_grad():
            expected = model(graph.x, graph.edge_index[:, left], graph.edge_attr[left])[0]
        torch.testing.assert_close(scores(there), expected)


def test_with_all_edges_it_is_the_prediction_of_the_whole_graph(random_graph):
    x, edge_index = random_graph
    model = build_model("gcn3", 12, 3).eval()
    subject = Subjects(model, x, edge_index).of(5)
    edges = UndirectedEdges.of(subject.graph.edge_index)
    scores = scores_with_edges(subject, edges)
    with torch.no_grad():
        whole = model(x, edge_index)[5]
        torch.testing.assert_close(scores(torch.ones(edges.count)), whole)
        alone = model(x, edge_index[:, :0])[5]
    torch.testing.assert_close(scores(torch.zeros(edges.count)), alone)


class Signs(nn.Module):
    """Class 1 while the sum of what neighbours send is above 0."""

    def __init__(self):
        super().__init__()
        self.sum = SimpleConv()

    def forward(self, x, edge_index):
        score = self.sum(x, edge_index)[:, 0]
        return torch.stack([torch.zeros_like(score), score], dim=1)


@pytest.fixture
def signs():
    """Node 0 hears +3 from node 1 and −1 from node 2: without node 1 the class is another."""
    x = torch.tensor([[0.0], [3.0], [-1.0]])
    return Subjects(Signs(), x, torch.tensor([[1, 2], [0, 0]])).of(0)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ({(1, 0)}, (1.0, 0.0)),  # needed, and enough
        ({(2, 0)}, (0.0, 1.0)),
        ({(1, 0), (2, 0)}, (1.0, 0.0)),  # nothing is left: 0 against 0, class 0
        (set(), (0.0, 1.0)),
    ],
)
def test_pygs_fidelity_by_hand(signs, pairs, expected):
    ends = ids_of(signs)[signs.graph.edge_index].t().tolist()
    mask = torch.tensor([tuple(pair) in pairs for pair in ends])
    assert pyg_fidelity(signs, mask) == expected


def test_in_pygs_fidelity_degrees_stay(random_graph):
    """As messages are scaled by hand after the normalisation of a single convolution."""
    x, edge_index = random_graph
    torch.manual_seed(2)
    model = GCNConv(12, 3, add_self_loops=False)
    subject = Subjects(model, x, edge_index).of(5)
    graph = subject.graph
    _, norm = gnn.conv.gcn_conv.gcn_norm(
        graph.edge_index, None, graph.x.size(0), add_self_loops=False
    )
    heard = graph.edge_index[1] == graph.target
    for column in heard.nonzero().flatten().tolist():
        mask = torch.zeros(graph.edge_index.size(1))
        mask[column] = 1
        found = []
        for kept in (1 - mask, mask):
            with torch.no_grad():
                sent = (kept * norm)[heard] @ model.lin(graph.x)[graph.edge_index[0, heard]]
                found.append(float(int((sent + model.bias).argmax()) != subject.predicted_class))
        assert pyg_fidelity(subject, mask) == tuple(found)


def test_pygs_fidelity_of_whole_graphs():
    graphs = [Data(x=torch.rand(5, 4), edge_index=ring(5)) for _ in range(3)]
    model = build_model("gcn3", 4, 2, level="graph").eval()
    subject = Subjects.of_graphs(model, graphs).of(1)
    plus, minus = pyg_fidelity(subject, torch.ones(10))
    with torch.no_grad():
        alone = int(model(graphs[1].x, graphs[1].edge_index[:, :0]).argmax())
    assert (plus, minus) == (float(alone != subject.predicted_class), 0.0)


def test_the_mask_of_pygs_fidelity_is_checked(signs):
    with pytest.raises(InputError, match="edges: expected 2 values, one an element, got 3"):
        pyg_fidelity(signs, torch.ones(3))
