"""PyG's `Explainer` with dictionaries: masks by type and relation are what Zorro finds."""

import random
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

sys.path.append(str(Path(__file__).parent))
from made_hetero import CLASSES, Convolved, Linked, library
from plain_edges import assert_same_share
from test_hetero_graphs import ROUTES, Pooled, maps
from torch_geometric.data import Batch
from torch_geometric.explain import Explainer, HeteroExplanation, fidelity, unfaithfulness

from zorro import Zorro, ZorroExplainer
from zorro.errors import InputError

NODE = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
WRITES, BACK = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
IN = ("paper", "in", "venue")


class Authors(nn.Module):
    """A model's scores of authors alone, as PyG takes a tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x_dict, edge_index_dict):
        out = self.model(x_dict, edge_index_dict)
        return out["author"] if isinstance(out, dict) else out


def explainer_of(model, *, config=NODE, kind="model", nodes="attributes", edges=None, **options):
    return Explainer(
        model,
        ZorroExplainer(**options),
        explanation_type=kind,
        model_config=config,
        node_mask_type=nodes,
        edge_mask_type=edges,
    )


def explained(model, data, *, index=3, kwargs=None, target=None, **options):
    explainer = explainer_of(model, **options)
    return explainer(
        data.x_dict, data.edge_index_dict, index=index, target=target, **(kwargs or {})
    )


@pytest.fixture(scope="module")
def given():
    data = library()
    return data, Authors(Convolved(data))


def needy(data, model, options, count=2):
    """Nodes whose explanations keep something."""
    zorro = Zorro.of_hetero(model, data, "author", **options)
    found = {}
    for node in range(data["author"].num_nodes):
        explanation = zorro.explain(node)
        if any(explanation.selected.values()):
            found[node] = explanation
        if len(found) == count:
            return found
    raise AssertionError("every set is empty")


def masks_by_hand(data, found):
    """The entries that a set keeps, from its members by type alone."""
    masks = {}
    for name in data.node_types:
        x = data[name].x
        rows = torch.zeros(len(x), 1)
        rows[list(found.nodes[name])] = 1
        columns = torch.ones(1, 1 if x.dim() == 1 else x.size(1))
        if x.dim() == 2:
            columns = torch.zeros(1, x.size(1))
            columns[0, list(found.features[name])] = 1
        masks[name] = {
            "object": rows,
            "attributes": rows * columns,
            "common_attributes": columns if x.dim() == 2 else columns * rows.max(),
        }
    return masks


@pytest.mark.parametrize("mask", ["attributes", "object", "common_attributes"])
def test_masks_of_nodes_are_what_zorro_finds(given, mask):
    data, model = given
    every = needy(data, model, {"tau": 0.95})
    explanation = explained(model, data, index=torch.tensor([*every]), nodes=mask, tau=0.95)
    assert isinstance(explanation, HeteroExplanation)
    explanation.validate(raise_on_error=True)
    assert {n: e.selected for n, e in explanation.zorro.items()} == {
        n: e.selected for n, e in every.items()
    }
    for name in data.node_types:
        by_hand = [masks_by_hand(data, found)[name][mask] for found in every.values()]
        assert torch.equal(explanation[name].node_mask, torch.maximum(*by_hand))
    assert any(explanation[name].node_mask.any() for name in data.node_types)
    assert "edge_mask" not in explanation.available_explanations


def columns_by_hand(data, found):
    """The edges that a set keeps, from pairs by relation; those back along them too."""
    return {
        relation: torch.tensor(
            [
                (pair if forth in found.edges._own and relation == forth else pair[::-1])
                in found.edges[forth]
                for pair in map(tuple, data[relation].edge_index.t().tolist())
            ]
        ).float()
        for forth, relation in (
            *((each, each) for each in (WRITES, IN)),
            (WRITES, BACK),
            (IN, ("venue", "rev_in", "paper")),
        )
    }


def test_masks_of_edges_are_what_zorro_finds(given):
    data, model = given
    options = {"keep": ("edges",), "tau": 0.95}
    (node, found), *_ = needy(data, model, options).items()
    explanation = explained(model, data, index=node, nodes=None, edges="object", tau=0.95)
    assert explanation.zorro[node].selected == found.selected
    for relation, mask in columns_by_hand(data, found).items():
        assert torch.equal(explanation[relation].edge_mask, mask), relation
    kept = sum(int(explanation[each].edge_mask.sum()) for each in data.edge_types)
    assert kept == 2 * len(found.edges)


def test_both_masks_and_a_kind_left_out(given):
    data, model = given
    explanation = explained(model, data, edges="object", max_seconds=5)
    assert set(explanation.zorro[3].selected) == {"nodes", "features", "edges"}
    assert set(explanation.available_explanations) == {"node_mask", "edge_mask"}
    less = explained(model, data, edges="object", keep=("nodes", "edges"), max_seconds=5)
    assert set(less.zorro[3].selected) == {"nodes", "edges"}


def test_whole_types_and_relations(given):
    data, model = given
    options = {"keep": ("types", "relations"), "tau": 0.95}
    (node, found), *_ = needy(data, model, options).items()
    explanation = explained(model, data, index=node, edges="object", **options)
    for name in data.node_types:
        assert bool(explanation[name].node_mask.all()) == (name in found.node_types)
        assert bool(explanation[name].node_mask.any()) == (name in found.node_types)
    for relation, forth in ((WRITES, WRITES), (BACK, WRITES), (IN, IN)):
        assert bool(explanation[relation].edge_mask.all()) == (forth in found.relations)


def test_the_mask_keeps_the_answer_as_often_as_is_claimed():
    """A loop over PyG's masks alone: entries outside are drawn from their type's column."""
    data = library(venue_ids=False)
    model = Authors(Convolved(data, venue_ids=False))
    (node, _), *_ = needy(data, model, {"tau": 0.9}).items()
    explanation = explained(model, data, index=node, tau=0.9)
    die = random.Random(1)
    true = int(model(data.x_dict, data.edge_index_dict)[node].argmax())
    stayed = 0
    for _ in range(300):
        x_dict = {}
        for name, x in data.x_dict.items():
            x_dict[name] = x.clone()
            for row, column in (explanation[name].node_mask == 0).nonzero().tolist():
                x_dict[name][row, column] = x[die.randrange(len(x)), column]
        stayed += int(model(x_dict, data.edge_index_dict)[node].argmax()) == true
    assert explanation.zorro[node].certified
    assert_same_share(explanation.zorro[node].fidelity, stayed, 300)


@pytest.mark.parametrize("index", [2, torch.tensor(2), torch.tensor([2, 4]), None])
def test_an_index_says_what_is_explained(index):
    data = library(authors=5, papers=8)
    model = Authors(Convolved(data))
    explanation = explained(model, data, index=index)
    asked = range(5) if index is None else torch.as_tensor(index).view(-1).tolist()
    assert [*explanation.zorro] == [*asked]


def test_values_and_a_part_of_what_the_model_returns():
    data = library()
    model = Convolved(data)  # returns a dictionary
    config = {"mode": "regression", "task_level": "node"}
    explanation = explained(model, data, config=config, output="author", tolerance=0.5)
    value = model(data.x_dict, data.edge_index_dict)["author"][3, 0].item()
    assert explanation.zorro[3].value.value == pytest.approx(value, abs=1e-5)
    target = model(data.x_dict, data.edge_index_dict)["author"].argmax(-1)
    same = explained(model, data, kind="phenomenon", output="author", target=target)
    assert same.zorro[3].predicted_class == int(target[3])
    with pytest.raises(InputError, match="target: expected class"):
        explained(model, data, kind="phenomenon", output="author", target=(target + 1) % CLASSES)


def test_links_are_those_of_edge_label_index():
    data = library()
    model = Linked(data)
    config = {**NODE, "mode": "binary_classification", "task_level": "edge"}
    links = torch.tensor([[3, 4, 5], [2, 0, 1]])
    relation = ("author", "likes", "venue")
    explanation = explained(
        model,
        data,
        config=config,
        index=torch.tensor([0, 2]),
        kwargs={"edge_label_index": links},
        output_type=relation,
    )
    zorro = Zorro.of_hetero(model, data, relation, threshold=0.0, carries_messages=True)
    assert [*explanation.zorro] == [0, 2]
    assert explanation.zorro[0].selected == zorro.explain((3, 2)).selected
    assert explanation.zorro[2].selected == zorro.explain((5, 1)).selected
    with pytest.raises(InputError, match=r"output_type: expected \(source type, relation, target"):
        explained(model, data, config=config, kwargs={"edge_label_index": links})


def batched(graphs):
    batch = Batch.from_data_list(graphs)
    return batch, {name: batch[name].batch for name in batch.node_types}


@pytest.mark.parametrize("edges", [None, "object"])
def test_graphs_of_a_batch_have_masks_on_all_nodes_and_edges(edges):
    graphs, model = maps(5), Pooled()
    whole, batch_dict = batched(graphs)
    config = {**NODE, "task_level": "graph"}
    explanation = explained(
        model,
        whole,
        config=config,
        index=2,
        edges=edges,
        kwargs={"batch_dict": batch_dict},
        tau=0.95,
    )
    keep = ("nodes", "features", *(["edges"] if edges else []))
    found = Zorro.of_graphs(model, graphs, keep=keep, tau=0.95).explain(2)
    assert explanation.zorro[2].selected == found.selected
    for name in whole.node_types:
        first = sum(graph[name].num_nodes for graph in graphs[:2])
        mask = torch.zeros(whole[name].num_nodes, whole[name].x.size(1))
        for row in found.nodes[name]:
            mask[first + row, list(found.features[name])] = 1
        assert torch.equal(explanation[name].node_mask, mask)
    if edges:
        first = sum(graph["city"].num_nodes for graph in graphs[:2])
        pairs = {(first + u, first + v) for u, v in found.edges[ROUTES]}
        pairs |= {(v, u) for u, v in pairs}
        road = map(tuple, whole[ROUTES].edge_index.t().tolist())
        assert explanation[ROUTES].edge_mask.tolist() == [float(pair in pairs) for pair in road]


def test_attributes_follow_into_graphs_of_a_batch():
    graphs = maps(4)

    class Weighted(nn.Module):
        def forward(self, x_dict, edge_index_dict, batch_dict, edge_attr_dict):
            u, v = edge_index_dict[ROUTES]
            heard = x_dict["city"][u] * edge_attr_dict[ROUTES]
            zeros = torch.zeros(int(batch_dict["city"].max()) + 1, 4)
            return zeros.index_add(0, batch_dict["city"][v], heard)

    whole, batch_dict = batched(graphs)
    further = {"batch_dict": batch_dict, "edge_attr_dict": {ROUTES: whole[ROUTES].edge_attr}}
    explanation = explained(
        Weighted(),
        whole,
        config={**NODE, "task_level": "graph"},
        nodes=None,
        edges="object",
        kwargs=further,
    )
    same = Zorro.of_graphs(
        Weighted(),
        graphs,
        model_kwargs={"edge_attr_dict": "edge_attr"},
        keep=("edges",),
    ).explain(3)
    assert explanation.zorro[3].selected == same.selected


def test_one_graph_that_a_model_answers_for_as_a_whole():
    """The mean of papers' first feature: what is redrawn moves it by what it is drawn.

    It moves by fortieths: the tolerance lies between two of them, where no rounding matters.
    """
    data = library()

    class Mean(nn.Module):
        def forward(self, x_dict, edge_index_dict):
            return x_dict["paper"][:, 0].mean().view(-1)

    config = {"mode": "regression", "task_level": "graph"}
    few = {"samples": 30, "fresh_samples": 300, "max_evaluations": 1_000}  # each is a run
    explanation = explained(Mean(), data, config=config, index=None, tolerance=0.06, tau=0.9, **few)
    found = explanation.zorro[0]
    share = float(data["paper"].x[:, 0].mean())
    assert found.value.value == pytest.approx(share)
    assert found.graph.candidates == sum(data[name].num_nodes for name in data.node_types)
    assert found.features["author"] == ()
    if found.selected["nodes"]:
        assert explanation["paper"].node_mask[:, 0].sum() == len(found.nodes["paper"])
    assert explanation["author"].node_mask.sum() == 0
    die = random.Random(0)
    free = [row for row in range(40) if not explanation["paper"].node_mask[row, 0]]
    stayed = 0
    for _ in range(400):
        x = data["paper"].x[:, 0].clone()
        for row in free:
            x[row] = data["paper"].x[die.randrange(40), 0]
        stayed += abs(float(x.mean()) - share) <= 0.06
    assert_same_share(found.fidelity, stayed, 400)


def test_what_pyg_makes_of_an_explanation(given, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    data = library(venue_ids=False)
    model = Authors(Convolved(data, venue_ids=False))
    (node, found), *_ = needy(data, model, {"tau": 0.95}).items()
    explanation = explained(model, data, index=node, tau=0.95)
    part, rest = explanation.get_explanation_subgraph(), explanation.get_complement_subgraph()
    for name in data.node_types:
        kept = len(found.nodes[name]) if found.features[name] else 0
        assert part[name].num_nodes == kept
        assert rest[name].num_nodes == data[name].num_nodes - kept
    assert part.zorro[node].selected == found.selected
    explanation.visualize_feature_importance(tmp_path / "features.png", top_k=5)
    if not hasattr(explanation, "visualize_graph"):
        return  # PyG before 2.7 draws no graph of several types
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        explanation.visualize_graph(tmp_path / "graph.png")  # PyG's wants one number per node
    whole = explained(model, data, index=node, nodes="object", tau=0.95)
    whole.visualize_graph(tmp_path / "graph.png")
    assert (tmp_path / "features.png").stat().st_size > 0
    assert (tmp_path / "graph.png").stat().st_size > 0


def test_pyg_s_own_metrics_take_no_heterogeneous_explanation(given):
    """As the docstring says: the day they do, this test tells."""
    data, model = given
    explainer = explainer_of(model)
    explanation = explainer(data.x_dict, data.edge_index_dict, index=3)
    for metric in (fidelity, unfaithfulness):
        with pytest.raises(AttributeError, match="'HeteroExplanation' has no attribute"):
            metric(explainer, explanation)
    common = explained(model, data, nodes="common_attributes")
    with pytest.raises(IndexError):
        common.get_explanation_subgraph()


def test_the_model_is_left_as_it_was(given):
    data, model = given
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    explained(model, data)
    assert all(module.training for module in model.modules())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    model.eval()


def test_bad_input_is_refused_in_one_line(given):
    data, model = given
    graphs = maps(3)
    whole, batch_dict = batched(graphs)
    graph = {**NODE, "task_level": "graph"}
    joined = whole.clone()
    joined[ROUTES].edge_index[1, 0] = whole["city"].num_nodes - 1
    alike = library(authors=40)  # as many authors as papers
    for made, message in [
        (lambda: explained(model, data, output_type="film"), "output_type: expected one of author"),
        (
            lambda: explained(Authors(Convolved(alike)), alike),
            r"output_type: expected the type whose nodes .* author \(40\), paper \(40\)",
        ),
        (lambda: explained(model, data, noise={"film": "rows"}), "noise: expected one of author"),
        (lambda: explained(model, data, index=99), "index: expected a node id or a tensor of ids"),
        (
            lambda: explained(
                Pooled(),
                whole,
                config=graph,
                kind="phenomenon",
                target=torch.zeros(3),
                index=0,
                kwargs={"batch_dict": {**batch_dict, "city": torch.zeros(2)}},
            ),
            r"batch_dict\['city'\]: expected a graph's number per node",
        ),
        (
            lambda: explained(
                Pooled(), joined, config=graph, index=0, kwargs={"batch_dict": batch_dict}
            ),
            "batch_dict: expected edges within graphs",
        ),
    ]:
        with pytest.raises(InputError, match=message) as error:
            made()
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="keep: expected 'types' or 'nodes', got both"):
        ZorroExplainer(keep=("types", "nodes"))
    told = explained(Authors(Convolved(alike)), alike, output_type="author")
    assert told.zorro[3].query.types == ("author",)
