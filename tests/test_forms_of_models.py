"""What models of nodes, links and graphs are given as, and take of edges: against plain loops."""

import functools
import math
import re
from typing import Any

import pytest
import torch
import torch_geometric
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.errors import InputError

NODES, FEATURES, CLASSES = 24, 6, 3
LINK = (3, 9)
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 300, "tau": 0.8}


class OfGraphs(nn.Module):
    def __init__(self, conv=None):
        super().__init__()
        self.conv = conv or gnn.GCNConv(FEATURES, 8, bias=False)
        self.last = nn.Linear(8, CLASSES, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        z = self.conv(x, edge_index).tanh()
        count = int(batch.max()) + 1
        return self.last(torch.zeros(count, 8, dtype=z.dtype).index_add(0, batch, z))


class OfLinks(nn.Module):
    def __init__(self, conv=None):
        super().__init__()
        self.conv = conv or gnn.GCNConv(FEATURES, 8, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        z = self.conv(x, edge_index).tanh()
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)


class GraphsWithEdges(OfGraphs):
    """Passes on what it is told of edges."""

    def forward(self, x, edge_index, batch, **of_edges):
        z = self.conv(x, edge_index, **of_edges).tanh()
        return self.last(gnn.global_add_pool(z, batch))


class LinksWithEdges(OfLinks):
    def forward(self, x, edge_index, edge_label_index, **of_edges):
        z = self.conv(x, edge_index, **of_edges).tanh()
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)


class NodesWithEdges(OfGraphs):
    def forward(self, x, edge_index, **of_edges):  # type: ignore[override]
        return self.last(self.conv(x, edge_index, **of_edges).tanh())


def made(kind, *args, seed=1):
    torch.manual_seed(seed)
    net = kind(*args)
    with torch.no_grad():
        for parameter in net.parameters():
            nn.init.normal_(parameter)
    return net.eval()


def some_graphs(count=8):
    generator = torch.Generator().manual_seed(2)
    graphs = []
    for _ in range(count):
        nodes = int(torch.randint(4, 9, (1,), generator=generator))
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = torch.randn(nodes, FEATURES, generator=generator)
        graphs.append(Data(x=x, edge_index=edge_index, **of_edges(edge_index.size(1), nodes)))
    return graphs


