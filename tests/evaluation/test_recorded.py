"""Recordings of models' runs: each compared with the model itself, input by input."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import scipy.sparse as sp
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.utils import scatter, softmax, to_undirected

from zorro import Zorro
from zorro.evaluation.recorded.linear import linear_values
from zorro.evaluation.recorded.recording import NotRecordedError, Recording, record
from zorro.evaluation.recorded.slicing import Sliced, sliced
from zorro.evaluation.traced.plan import Mixing

NODES, FEATURES, CLASSES = 60, 6, 3


def a_graph(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(NODES, FEATURES, generator=draw)
    return x, to_undirected(torch.randint(NODES, (2, 90), generator=draw), num_nodes=NODES)


def mlp(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, CLASSES))


class Branches(nn.Module):
    """Looks at lengths, shapes and numbers that do not depend on the features."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, CLASSES)

    def forward(self, x, edge_index):
        count = int(edge_index.max()) + 1
        h = self.first(x, edge_index)
        if len(x) >= count and x.size(0) > 3:
            h = h.relu()
        return self.second(h, edge_index)


class OwnMessages(gnn.MessagePassing):
    def __init__(self) -> None:
        super().__init__(aggr="mean")
        self.begin, self.end = nn.Linear(FEATURES, 8), nn.Linear(8, CLASSES)

    def forward(self, x, edge_index):
        return self.end(self.propagate(edge_index, x=self.begin(x)))

    def message(self, x_i, x_j):
        return torch.tanh(x_j - x_i)


