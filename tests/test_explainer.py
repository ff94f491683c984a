"""The front door: what goes in is checked, what comes out can be checked."""

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

import zorro
from zorro import Explanation, Zorro, rdt_fidelity
from zorro.errors import InputError


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.first = GCNConv(8, 6)
        self.second = GCNConv(6, classes)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def a_random_tree(nodes):
    """Every node is linked with an earlier one, in both directions."""
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1) * children).long()
    return torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])


@pytest.fixture
def graph():
    torch.manual_seed(0)
    x = torch.randn(60, 8) * (torch.rand(60, 8) < 0.5)
    return x, a_random_tree(60)


@pytest.fixture
def net():
    torch.manual_seed(1)
    return Net()


def test_an_explanation_can_be_checked_by_measuring_its_fidelity(net, graph: tuple[Any, Any]):
    explanation = Zorro(net, *graph, tau=0.8, fresh_samples=300).explain(17)
    assert explanation.search_fidelity.value > 0.8
    assert explanation.predicted_class == int(net.eval()(*graph)[17].argmax())
    assert explanation.probability == pytest.approx(
        net(*graph)[17].softmax(-1).max().item(), abs=1e-5
    )
    again = rdt_fidelity(
        net, *graph, 17, nodes=explanation.nodes, features=explanation.features, samples=300
    )
    assert again == explanation.fidelity
    assert again != explanation.search_fidelity


@pytest.mark.parametrize("search", ["guided", "paper"])
def test_steps_lead_from_nothing_to_the_sets(net, graph, search):
    explanation = Zorro(net, *graph, tau=0.9, search=search).explain(3)
    start, *following = explanation.steps
    assert (start.node, start.feature) == (None, None)
    selected: dict[str, set[Any]] = {"node": set(), "feature": set()}
    for step in following:
        kind = "feature" if step.node is None else "node"
        element = getattr(step, kind)
        assert (element not in selected[kind]) == step.added
        selected[kind] ^= {element}
    assert selected == {"node": set(explanation.nodes), "feature": set(explanation.features)}
    if search == "paper":
        assert following[-1].fidelity == explanation.search_fidelity.value


def test_the_order_of_queries_changes_nothing(net, graph):
    def plain(explanation):
        return {**explanation.to_dict(), "seconds": 0}

    one = Zorro(net, *graph)
    forwards = {node: plain(one.explain(node)) for node in (5, 9, 30)}
    other = Zorro(net, *graph)
    backwards = {node: plain(other.explain(node)) for node in (30, 9, 5)}
    assert forwards == backwards


def test_full_selection_has_fidelity_one_and_none_is_the_empty_steps(net, graph: tuple[Any, Any]):
    everything = rdt_fidelity(net, *graph, 17, samples=80)
    assert everything.value == 1.0
    nothing = rdt_fidelity(net, *graph, 17, nodes=[], features=[], samples=2000)
    explanation = Zorro(net, *graph, samples=2000, tau=0.1).explain(17)
    assert explanation.status == "nothing needed"
    assert nothing.lower - 0.15 < explanation.steps[0].fidelity < nothing.upper + 0.15 < 1


def test_nodes_that_the_prediction_cannot_see_make_no_difference(net, graph):
    explainer = Zorro(net, *graph)
    seen = explainer.explain(59).graph.candidates
    assert seen < 60
    source: Any = explainer._ready.source
    candidates = set(source.extract(59).candidates.tolist())
    unseen = [node for node in range(60) if node not in candidates]
    some = sorted(candidates)[:2]
    assert explainer.fidelity(59, nodes=some, samples=200) == explainer.fidelity(
        59, nodes=[*some, *unseen], samples=200
    )


def test_multiple_explanations_are_distinct_bounded_and_reach_tau(net, graph):
    zorro = Zorro(net, *graph, tau=0.6, fresh_samples=50, search="paper")
    found = zorro.explain_multiple(19, max_explanations=4, max_depth=4)
    assert 1 < len(found) <= 4
    assert len({(e.nodes, e.features) for e in found}) == len(found)
    assert all(e.search_fidelity.value > 0.6 for e in found)
    assert found[0].nodes == zorro.explain(19).nodes


def test_an_isolated_node_is_explained(net):
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(2))
    edge_index = torch.tensor([[0, 1], [1, 0]])
    explanation = Zorro(net, x, edge_index).explain(5)
    assert explanation.graph.candidates == 1
    assert set(explanation.nodes) <= {5}


class OneColumn(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, edge_index):
        scores = self.net(x, edge_index)
        return scores[:, 1] - scores[:, 0]


def test_a_one_column_model_is_the_two_column_model(graph):
    torch.manual_seed(5)
    two = Net(classes=2)
    one = OneColumn(two)
    a = Zorro(two, *graph).explain(17)
    b = Zorro(one, *graph, threshold=0.0).explain(17)
    assert (a.nodes, a.features, a.predicted_class) == (b.nodes, b.features, b.predicted_class)


class Probability(OneColumn):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index).sigmoid()


def test_probabilities_of_one_column_models_are_theirs(graph):
    torch.manual_seed(5)
    net = Net(classes=2)
    true = float(net.eval()(*graph)[17].softmax(-1).max().detach())
    logit = Zorro(OneColumn(net), *graph, threshold=0.0).explain(17)
    assert logit.probability == pytest.approx(true, abs=1e-4)
    probability = Zorro(Probability(net), *graph, threshold=0.5).explain(17)
    assert probability.probability == pytest.approx(true, abs=1e-4)


