"""Models in the forms that users have them in, each compared with a loop over the whole graph."""

import functools
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.utils import to_torch_csr_tensor

from zorro import Zorro, explain_many
from zorro.errors import InputError, ModelError, RunError
from zorro.model.model_state import node_level_state, undisturbed
from zorro.model.snapshot import Snapshot

sys.path.append(str(Path(__file__).parent))
from plain_loop import plain_fidelity

NODES, FEATURES, HIDDEN, CLASSES = 24, 6, 5, 3
QUERY = 7
QUERIES = (1, 7, 12, 20)
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 300, "tau": 0.8}


class Net(nn.Module):
    def __init__(self, width=FEATURES):
        super().__init__()
        self.one = gnn.GCNConv(width, HIDDEN)
        self.norm = nn.BatchNorm1d(HIDDEN)
        self.two = gnn.GCNConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        return self.two(self.norm(self.one(x, edge_index)).relu(), edge_index)


def trained(net, scale=3.0, seed=5):
    """Weights that decide something, and batch norms that have seen something."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.is_floating_point():
                nn.init.normal_(parameter, std=scale / max(1, parameter.dim()))
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d):
            assert module.running_mean is not None
            module.running_mean.normal_()
            assert module.running_var is not None
            module.running_var.uniform_(0.5, 2)
    return net


@pytest.fixture
def graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    return torch.randn(NODES, FEATURES), edge_index


@pytest.fixture
def net():
    return trained(Net()).eval()


def as_a_loop_finds(model, x, edge_index, explanation, **kwargs):
    """Whether a loop finds an explanation's prediction, and its fidelity within 4.5 deviations."""
    if isinstance(model, nn.Module):
        model.eval()

    def predict(given):
        with torch.no_grad():
            return int(model(given, edge_index, **kwargs)[explanation.node].argmax())

    share = plain_fidelity(
        predict, x, explanation.node, nodes=explanation.nodes, features=explanation.features
    )
    spread = 4.5 * (0.25 / 300 + 0.25 / 300) ** 0.5
    return (
        predict(x) == explanation.predicted_class
        and abs(share - explanation.fidelity.value) < spread
    )


# Trained on after it was given


def another_step(net, graph):
    torch.optim.SGD(net.parameters(), lr=0.5).zero_grad()
    net.train()(*graph)[:, 0].sum().backward()
    torch.optim.SGD(net.parameters(), lr=0.5).step()


def a_fused_step(net, graph):
    net.train()(*graph)[:, 0].sum().backward()
    torch.optim.Adam(net.parameters(), lr=0.5, fused=True).step()


def other_running_statistics(net, graph):
    net.train()(*graph)


def written_past_autograd(net, graph):
    net.two.bias.data.copy_(torch.tensor([9.0, -9.0, 0.0]))


def other_weights_loaded(net, graph):
    net.load_state_dict(trained(Net(), seed=4).state_dict())


def other_weights_assigned(net, graph):
    net.load_state_dict(trained(Net(), seed=4).state_dict(), assign=True)