class AttentionByHand(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.value, self.score = nn.Linear(FEATURES, CLASSES), nn.Linear(2 * CLASSES, 1)

    def forward(self, x, edge_index):
        sender, receiver = edge_index
        h = self.value(x)
        both = torch.cat([h[sender], h[receiver]], dim=1)
        alpha = softmax(self.score(both).relu(), receiver, num_nodes=len(x))
        return scatter(alpha * h[sender], receiver, dim_size=len(x), reduce="sum")


class WritesInPlace(nn.Module):
    """Writes to hidden values, under their own name."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = gnn.SAGEConv(FEATURES, CLASSES)

    def forward(self, x, edge_index):
        h = self.layer(x, edge_index)
        h.clamp_(max=0.5)
        h += 1
        h[:, 0] *= 2 if len(x) > 3 else 1
        return h


class OverAllNodes(nn.Module):
    """Normalises over all nodes that there are."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = gnn.GCNConv(FEATURES, CLASSES)
        self.norm = nn.BatchNorm1d(CLASSES, track_running_stats=False)

    def forward(self, x, edge_index):
        h = self.norm(self.layer(x, edge_index))
        return h - h.mean(0)


def hooked() -> nn.Module:
    model = gnn.GAT(FEATURES, 8, 2, CLASSES, heads=2)
    model.convs[0].register_forward_hook(lambda module, args, output: 1.5 * output.tanh())
    return model


NAMED = """
GATConv GATv2Conv SAGEConv GraphConv ARMAConv TAGConv SGConv TransformerConv SuperGATConv FiLMConv
GENConv ClusterGCNConv LEConv MFConv FeaStConv GeneralConv ResGatedGraphConv HypergraphConv
"""
MODELS: dict[str, Callable[[], Any]] = {
    "branches": Branches,
    "own messages": OwnMessages,
    "attention by hand": AttentionByHand,
    "over all nodes": OverAllNodes,
    "hooked": hooked,
    "GCN": lambda: gnn.GCN(FEATURES, 8, 2, CLASSES),
    "GIN, jumping": lambda: gnn.GIN(FEATURES, 8, 2, CLASSES, norm="layer_norm", jk="cat"),
    "PNA": lambda: gnn.PNAConv(
        FEATURES, CLASSES, ["mean", "max", "std"], ["identity", "amplification"], torch.arange(9)
    ),
    "EdgeConv": lambda: gnn.EdgeConv(mlp(2 * FEATURES)),
    "APPNP": lambda: nn.Sequential(nn.Linear(FEATURES, CLASSES)),
    **{name: partial(getattr(gnn, name), FEATURES, CLASSES) for name in NAMED.split()},
    "ChebConv": lambda: gnn.ChebConv(FEATURES, CLASSES, 3),
    "EGConv": lambda: gnn.EGConv(FEATURES, 8),
    "AGNNConv": gnn.AGNNConv,
    "LGConv": gnn.LGConv,
    "SSGConv": lambda: gnn.SSGConv(FEATURES, CLASSES, 0.1),
    "DirGNNConv": lambda: gnn.DirGNNConv(gnn.SAGEConv(FEATURES, CLASSES)),
    "AntiSymmetricConv": lambda: gnn.AntiSymmetricConv(FEATURES),
    "MixHopConv": lambda: gnn.MixHopConv(FEATURES, CLASSES),
    "GPSConv": lambda: gnn.GPSConv(FEATURES, gnn.SAGEConv(FEATURES, FEATURES), heads=2),
}


def run_of(name: str) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    x, edge_index = a_graph()
    if name == "APPNP":
        layer = gnn.APPNP(4, 0.1)
        return lambda x: layer(model(x), edge_index), x
    return lambda x: model(x, edge_index), x


@pytest.mark.parametrize("name", MODELS)
def test_a_recording_cut_down_to_a_row_gives_what_the_model_gives(name):
    run, x = run_of(name)
    recording: Recording = record(run, x)
    draw = torch.Generator().manual_seed(5)
    others = torch.randn(4, *x.shape, generator=draw)
    for rows in (torch.tensor([7]), torch.tensor([0, 13, 59])):
        cut = sliced(recording, rows)
        read = torch.arange(NODES) if cut.rows is None else cut.rows
        with torch.no_grad():
            expected = torch.stack([run(other)[rows] for other in others])
            together = torch.func.vmap(lambda some, cut=cut: cut.run_from({0: some}))(
                others[:, read]
            )
        torch.testing.assert_close(together, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_called_linear_is(name):
    run, x = run_of(name)
    recording = record(run, x)
    linear = linear_values(recording.operations, rows=NODES)
    other = torch.randn(x.shape, generator=torch.Generator().manual_seed(6))
    values: dict[int, torch.Tensor] = {0: other}
    with torch.no_grad():
        Sliced(recording.operations, recording.output, None).run_from(values)
    for number, value in linear.items():
        total = torch.zeros(()) if value.constant is None else value.constant
        for term in value.terms:
            mixed = torch.from_numpy(term.matrix.toarray()).float() @ other
            total = total + (mixed if term.weight is None else mixed @ term.weight)
        torch.testing.assert_close(total, values[number], rtol=1e-4, atol=1e-4)


def reads_a_number(x, edge_index):
    return x if float(x.sum()) > 0 else -x


def reads_a_list(x, edge_index):
    return x * len([value for value in x[0].tolist() if value > 0])


def reads_an_array(x, edge_index):
    return x * float(x.detach().numpy()[0, 0])


def picks_by_value(x, edge_index):
    return x + x[x[:, 0] > 0].sum(0)


def writes_to_a_view(x, edge_index):
    out = torch.zeros(x.size(0), 2)
    first = out[:, 0]
    first.copy_(x[:, 0])
    return out + 1


def reads_an_older_view(x, edge_index):
    h = x * 1
    older = h[:, :2]
    h.relu_()
    return older + 1


REFUSED = {
    reads_a_number: "reads numbers that depend on the features",
    reads_a_list: "reads numbers that depend on the features",
    reads_an_array: "reads numbers that depend on the features",
    picks_by_value: "reads numbers that depend on the features|index",
    writes_to_a_view: "another name",
    reads_an_older_view: "another name",
}


@pytest.mark.parametrize("model", REFUSED, ids=lambda model: model.__name__)
def test_runs_that_another_input_might_take_otherwise_are_not_recorded(model):
    x, edge_index = a_graph()
    with pytest.raises(NotRecordedError, match=REFUSED[model]):
        record(lambda x: model(x, edge_index), x)


@pytest.mark.parametrize("model", REFUSED, ids=lambda model: model.__name__)
def test_these_are_run_as_they_are(model):
    x, edge_index = a_graph()
    explanation = Zorro(model, x, edge_index, max_evaluations=2000).explain(3)
    assert explanation.evaluator == "any-model"


def counted(model, x, edge_index, node, explanation, runs=400):
    """In how many inputs the class stays, one at a time on the whole graph."""
    draw = torch.Generator().manual_seed(9)
    kept = torch.zeros(x.shape, dtype=torch.bool)
    for one in explanation.nodes:
        kept[one, list(explanation.features)] = True
    with torch.no_grad():
        hits, expected = 0, int(model(x, edge_index)[node].argmax())
        for _ in range(runs):
            noise = x.gather(0, torch.randint(NODES, tuple(x.shape), generator=draw))
            hits += int(model(torch.where(kept, x, noise), edge_index)[node].argmax()) == expected
    return hits / runs


UNTRACED = ["branches", "own messages", "attention by hand", "hooked"]


@pytest.mark.parametrize("name", UNTRACED)
def test_models_that_cannot_be_traced_are_recorded_with_equal_answers(name):
    torch.manual_seed(1)
    model = MODELS[name]().eval()
    x, edge_index = a_graph()
    for node in (3, 30):
        recorded = Zorro(model, x, edge_index).explain(node)
        plain = Zorro(model, x, edge_index, evaluator="any-model").explain(node)
        assert (recorded.evaluator, plain.evaluator) == ("recorded", "any-model")
        assert recorded.selected == plain.selected
        assert recorded.certificate == plain.certificate
        assert recorded.certificate is not None
        if recorded.certified:
            share = counted(model, x, edge_index, node, recorded)
            assert share > recorded.certificate.bound - 0.08


def test_a_recording_that_turns_out_to_be_off_is_dropped():
    """NumPy's arrays that share memory with a hidden value are seen by nobody."""

    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(FEATURES, CLASSES)

        def forward(self, x, edge_index):
            shared = torch.zeros(len(x), FEATURES)
            array = shared.numpy()
            shared.copy_(x)
            extra = torch.from_numpy(array.copy())  # the values, past all operations
            return self.layer(x) + torch.tensor([5.0, 0, 0]) * (extra[:, :1] > 0.8)

    torch.manual_seed(0)
    model = Hidden().eval()
    x, edge_index = a_graph()
    for nodes, features in (([], []), ([3], [2, 3]), ([3], [0, 1])):
        sets: dict[str, Any] = {"nodes": nodes, "features": features, "samples": 500}
        measured = Zorro(model, x, edge_index).fidelity(3, **sets)
        assert measured == Zorro(model, x, edge_index, evaluator="any-model").fidelity(3, **sets)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_large_matrices_over_nodes_are_multiplied_in_every_precision(dtype):
    """Those that are mostly zeros are kept sparse, which torch has not in half precision."""
    matrix = sp.diags([1.0, 0.5], [0, 1], shape=(400, 400))
    mixing = Mixing(matrix, device=torch.device("cpu"), dtype=dtype)
    values = torch.randn(400, 5, 3, generator=torch.Generator().manual_seed(2)).to(dtype)
    expected = (torch.tensor(matrix.toarray()) @ values.double().flatten(1)).view(400, 5, 3)
    torch.testing.assert_close(mixing.times(values).double(), expected, rtol=0.02, atol=0.02)