def test_a_double_precision_graph_is_kept_in_double_precision(graph):
    x, edge_index = graph
    net = Net().double()
    explanation = Zorro(net, x.double(), edge_index).explain(17)
    assert explanation.certificate is not None
    assert explanation.certificate.certified


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tau": 0}, r"tau: expected a number above 0 and at most 1, got 0"),
        ({"tau": 1.01}, r"tau: .* got 1.01"),
        ({"tau": float("nan")}, r"tau: .* got nan"),
        ({"tau": "high"}, r"tau: .* got 'high'"),
        ({"tau": True}, r"tau: .* got True"),
        ({"seed": "a"}, r"seed"),
        ({"seed": -1}, r"seed"),
        ({"evaluator": "fast"}, r"evaluator: expected one of auto, .* got 'fast'"),
        ({"samples": 0}, r"samples: expected a whole number of at least 1, got 0"),
        ({"samples": 2.5}, r"samples: .* got 2.5"),
        ({"k": 0}, r"k: expected a whole number of at least 1, got 0"),
        ({"hops": -1}, r"hops: .* got -1"),
        ({"confidence": 1.0}, r"confidence: .* got 1.0"),
        ({"search": "papers"}, r"search: expected one of guided, paper, got 'papers'"),
        ({"delta": 0}, r"delta: expected a number between 0 and 1, or None, got 0"),
        ({"delta": "small"}, r"delta: .* got 'small'"),
        ({"tau": 1}, r"tau: expected less than 1, got 1"),
        ({"max_seconds": 0}, r"max_seconds: expected a number above 0, got 0"),
        ({"max_elements": 1.5}, r"max_elements: .* got 1.5"),
        ({"max_evaluations": 0}, r"max_evaluations: .* got 0"),
        ({"max_elements": 3, "search": "paper"}, r"max_elements: expected the guided search"),
        ({"noise": "pink"}, r"noise: expected one of .* got 'pink'"),
        ({"model_kwargs": {"edge_weight": torch.ones(3)}}, r"model_kwargs\['edge_weight'\]"),
    ],
)
def test_bad_options_are_named(net, graph, options, message):
    with pytest.raises(InputError, match=message):
        Zorro(net, *graph, **options)


def test_bad_graphs_are_named(net, graph):
    x, edge_index = graph
    with_nan = x.clone()
    with_nan[3, 2] = float("nan")
    for bad_x, bad_edges, name in [
        (with_nan, edge_index, "x"),
        (x + 0j, edge_index, "x"),
        (x[0], edge_index, "x"),
        (x[:0], edge_index[:, :0], "x"),
        (x, edge_index.float(), "edge_index"),
        (x, edge_index.t(), "edge_index"),
        (x, edge_index + 1, "edge_index"),
    ]:
        with pytest.raises(InputError, match=f"^{name}"):
            Zorro(net, bad_x, bad_edges)


def test_bad_sets_are_named(net, graph: tuple[Any, Any]):
    with pytest.raises(InputError, match="nodes: expected whole numbers from 0 to 59, got 60"):
        rdt_fidelity(net, *graph, 17, nodes=[60])
    with pytest.raises(InputError, match="features: expected whole numbers from 0 to 7"):
        rdt_fidelity(net, *graph, 17, features=[-1])
    # The keys of what is meant by type were taken for the nodes.
    with pytest.raises(InputError, match="nodes: expected whole numbers where there is one type"):
        Zorro(net, *graph).fidelity(17, nodes={3: [0]})


def test_every_zorro_error_is_a_zorro_error():
    assert issubclass(InputError, zorro.ZorroError)
    assert issubclass(InputError, ValueError)


def test_json_round_trip_is_exact(net, graph):
    explanation = Zorro(net, *graph).explain(17)
    assert Explanation.from_json(explanation.to_json()) == explanation


def test_texts_tell_the_essentials_and_escape(net, graph):
    explanation = Zorro(net, *graph, noise=named("<b>")).explain(17)
    assert repr(explanation).startswith(
        f"Explanation(node 17 → class {explanation.predicted_class}: {len(explanation.nodes)} nodes"
    )
    assert f"{explanation.fidelity.value:.2f} [" in str(explanation)
    assert "<b>" in str(explanation)
    assert "<b>" not in explanation._repr_html_()
    assert "&lt;b&gt;" in explanation._repr_html_()


def named(name):
    def draw(candidates, generator):
        return torch.randn(candidates.shape, generator=generator)

    draw.__name__ = name
    return draw


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"node": 1}'])
def test_text_that_is_no_explanation_is_refused(text):
    with pytest.raises(InputError):
        Explanation.from_json(text)


def test_pyg_masks_are_the_sets_on_the_whole_graph(net, graph):
    explanation = Zorro(net, *graph).explain(17)
    masks = {
        kind: explanation.to_pyg(*graph, node_mask_type=kind).node_mask
        for kind in ("attributes", "object", "common_attributes")
    }
    assert {kind: tuple(mask.shape) for kind, mask in masks.items()} == {
        "attributes": (60, 8),
        "object": (60, 1),
        "common_attributes": (1, 8),
    }
    assert masks["object"].flatten().nonzero().flatten().tolist() == list(explanation.nodes)
    assert masks["common_attributes"].flatten().nonzero().flatten().tolist() == list(
        explanation.features
    )
    outer = masks["object"] * masks["common_attributes"]
    assert torch.equal(masks["attributes"], outer)
    assert explanation.to_pyg(*graph).validate(raise_on_error=True)