CHANGES = [
    another_step,
    a_fused_step,
    other_running_statistics,
    written_past_autograd,
    other_weights_loaded,
    other_weights_assigned,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_weights_that_change_between_queries_are_those_that_count(
    net, graph: tuple[Any, Any], change
):
    zorro = Zorro(net, *graph, **QUICK)
    before = Snapshot(net)
    zorro.explain(QUERY)
    assert not Snapshot(net).differs_in(before)
    change(net, graph)
    assert Snapshot(net).differs_in(before)
    again = zorro.explain(QUERY)
    fresh = Zorro(net, *graph, **QUICK).explain(QUERY)
    assert {**again.to_dict(), "seconds": 0} == {**fresh.to_dict(), "seconds": 0}
    assert as_a_loop_finds(net, *graph, again)


# Scripted, traced, compiled


def each_is_training(model):
    return [module.training for module in model.modules()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("form", ["scripted", "traced", "part scripted", "part frozen"])
def test_torchscript_in_training_mode_is_run_in_eval_mode_and_put_back(
    net, graph: tuple[Any, Any], form
):
    if form == "scripted":
        model = torch.jit.script(net)
    elif form == "traced":
        model = torch.jit.trace(net, graph)
    else:
        model = trained(Net())
        model.norm = torch.jit.script(nn.Sequential(model.norm, nn.Dropout(0.5)))
    model.train()
    if form == "part frozen":
        model.norm.eval()
    flags = each_is_training(model)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    explanation = Zorro(model, *graph, hops=2, **QUICK).explain(QUERY)
    assert each_is_training(model) == flags
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert explanation.status == "certified"
    assert as_a_loop_finds(model, *graph, explanation)


@pytest.mark.parametrize("form", ["module", "function", "in place", "a part"])
def test_a_compiled_model_is_explained_as_it_was_before(net, graph, form):
    def refuse(module, inputs):
        raise AssertionError("it was compiled")

    expected = Zorro(net, *graph, **QUICK).explain(QUERY)
    if form == "module":
        model = torch.compile(net, backend=refuse)
    elif form == "function":
        model = torch.compile(lambda x, edge_index: net(x, edge_index), backend=refuse)  # type: ignore[misc]
    elif form == "in place":
        net.compile(backend=refuse)
        model = net
    else:
        net.norm = torch.compile(net.norm, backend=refuse)
        model = net
    explanation = Zorro(model, *graph, **QUICK).explain(QUERY)
    assert (explanation.nodes, explanation.features) == (expected.nodes, expected.features)
    assert explanation.fidelity == expected.fidelity


# Functions


class Caller:
    def __init__(self, net):
        self.net = net

    def __call__(self, x, edge_index):
        return self.net(x, edge_index)

    def predict(self, x, edge_index):
        return self.net(x, edge_index)


def scaled(x, edge_index, *, net, scale):
    return net(x, edge_index) * scale


def by_global_name(x, edge_index):
    return GLOBAL(x, edge_index)


GLOBAL = trained(Net())

FUNCTIONS = {
    "lambda": lambda net: lambda x, edge_index: net(x, edge_index),
    "partial": lambda net: functools.partial(scaled, net=net, scale=2.0),
    "object": Caller,
    "method": lambda net: Caller(net).predict,
    "forward": lambda net: net.forward,
}


@pytest.mark.parametrize("form", FUNCTIONS)
def test_a_function_is_a_model_whose_modules_are_in_eval_mode(net, graph: tuple[Any, Any], form):
    net.norm = nn.Sequential(net.norm, nn.Dropout(0.5))
    expected = Zorro(net, *graph, **QUICK).explain(QUERY)
    net.train()
    explanation = Zorro(FUNCTIONS[form](net), *graph, **QUICK).explain(QUERY)
    assert all(module.training for module in net.modules())
    assert (explanation.nodes, explanation.features) == (expected.nodes, expected.features)
    assert explanation.fidelity == expected.fidelity
    assert explanation.evaluator == "traced"
    net.eval()
    assert as_a_loop_finds(FUNCTIONS[form](net), *graph, explanation)


def test_a_function_finds_its_model_by_a_global_name(graph: tuple[Any, Any]):
    explanation = Zorro(by_global_name, *graph, **QUICK).explain(QUERY)
    assert as_a_loop_finds(GLOBAL, *graph, explanation)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Net, r"model: .* got the class Net: pass an instance"),
        ("net", r"model: expected a torch.nn.Module or a function .*, got str"),
    ],
)
def test_what_is_no_model_is_named(graph, model, message):
    with pytest.raises(InputError, match=message):
        Zorro(model, *graph)


@pytest.mark.parametrize("model", [lambda x, edge_index: x[:, :3], by_global_name])
def test_a_function_that_cannot_be_sent_is_refused_in_words(
    graph: tuple[Any, Any], tmp_path, model
):
    with pytest.raises(RunError, match=r"cannot be sent to worker processes .* in-process"):
        explain_many(model, *graph, [1, 2], out=tmp_path / "run", engine="processes", workers=1)


def test_a_run_knows_its_function_again(net, graph: tuple[Any, Any], tmp_path):
    def run(scale):
        model = functools.partial(scaled, net=net, scale=scale)
        return explain_many(model, *graph, [QUERY], out=tmp_path / "run", **QUICK)

    assert len(run(2.0)) == 1
    assert len(run(2.0)) == 1
    with pytest.raises(RunError, match=r"holds another run; it differs in model.sha256"):
        run(3.0)


# Adjacency matrices