def of_edges(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {
        "edge_weight": torch.rand(count, generator=generator) * 2,
        "edge_attr": torch.randn(count, 2, generator=generator),
        "edge_type": torch.randint(3, (count,), generator=generator),
    }


@pytest.fixture
def graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    return torch.randn(NODES, FEATURES), edge_index


def plain_share(answer, x, pool, explanation, samples=300):
    """How often an answer stays when all that is not kept is drawn from its column."""
    generator = torch.Generator().manual_seed(9)
    keep = torch.zeros_like(x, dtype=torch.bool)
    for row in explanation.nodes:
        keep[row, list(explanation.features)] = True
    with torch.no_grad():
        true, stayed = answer(x), 0
        for _ in range(samples):
            rows = torch.randint(pool.size(0), x.shape, generator=generator)
            stayed += answer(torch.where(keep, x, pool.gather(0, rows))) == true
    return true, stayed / samples


def assert_holds(explanation, answer, x, pool):
    true, share = plain_share(answer, x, pool, explanation)
    assert explanation.predicted_class == int(true)
    assert explanation.status == "certified"
    assert abs(share - explanation.fidelity.value) < 4.5 * math.sqrt(0.5 / 300)


def needing(zorro):
    """A graph whose answer random inputs do not get anyway."""
    return next(n for n in range(8) if zorro.fidelity(n, nodes=[]).value < 0.7)


def first_that_rests_on_some(zorro, count):
    """The first query of which not nothing and not everything is needed."""
    return next(one for one in map(zorro.explain, range(count)) if one.status == "certified")


# What there is of edges

EDGES = {
    "edge_weight": lambda: gnn.GCNConv(FEATURES, 8, bias=False),
    "edge_attr": lambda: gnn.GATv2Conv(FEATURES, 8, edge_dim=2, bias=False),
    "edge_type": lambda: gnn.RGCNConv(FEATURES, 8, num_relations=3, bias=False),
}


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_of_nodes(graph, name, evaluator):
    x, edge_index = graph
    model = made(NodesWithEdges, EDGES[name]())
    kwargs = {name: of_edges(edge_index.size(1))[name]}
    zorro = Zorro(model, *graph, model_kwargs=kwargs, evaluator=evaluator, **QUICK)
    explanation = first_that_rests_on_some(zorro, NODES)
    node = explanation.node

    def answer(given):
        return model(given, edge_index, **kwargs)[node].argmax()

    assert_holds(explanation, answer, x, x)


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_of_links(graph, name, evaluator):
    x, edge_index = graph
    model = made(LinksWithEdges, EDGES[name]())
    u, v = edge_index[:, 5].tolist()  # an edge, which is taken out with what it has
    values = of_edges(edge_index.size(1))[name]
    zorro = Zorro.of_links(
        model,
        *graph,
        model_kwargs={name: values},
        threshold=0.0,
        evaluator=evaluator,
        **{**QUICK, "tau": 0.9},
    )
    ends = edge_index.t().tolist()
    rest = torch.tensor([{a, b} != {u, v} for a, b in ends])
    links = torch.tensor([[u], [v]])

    def answer(given):
        return bool(model(given, edge_index[:, rest], links, **{name: values[rest]}) > 0)

    assert_holds(zorro.explain((u, v)), answer, x, x)


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_of_graphs(name, evaluator):
    graphs, model = some_graphs(), made(GraphsWithEdges, EDGES[name]())
    zorro = Zorro.of_graphs(model, graphs, model_kwargs={name: name}, evaluator=evaluator, **QUICK)
    explanation = first_that_rests_on_some(zorro, 8)
    one = graphs[explanation.query.index]
    batch = torch.zeros(len(one.x), dtype=torch.long)

    def answer(given):
        return model(given, one.edge_index, batch, **{name: one[name]})[0].argmax()

    pool = torch.cat([each.x for each in graphs])
    assert_holds(explanation, answer, one.x, pool)


# Forms


class Caller:
    def __init__(self, net):
        self.net = net

    def of_graphs(self, x, edge_index, batch):
        return self.net(x, edge_index, batch)

    def of_links(self, x, edge_index, edge_label_index):
        return self.net(x, edge_index, edge_label_index)


def applied(x, edge_index, *, net, **told):
    return net(x, edge_index, **told)


def refuse(module, inputs):
    raise AssertionError("it was compiled")


FORMS = {
    "scripted": lambda net, how: torch.jit.script(net),
    "compiled": lambda net, how: torch.compile(net, backend=refuse),
    "function": lambda net, how: lambda x, edge_index, **told: net(x, edge_index, **told),
    "partial": lambda net, how: functools.partial(applied, net=net),
    "method": lambda net, how: getattr(Caller(net), how),
    "forward": lambda net, how: net.forward,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("form", [*FORMS, "traced"])
def test_forms_of_a_model_of_graphs(form):
    graphs, net = some_graphs(), made(OfGraphs)
    expected = Zorro.of_graphs(net, graphs, **QUICK)
    number = needing(expected)
    if form == "traced":  # it holds the number of graphs that it was traced with
        one = graphs[0]
        batch = torch.zeros(len(one.x), dtype=torch.long)
        model = torch.jit.trace(net.train(), (one.x, one.edge_index, batch))
    else:
        model = FORMS[form](net.train(), "of_graphs")
    explanation = Zorro.of_graphs(model, graphs, **QUICK).explain(number)
    assert net.training
    assert explanation.status == "certified"
    assert explanation.selected == expected.explain(number).selected
    assert explanation.steps == expected.explain(number).steps


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("form", [*FORMS, "traced"])
def test_forms_of_a_model_of_links(graph, form):
    net = made(OfLinks)
    options: dict[str, Any] = {**QUICK, "threshold": 0.0, "hops": 1}
    if form == "traced":
        model = torch.jit.trace(net, (*graph, torch.tensor([[0, 1], [2, 3]])))
    else:
        model = FORMS[form](net.train(), "of_links")
    explanation = Zorro.of_links(model, *graph, **options).explain(LINK)
    expected = Zorro.of_links(net, *graph, evaluator="any-model", **options).explain(LINK)
    assert explanation.status == "certified"
    assert explanation.selected == expected.selected
    assert explanation.steps == expected.steps


# Other names


def the_line_of(error, model):
    """The function that an error says to pass."""
    shown = re.search(r"`(lambda .*)`", str(error.value))
    assert shown is not None
    line = shown[1]
    return eval(line, {"model": model, "torch": torch, "torch_geometric": torch_geometric})


class OtherNames(OfGraphs):
    def forward(self, nodes, links, graph_index):
        return super().forward(nodes, links, graph_index)


class OtherOptionalName(OfGraphs):
    def forward(self, x, adj, edge_weight=None, batch_index=None):
        return super().forward(x, adj, batch_index)


class NoBatch(OfGraphs):
    def forward(self, x, edge_index):  # type: ignore[override]
        return super().forward(x, edge_index, torch.zeros(len(x), dtype=torch.long))


@pytest.mark.parametrize("kind", [OtherNames, OtherOptionalName, NoBatch])
def test_a_batch_by_another_name_gets_the_line_that_works(kind):
    graphs, model = some_graphs(), made(kind)
    with pytest.raises(InputError, match=r"^model: expected one that takes batch") as error:
        Zorro.of_graphs(model, graphs)
    line = the_line_of(error, model)
    expected = Zorro.of_graphs(made(OfGraphs), graphs, **QUICK)
    number = needing(expected)
    explanation = Zorro.of_graphs(line, graphs, **QUICK).explain(number)
    assert explanation.selected == expected.explain(number).selected
    assert explanation.steps == expected.explain(number).steps


class OtherLinks(OfLinks):
    def forward(self, features, adj, pairs):
        return super().forward(features, adj, pairs)


def test_links_by_another_name_get_the_line_that_works(graph):
    model = made(OtherLinks)
    with pytest.raises(InputError, match=r"^model: expected one that takes edge_label") as error:
        Zorro.of_links(model, *graph, threshold=0.0)
    line = the_line_of(error, model)
    options: dict[str, Any] = {**QUICK, "threshold": 0.0}
    explanation = Zorro.of_links(line, *graph, **options).explain(LINK)
    expected = Zorro.of_links(made(OfLinks), *graph, **options).explain(LINK)
    assert explanation.selected == expected.selected
    assert explanation.steps == expected.steps


# Adjacency matrices


def adjacency(edge_index, nodes):
    return torch_geometric.utils.to_torch_csr_tensor(edge_index.flip(0), size=(nodes, nodes))


@pytest.mark.parametrize("level", ["graphs", "links"])
def test_an_adjacency_gets_the_line_that_works_at_other_levels_too(graph, level):
    x, edge_index = graph
    graphs = some_graphs()
    wrong = Data(x=x, edge_index=adjacency(edge_index, NODES))
    model = made(GraphsWithEdges if level == "graphs" else LinksWithEdges)
    given = ([wrong, wrong],) if level == "graphs" else (x, wrong.edge_index)
    with pytest.raises(InputError, match=r"edge_index: expected .*to_torch_csr_tensor") as error:
        getattr(Zorro, f"of_{level}")(model, *given)
    line = the_line_of(error, model)
    options: dict[str, Any] = {**QUICK, "evaluator": "any-model"}
    if level == "graphs":
        one, other = (Zorro.of_graphs(each, graphs, **options) for each in (line, model))
        asked = needing(other)
    else:
        one, other = (
            Zorro.of_links(each, *graph, threshold=0.0, **options) for each in (line, model)
        )
        asked = LINK
    assert one.explain(asked).selected == other.explain(asked).selected
    assert one.explain(asked).status == "certified"


def test_graphs_that_have_an_adjacency_alone_are_told_so(graph):
    x, edge_index = graph
    wrong = Data(x=x, adj_t=adjacency(edge_index, NODES))
    with pytest.raises(InputError, match=r"graphs\[0\]: edge_index: expected .*got none"):
        Zorro.of_graphs(made(OfGraphs), [wrong, wrong])
