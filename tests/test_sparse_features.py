"""Sparse features give the dense ones' explanations, and a query reads only what it needs."""

import dataclasses

import pytest
import torch
from torch import nn
from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv, GINConv, SAGEConv

from zorro import Explanation, Zorro
from zorro.cut import Extractor
from zorro.data import check_graph
from zorro.errors import InputError, ModelError
from zorro.graph.features import TensorFeatures
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import NOISES, resolve

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")  # torch calls its CSR layout beta

EDGES = torch.tensor([[0, 1], [1, 0]])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(8, 6)
        self.second = GCNConv(6, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def a_graph(seed=0, nodes=120, *, directed=False):
    torch.manual_seed(seed)
    x = torch.randn(nodes, 8) * (torch.rand(nodes, 8) < 0.3)
    x[5] = 0
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1) * children).long()
    up = torch.stack([children, parents])
    return x, up if directed else torch.cat([up, up.flip(0)], dim=1)


def repeated(x):
    """Return uncoalesced COO features: each value is the sum of two halves, in reverse order."""
    coo = (x / 2).to_sparse().coalesce()
    indices = torch.cat([coo.indices(), coo.indices()], dim=1).flip(1)
    values = torch.cat([coo.values(), coo.values()]).flip(0)
    return torch.sparse_coo_tensor(indices, values, x.shape, check_invariants=False)


def narrow(x):
    """Return CSR features with 32-bit indices."""
    csr = x.to_sparse_csr()
    return torch.sparse_csr_tensor(
        csr.crow_indices().int(), csr.col_indices().int(), csr.values(), x.shape
    )


def with_zeros(x):
    """Return CSR features that store every entry, zero or not."""
    rows, columns = x.shape
    return torch.sparse_csr_tensor(
        torch.arange(rows + 1) * columns, torch.arange(columns).repeat(rows), x.flatten(), x.shape
    )


LAYOUTS = {
    "coo": torch.Tensor.to_sparse,
    "coo, uncoalesced": repeated,
    "csr": torch.Tensor.to_sparse_csr,
    "csr, int32": narrow,
    "csr with zeros": with_zeros,
}
in_every_layout = pytest.mark.parametrize("sparse", LAYOUTS.values(), ids=LAYOUTS)


@in_every_layout
def test_rows_are_the_dense_rows(sparse):
    x, _ = a_graph()
    features = TensorFeatures(sparse(x))
    for rows in ([], [5], [119, 0, 5, 5, 17], list(range(120))):
        nodes = torch.tensor(rows, dtype=torch.long)
        assert torch.equal(features.rows(nodes), x[nodes])


@in_every_layout
def test_explanations_are_those_of_dense_features(sparse):
    x, edge_index = a_graph()
    net = Net()
    before = sparse(x)
    dense = Zorro(net, x, edge_index, check="local", fresh_samples=100)
    ours = Zorro(net, before, edge_index, fresh_samples=100)
    for node in (5, 17, 60):
        explanation = ours.explain(node)
        assert dataclasses.replace(explanation, seconds=0) == dataclasses.replace(
            dense.explain(node), seconds=0
        )
        assert Explanation.from_json(explanation.to_json()) == explanation
    assert torch.equal(before.to_dense(), x)


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_the_check_changes_no_explanation(evaluator):
    x, edge_index = a_graph()
    net = Net()
    found = {}
    for check, features in [("whole", x), ("local", x), ("whole", x.to_sparse()), ("auto", x)]:
        options = {"check": check, "evaluator": evaluator, "fresh_samples": 100}
        explanation = Zorro(net, features, edge_index, **options).explain(60)
        assert explanation.graph.checked == ("whole" if check == "auto" else check)
        found[check, features.layout] = (
            explanation.steps,
            explanation.fidelity,
            explanation.predicted_class,
            explanation.graph.context,
        )
    assert len(set(found.values())) == 1


@in_every_layout
@pytest.mark.parametrize("noise", NOISES)
def test_noise_from_sparse_features_is_that_from_dense_ones(noise, sparse):
    x, _ = a_graph()
    if noise in ("gaussian", "published"):
        with pytest.raises(
            InputError, match=rf"noise: expected dense features for '{noise}', .* x.to_dense\(\)"
        ):
            resolve(noise, sparse(x))
        return
    drawn, expected = (
        resolve(noise, features).draw(x[:4], seed=1, query=2, samples=range(60))
        for features in (sparse(x), x)
    )
    assert torch.allclose(drawn, expected, atol=1e-7)
    if noise != "means":  # sums in another order
        assert torch.equal(drawn, expected)


class Stack(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x, edge_index).tanh()
        return x