def test_a_sparse_adjacency_is_refused_with_a_line_that_works(net, graph: tuple[Any, Any]):
    x, edge_index = graph
    adj_t = to_torch_csr_tensor(edge_index.flip(0), size=(NODES, NODES))
    with pytest.raises(
        InputError, match=r"^edge_index: expected .*lambda x, edge_index, \*\*.*: model\(x, torch"
    ):
        Zorro(net, x, adj_t)
    with pytest.raises(InputError, match=r"^model_kwargs\['adj_t'\].*to_torch_csr_tensor"):
        Zorro(net, x, edge_index, model_kwargs={"adj_t": adj_t})

    def model(x, edge_index):
        return net(x, to_torch_csr_tensor(edge_index.flip(0), size=(len(x), len(x))))

    assert torch.allclose(model(*graph), net(*graph), atol=1e-5)
    explanation = Zorro(model, *graph, **QUICK).explain(QUERY)
    assert as_a_loop_finds(model, *graph, explanation)


# Inference mode


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_inside_inference_mode(net, graph, evaluator):
    options = {**QUICK, "evaluator": evaluator}
    expected = Zorro(net, *graph, **options).explain(QUERY).to_dict()
    with torch.inference_mode():
        x, edge_index = (part.clone() for part in graph)
        zorro = Zorro(net, x, edge_index, **options)
        explanation = zorro.explain(QUERY)
        meter = zorro.meter(QUERY)
        measured = meter.fidelity(nodes=explanation.nodes, features=explanation.features)
    assert {**explanation.to_dict(), "seconds": 0} == {**expected, "seconds": 0}
    assert measured == explanation.fidelity
    assert meter.fidelity() == zorro.fidelity(QUERY)


def test_a_model_made_in_inference_mode_is_searched_without_gradients(graph: tuple[Any, Any]):
    with torch.inference_mode():
        net = trained(Net()).eval()
        explanation = Zorro(net, *graph, **QUICK).explain(QUERY)
    assert explanation.evaluator == "any-model"
    assert as_a_loop_finds(net, *graph, explanation)


class AsksForGradients(Net):
    """Answers otherwise where a gradient may be asked for."""

    def forward(self, x, edge_index):
        scores = super().forward(x, edge_index)
        return -scores if torch.is_grad_enabled() else scores


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_claims_are_about_the_model_without_gradients(net, graph: tuple[Any, Any], evaluator):
    model = AsksForGradients().eval()
    model.load_state_dict(net.state_dict())
    found = Zorro(model, *graph, evaluator=evaluator, **QUICK).explain(QUERY)
    assert found.status == "certified"
    assert as_a_loop_finds(model, *graph, found)


# What a model writes


class Counts(Net):
    """Writes to its buffers whenever it runs."""

    calls: torch.Tensor
    shared: torch.Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", torch.zeros(1))
        self.register_buffer("shared", self.calls)

    def forward(self, x, edge_index):
        self.calls += 1
        self.last = x.sum().detach().view(1)
        return super().forward(x, edge_index) + 0 * self.shared


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
def test_buffers_written_in_a_forward_pass_are_put_back(graph, evaluator):
    model = trained(Counts())
    calls, last = model.calls, model.last
    Zorro(model, *graph, evaluator=evaluator, **QUICK).explain(QUERY)
    assert model.calls is calls
    assert model.shared is calls
    assert model.last is last
    assert float(calls) == float(last) == 0


def test_buffers_are_put_back_by_the_last_of_several_runs(graph):
    model = trained(Counts())
    calls, last = model.calls, model.last
    outer, inner = undisturbed(model), undisturbed(model)
    outer.__enter__()
    inner.__enter__()
    model(*graph)
    outer.__exit__(None, None, None)  # a thread that began first and ends first
    assert model.calls is not calls
    model(*graph)
    inner.__exit__(None, None, None)
    assert (model.calls is calls, model.last is last) == (True, True)
    assert float(calls) == float(last) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_buffers_written_by_torchscript_are_put_back():
    class Adds(nn.Module):
        total: torch.Tensor

        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x):
            self.total.add_(x.sum())
            return x + self.total

    model = torch.jit.script(Adds())
    with undisturbed(model):
        model(torch.ones(3))
    assert torch.equal(model.total, torch.zeros(3))


# Signatures


class TakesAnything(Net):
    def forward(self, x, edge_index, *args, **kwargs):
        scale = kwargs.get("scale", 1.0)
        return super().forward(x, edge_index) * scale


class PassesOn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(FEATURES, CLASSES)

    def forward(self, x, edge_index, **kwargs):
        return self.conv(x, edge_index, **kwargs)


