"""Models that return more than the scores: explained as if their owner had taken the part out."""

import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer

from zorro import Zorro, ZorroExplainer, explain_many
from zorro.errors import InputError, ModelError, RunError

sys.path.append(str(Path(__file__).parent))
from plain_loop import plain_fidelity

NODES, FEATURES, CLASSES = 24, 6, 3
QUERY = 3
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 300, "tau": 0.8}
Answer = namedtuple("Answer", ["states", "logits"])


@dataclass
class Held:
    states: Tensor
    logits: Tensor


# What is made of states (N, 5) and scores, and what picks the scores.
FORMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "tuple": (lambda states, scores: (scores, states), lambda out: out[0]),
    "list": (lambda states, scores: [states, scores], lambda out: out[1]),
    "dictionary": (lambda states, scores: {"states": states, "logits": scores}, "logits"),
    "named tuple": (Answer, "logits"),
    "object": (Held, "logits"),
    "nested": (lambda states, scores: {"all": (states, scores)}, lambda out: out["all"][-1]),
}


class Net(nn.Module):
    def __init__(self, form="tuple", out=CLASSES):
        super().__init__()
        self.one = gnn.GCNConv(FEATURES, 5, bias=False)
        self.two = gnn.GCNConv(5, out, bias=False)
        self.form = FORMS[form][0]

    def scores(self, x, edge_index):
        return self.both(x, edge_index)[1]

    def both(self, x, edge_index):
        states = self.one(x, edge_index).tanh()
        return states, self.two(states, edge_index)

    def forward(self, x, edge_index):
        return self.form(*self.both(x, edge_index))


class OfGraphs(Net):
    def both(self, x, edge_index, batch):  # type: ignore[override]
        states = self.one(x, edge_index).tanh()
        return states, gnn.global_add_pool(self.two(states, edge_index), batch)

    def scores(self, x, edge_index, batch):  # type: ignore[override]
        return self.both(x, edge_index, batch)[1]

    def forward(self, x, edge_index, batch):  # type: ignore[override]
        return self.form(*self.both(x, edge_index, batch))


class OfLinks(Net):
    def encode(self, x, edge_index):
        return self.both(x, edge_index)[1]

    def decode(self, z, edge_label_index):
        products = z[edge_label_index[0]] * z[edge_label_index[1]]
        return self.form(products, products.sum(-1))


def made(kind, *args, seed=4):
    torch.manual_seed(seed)
    net = kind(*args)
    with torch.no_grad():
        for parameter in net.parameters():
            nn.init.normal_(parameter)
    return net.eval()


@pytest.fixture
def graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    return torch.randn(NODES, FEATURES), edge_index


def assert_same(one, other):
    assert one.status == other.status == "certified"
    assert one.selected == other.selected
    assert one.steps == other.steps
    assert one.fidelity == other.fidelity


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("form", FORMS)
def test_classes_of_nodes(graph, form, evaluator):
    model = made(Net, form)
    options = {**QUICK, "evaluator": evaluator}
    explanation = Zorro(model, *graph, output=FORMS[form][1], **options).explain(QUERY)
    assert explanation.evaluator == evaluator
    assert_same(explanation, Zorro(model.scores, *graph, **options).explain(QUERY))


def test_what_is_certified_holds_in_a_plain_loop(graph):
    model, (x, edge_index) = made(Net, "tuple"), graph
    explanation = Zorro(model, *graph, output=lambda out: out[0], **QUICK).explain(QUERY)

    def predict(given):
        with torch.no_grad():
            logits, _ = model(given, edge_index)
            return int(logits[QUERY].argmax())

    assert predict(x) == explanation.predicted_class
    share = plain_fidelity(
        predict, x, QUERY, nodes=explanation.nodes, features=explanation.features
    )
    assert abs(share - explanation.fidelity.value) < 4.5 * (0.5 / 300) ** 0.5


def test_what_is_asked_of_an_output_is_asked_of_its_part(graph: tuple[Any, Any]):
    model = made(Net, "dictionary")
    asked: list[dict[str, Any]] = [
        {"tolerance": 1.0},
        {"tolerance_share": 0.5, "side": "up"},
        {"label": 1, "threshold": 0.0},
    ]
    for options in asked:
        one = Zorro(model, *graph, output="logits", **options | QUICK).explain(QUERY)
        assert_same(one, Zorro(model.scores, *graph, **options | QUICK).explain(QUERY))
    column: dict[str, Any] = {"tolerance": 1.0, **QUICK}
    one = Zorro(model, *graph, output=lambda out: out["logits"][:, 2], **column).explain(QUERY)
    other = Zorro(model.scores, *graph, output=2, **column).explain(QUERY)
    assert_same(one, other)
    assert one.value is not None
    assert one.value.value == pytest.approx(model.scores(*graph)[QUERY, 2].item(), abs=1e-5)