class Unseen(nn.Module):
    """Message passing that no layer tells of: its hops are not inferred but found out."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x, edge_index):
        for _ in range(self.times):
            x = (x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])).tanh()
        return x


MODELS = {
    "gcn": lambda: Stack(GCNConv(8, 8), GCNConv(8, 3)),
    "gat": lambda: Stack(GATConv(8, 8), GATConv(8, 3)),
    "sage": lambda: Stack(SAGEConv(8, 8), SAGEConv(8, 3)),
    "gin": lambda: Stack(GINConv(nn.Linear(8, 8)), GINConv(nn.Linear(8, 3))),
    "appnp": lambda: Stack(APPNP(K=3, alpha=0.1)),
    "cheb": lambda: Stack(ChebConv(8, 3, K=3)),
    "one layer used thrice": lambda: Stack(*[GCNConv(8, 8)] * 3),
    "no layers of PyG": lambda: Unseen(3),
}


@pytest.mark.parametrize("options", [{}, {"hops": 1}, {"halo": 0}, {"halo": 2}], ids=str)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", MODELS)
def test_the_local_check_finds_what_the_whole_graph_shows(name, directed, options):
    torch.manual_seed(1)
    model = Predictor(MODELS[name]())
    x, edge_index = a_graph(nodes=300, directed=directed)
    local = Extractor(model, Graph(x, edge_index), check="local", **options)
    whole = Extractor(model, Graph(x, edge_index), check="whole", **options)
    for query in (0, 1, *range(2, 300, 37)):
        there = whole.extract(query)
        if there.whole:  # Chebyshev layers count the edges that leave a node
            with pytest.raises(ModelError, match=f"node {query} depends on more"):
                local.extract(query)
            continue
        here = local.extract(query)
        assert torch.allclose(here.scores, there.scores, atol=1e-5)
        assert torch.equal(here.candidates, there.candidates)
        assert (here.hops, here.context_matters) == (there.hops, there.context_matters)


def test_how_far_a_model_looks_is_found_out_without_running_it_on_all():
    x, _ = a_graph()
    chain = torch.stack([torch.arange(1, 120), torch.arange(119)])
    graph = Extractor(Predictor(Unseen(9)), Graph(x.to_sparse(), chain)).extract(0)
    assert graph.candidates.tolist() == list(range(10))
    assert torch.allclose(graph.scores, Unseen(9)(x, chain)[0])


class LooksEverywhere(nn.Module):
    def forward(self, x, edge_index):
        return x[:, :3] + x[:, 3:6].mean(0)


def test_a_model_that_looks_everywhere_is_refused_or_gets_all_nodes_for_candidates():
    x, edge_index = a_graph()
    with pytest.raises(ModelError, match=r"however far away.*: check='whole' to compare"):
        Zorro(LooksEverywhere(), x.to_sparse(), edge_index).explain(0)
    graph = Extractor(Predictor(LooksEverywhere()), Graph(x, edge_index)).extract(0)
    assert graph.holds_all


class DenseOnly(Net):
    def forward(self, x, edge_index):
        if x.layout != torch.strided:
            raise TypeError("dense only")
        return super().forward(x, edge_index)


def test_a_model_that_cannot_take_sparse_features_never_gets_them_unless_asked():
    x, edge_index = a_graph()
    Zorro(DenseOnly(), x.to_sparse_csr(), edge_index).explain(0)
    with pytest.raises(ModelError, match="the model raised TypeError: dense only"):
        Zorro(DenseOnly(), x.to_sparse_csr(), edge_index, check="whole").explain(0)


@pytest.mark.parametrize("check", [True, False, None, "global"])
def test_unknown_checks_are_refused(check):
    with pytest.raises(InputError, match=f"check: expected one of auto, .* got {check!r}"):
        Zorro(Net(), *a_graph(), check=check)


def csr(crow=(0, 1, 2), columns=(1, 0), values=(1.0, 2.0)):
    return torch.sparse_csr_tensor(
        torch.tensor(crow), torch.tensor(columns), torch.tensor(values), (2, 2)
    )


def coo(indices=((0, 1), (1, 0)), values=(1.0, 2.0)):
    return torch.sparse_coo_tensor(torch.tensor(indices), torch.tensor(values), (2, 2))


NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: csr(values=(1.0, NAN)),
            "x: expected finite numbers, got nan at node 1, feature 0",
        ),
        (
            lambda: coo(values=(1.0, NAN)),
            "x: expected finite numbers, got nan at node 1, feature 0",
        ),
        (lambda: csr(columns=(1, 2)), "x: expected a sound sparse tensor"),
        (lambda: csr(crow=(0, 2, 1)), "x: expected a sound sparse tensor"),
        (lambda: torch.eye(2).to_sparse(1), "sparse in both dimensions, got a hybrid"),
        (lambda: torch.ones(2).to_sparse(), r"got shape \(2,\)"),
        (
            lambda: torch.eye(2).to_sparse_csc(),
            "dense, sparse COO or sparse CSR .* got torch.sparse_csc",
        ),
        (lambda: torch.eye(2).to_sparse_bsr((1, 1)), "got torch.sparse_bsr"),
    ],
)
def test_unusable_sparse_features_are_named(make, message):
    x = make()
    with pytest.raises(InputError, match=message):
        check_graph(x, EDGES, sparse=True)
    with pytest.raises(InputError, match=message):
        Zorro(Net(), x, EDGES)


def test_sparse_features_must_be_asked_for():
    check_graph(csr(), EDGES, sparse=True)
    with pytest.raises(InputError, match=r"x: expected a dense .*, got torch.sparse_csr"):
        check_graph(csr(), EDGES)


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("sparse", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr])
def test_a_query_only_looks_up_parts_of_the_graph(sparse, evaluator, touched):
    x, edge_index = a_graph()
    nodes, edges = 100_003, 200_017  # sizes that nothing else has
    far = torch.randint(120, nodes, (2, edges - edge_index.size(1)))
    x = torch.cat([x, torch.zeros(nodes - 120, 8)])
    weight = torch.ones(edges)
    zorro = Zorro(
        Weighted(),
        sparse(x),
        torch.cat([edge_index, far], dim=1),
        model_kwargs={"edge_weight": weight},
        fresh_samples=100,
        evaluator=evaluator,
    )
    with touched({nodes, nodes + 1, edges}) as seen:
        zorro.explain(60)
        zorro.fidelity(60, features=[1, 2], samples=50)
    assert seen.operations <= {"index", "slice"}


class Weighted(Net):
    def forward(self, x, edge_index, edge_weight):  # type: ignore[override]
        hidden = self.first(x, edge_index, edge_weight).relu()
        return self.second(hidden, edge_index, edge_weight)