class NeedsNumber(Net):
    def forward(self, x, edge_index, num_nodes, offset=None):  # type: ignore[override]
        column = edge_index[1]
        degree = torch.zeros(num_nodes).index_add(0, column, torch.ones(column.numel()))
        return super().forward(x, edge_index) / (1 + degree).unsqueeze(1)


@pytest.mark.parametrize(
    ("make", "kwargs"),
    [
        (TakesAnything, {}),
        (TakesAnything, {"scale": -1.0}),
        (PassesOn, {}),
        (PassesOn, {"edge_weight": torch.rand(2 * (NODES - 1)) + 0.1}),
    ],
)
def test_open_signatures_are_traced(graph: tuple[Any, Any], make, kwargs):
    model = trained(make()).eval()
    explanation = Zorro(model, *graph, model_kwargs=kwargs, evaluator="traced", **QUICK).explain(
        QUERY
    )
    assert as_a_loop_finds(model, *graph, explanation, **kwargs)


class WritesToItsInputs(Net):
    """Scales the features and the weights, and turns the edges round, where they stand."""

    def forward(self, x, edge_index, edge_weight):  # type: ignore[override]
        x.mul_(2).sub_(0.3)
        edge_weight /= 1 + edge_weight.max()
        edge_index.copy_(edge_index.flip(0))
        down = edge_index[0] < edge_index[1]
        return self.one(x, edge_index[:, down], edge_weight[down])[:, :CLASSES]


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
def test_a_model_that_writes_to_its_inputs_leaves_them_as_they_were(graph, evaluator):
    model = trained(WritesToItsInputs())
    x, edge_index = graph
    weight = torch.linspace(0.1, 2, edge_index.size(1))
    before = [tensor.clone() for tensor in (x, edge_index, weight)]
    zorro = Zorro(
        model, x, edge_index, model_kwargs={"edge_weight": weight}, evaluator=evaluator, **QUICK
    )

    def called(x, edge_index):
        return model(x.clone(), edge_index.clone(), weight.clone())

    found = [zorro.explain(query) for query in QUERIES]
    assert any(explanation.features for explanation in found)
    assert all(as_a_loop_finds(called, x, edge_index, explanation) for explanation in found)
    for tensor, copy in zip((x, edge_index, weight), before, strict=True):
        assert torch.equal(tensor, copy)


class LooksAtTypes(nn.Module):
    """Turns what is too large round, and not where something stands for a tensor, as in a trace."""

    def __init__(self):
        super().__init__()
        self.layer = gnn.SAGEConv(FEATURES, CLASSES, aggr="sum")

    def forward(self, x, edge_index):
        scores = self.layer(x, edge_index)
        if isinstance(scores, torch.Tensor):
            scores = torch.where(scores > 50, -scores, scores)
        return scores


def test_a_trace_that_is_wrong_in_few_samples_is_given_up(graph):
    x, edge_index = graph
    x = x.clone()
    x[:, 0] = torch.arange(NODES) == NODES - 1  # one of them has it, so that 1 draw of 24 does
    model = trained(LooksAtTypes())
    with torch.no_grad():
        model.layer.lin_r.weight[:, 0] = torch.tensor([0.0, 0.0, 100.0])
        model.layer.lin_l.weight[:, 0] = 0
    zorro = Zorro(model, x, edge_index, **QUICK)
    found = [zorro.explain(query) for query in QUERIES]
    assert any("its traced scores" in explanation.evaluator_reason for explanation in found)
    assert all(as_a_loop_finds(model, x, edge_index, explanation) for explanation in found)
    strict = Zorro(model, x, edge_index, evaluator="traced", **QUICK)
    for query in (each.node for each in found if each.evaluator_reason):
        with pytest.raises(ModelError, match=r"its traced scores .* are not the model's"):
            strict.explain(query)


class Activated(nn.Module):
    """Two layers, whose outputs are written to or not."""

    def __init__(self, first, second, *, inplace):
        super().__init__()
        self.one, self.two = first, second
        self.act = nn.ReLU(inplace=inplace)

    def forward(self, x, edge_index):
        hidden = self.act(self.one(x, edge_index))
        return self.act(self.two(hidden, edge_index)) - hidden[:, :CLASSES]