def some_graphs(count=8):
    generator = torch.Generator().manual_seed(2)
    graphs = []
    for _ in range(count):
        nodes = int(torch.randint(4, 9, (1,), generator=generator))
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = torch.randn(nodes, FEATURES, generator=generator)
        graphs.append(Data(x=x, edge_index=edge_index))
    return graphs


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("form", ["tuple", "dictionary"])
def test_graphs(form, evaluator):
    model, graphs = made(OfGraphs, form), some_graphs()
    options = {**QUICK, "evaluator": evaluator}
    one = Zorro.of_graphs(model, graphs, output=FORMS[form][1], **options)
    other = Zorro.of_graphs(model.scores, graphs, **options)
    number = next(n for n in range(8) if other.fidelity(n, nodes=[]).value < 0.7)
    assert_same(one.explain(number), other.explain(number))


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_links_that_are_encoded_and_decoded(graph, evaluator):
    model = made(OfLinks, "dictionary")
    options = {**QUICK, "threshold": 0.0, "evaluator": evaluator}

    def by_hand(x, edge_index, edge_label_index):
        return model.decode(model.encode(x, edge_index), edge_label_index)["logits"]

    one = Zorro.of_links(model, *graph, output="logits", **options).explain((3, 9))
    assert_same(one, Zorro.of_links(by_hand, *graph, **options).explain((3, 9)))


ADVICE = {
    "tuple": r"it returned tuple: pass output=lambda out: out\[0\] or output=lambda out: out\[1\],",
    "list": r"it returned list: pass output=lambda out: out\[0\] or",
    "dictionary": r"it returned dict: pass output='states' or output='logits', whichever picks",
    "named tuple": r"it returned Answer: pass output='states' or output='logits'",
    "object": r"it returned Held: pass output='states' or output='logits'",
    "nested": r"it returned dict: pass output=lambda out: …",
}


@pytest.mark.parametrize("form", FORMS)
def test_without_it_the_error_says_the_option(graph, form):
    with pytest.raises(ModelError, match=ADVICE[form]):
        Zorro(made(Net, form), *graph).explain(QUERY)


def test_the_part_with_a_row_per_graph_is_advised():
    with pytest.raises(ModelError, match=r"pass output='logits', which picks"):
        Zorro.of_graphs(made(OfGraphs, "dictionary"), some_graphs()).explain(0)


@pytest.mark.parametrize(
    ("form", "output", "message"),
    [
        ("dictionary", "logit", r"output: expected one of 'states', 'logits', .* got 'logit'"),
        ("tuple", "logits", r"output: expected a column .* the model returns tuple, got 'logits'"),
        (
            "tuple",
            0,
            r"output: expected a value to be explained, got 0 .* or output=lambda out: out\[0\] "
            "for a part",
        ),
    ],
)
def test_a_part_that_is_not_there_is_named(graph, form, output, message):
    with pytest.raises(InputError, match=message):
        Zorro(made(Net, form), *graph, output=output).explain(QUERY)


# Modules that pick, and runs


class Head(nn.Module):
    """A part that is computed, and differs in training."""

    def __init__(self):
        super().__init__()
        self.last, self.dropout = nn.Linear(5, CLASSES), nn.Dropout(0.5)

    def forward(self, output):
        return self.dropout(self.last(output[1]))


def second_of(output):
    return output[1]


def first_of(output):
    return output[0]


def test_a_module_that_picks_is_in_eval_mode(graph):
    model, head = made(Net, "tuple"), made(Head).train()
    explanation = Zorro(model, *graph, output=head, evaluator="traced", **QUICK).explain(QUERY)
    assert head.training
    head.eval()
    assert explanation.predicted_class == int(head(model(*graph))[QUERY].argmax())
    by_hand = Zorro(lambda x, edge_index: head(model(x, edge_index)), *graph, **QUICK)
    assert explanation.selected == by_hand.explain(QUERY).selected


class Tuple(Net):
    def forward(self, x, edge_index):
        return tuple(reversed(self.both(x, edge_index)))

    def __init__(self):
        super().__init__()
        self.form = None  # type: ignore[assignment]


def test_a_run_travels_and_is_known_again_by_what_it_picks(graph: tuple[Any, Any], tmp_path):
    model = made(Tuple)

    def run(output, engine="in-process", out="run"):
        return explain_many(
            model, *graph, [QUERY], out=tmp_path / out, output=output, engine=engine, **QUICK
        )

    (found,) = run(first_of, "processes")
    assert found.selected == Zorro(model.scores, *graph, **QUICK).explain(QUERY).selected
    assert len(run(first_of)) == 1
    with pytest.raises(RunError, match=r"holds another run; it differs in parameters.output"):
        run(second_of)
    with pytest.raises(RunError, match=r"cannot be sent .*lambda.* engine in-process"):
        run(lambda out: out[0], "processes", "another")
    (also,) = run(lambda out: out[0], out="third")
    assert also.selected == found.selected


def test_pygs_plug_in_picks_for_phenomena_and_values(graph):
    model = made(Tuple)
    scores = model.scores(*graph)
    config = {"task_level": "node", "return_type": "raw"}
    of_class = Explainer(
        model,
        ZorroExplainer(output=first_of, **QUICK),
        explanation_type="phenomenon",
        node_mask_type="attributes",
        model_config={"mode": "multiclass_classification", **config},
    )
    found = of_class(*graph, target=scores.argmax(-1), index=QUERY).zorro[QUERY]
    assert_same(found, Zorro(model.scores, *graph, **QUICK).explain(QUERY))
    of_value = Explainer(
        model,
        ZorroExplainer(output=first_of, tolerance=1.0, **QUICK),
        explanation_type="model",
        node_mask_type="attributes",
        model_config={"mode": "regression", **config},
    )
    found = of_value(*graph, index=QUERY).zorro[QUERY]
    assert_same(found, Zorro(model.scores, *graph, tolerance=1.0, **QUICK).explain(QUERY))