@pytest.mark.parametrize("layer", ["gcn", "gin"])
def test_layers_that_write_to_their_input_are_traced(graph, layer):
    def made(inplace):
        def convolution(before, after):
            if layer == "gcn":
                return gnn.GCNConv(before, after)
            act = nn.ReLU(inplace=inplace)
            return gnn.GINConv(nn.Sequential(nn.Linear(before, 4), act, nn.Linear(4, after)))

        layers = convolution(FEATURES, HIDDEN), convolution(HIDDEN, CLASSES)
        model = trained(Activated(*layers, inplace=inplace)).eval()
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):  # else they decide alone
                nn.init.zeros_(parameter)
        return model

    found, plain = (
        [Zorro(made(inplace), *graph, evaluator="traced", **QUICK).explain(q) for q in QUERIES]
        for inplace in (True, False)
    )
    assert {explanation.evaluator for explanation in found} == {"traced"}
    assert any(explanation.features for explanation in found)
    for one, other in zip(found, plain, strict=True):
        assert (one.nodes, one.features) == (other.nodes, other.features)
        assert one.fidelity == other.fidelity


def test_the_number_of_nodes_follows_into_the_subgraph(graph: tuple[Any, Any]):
    model = trained(NeedsNumber()).eval()
    zorro = Zorro(model, *graph, model_kwargs={"num_nodes": NODES}, **QUICK)
    for query in (QUERY, 20):  # two graphs of different size
        explanation = zorro.explain(query)
        assert not explanation.graph.whole
        assert as_a_loop_finds(model, *graph, explanation, num_nodes=NODES)


class Positions(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("positions", torch.randn(NODES, FEATURES))

    def forward(self, x, edge_index):
        return super().forward(x + self.positions, edge_index)


def test_a_model_that_holds_a_row_per_node_is_told_how_to_pass_it(graph):
    model = trained(Positions())
    assert node_level_state(model, NODES) == ["positions"]
    with pytest.raises(ModelError, match=r"holds positions with one row .* model_kwargs"):
        Zorro(model, *graph, check="none", **QUICK).explain(QUERY)


# Half precision


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("sparse", [False, True])
def test_half_precision_is_traced_and_hits_are_the_models(graph, dtype, sparse, caplog):
    caplog.set_level(logging.INFO)
    x, edge_index = graph
    if sparse:
        x = x * (torch.rand(x.shape, generator=torch.Generator().manual_seed(3)) < 0.15)
    model = trained(Net(), scale=1.0).to(dtype)
    x = x.to(dtype)
    fast = Zorro(model, x, edge_index, **QUICK)
    slow = Zorro(model, x, edge_index, evaluator="any-model", **QUICK)
    rows = [QUERY, *range(0, 10, 3)]
    for count in range(FEATURES + 1):
        kept: dict[str, Any] = {"nodes": rows, "features": range(count)}
        assert fast.fidelity(QUERY, **kept) == slow.fidelity(QUERY, **kept)
    explanation = fast.explain(QUERY)
    assert explanation.evaluator == "traced"
    assert explanation.probability <= 1
    assert as_a_loop_finds(model, x, edge_index, explanation)


def test_layers_that_no_input_has_reached_are_left_alone(graph):
    """A lazy layer of a type or a branch that is not used never learns its size."""
    torch.manual_seed(1)
    net = trained(Net())
    expected = Zorro(net, *graph, **QUICK).explain(QUERY)
    net.unused = nn.LazyLinear(3)
    found = Zorro(net, *graph, **QUICK).explain(QUERY)
    assert (found.nodes, found.features) == (expected.nodes, expected.features)
    assert found.evaluator == "traced"


class ClassAlone(Net):
    """One for the class, and zero for the others: steps, which have no gradient."""

    def forward(self, x, edge_index):
        return nn.functional.one_hot(super().forward(x, edge_index).argmax(1), CLASSES).float()


@pytest.mark.parametrize("keep", [("nodes", "features"), ("edges",), ("nodes", "edges")])
def test_scores_without_a_gradient_are_searched_by_what_is_tested(graph, keep):
    torch.manual_seed(1)
    net = trained(ClassAlone()).eval()
    sets = {
        evaluator: Zorro(net, *graph, keep=keep, evaluator=evaluator, **QUICK).explain(QUERY)
        for evaluator in ("traced", "any-model")
    }
    assert sets["traced"].selected == sets["any-model"].selected
    assert sets["traced"].status in ("certified", "nothing needed")
