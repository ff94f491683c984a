"""PyG's levels and modes: what comes back is what Zorro finds, with masks as PyG wants them."""

from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.explain import Explainer

from zorro import Zorro, ZorroExplainer
from zorro.errors import InputError

NODES, FEATURES, LINKS = 12, 3, 4
OPTIONS: dict[str, Any] = {"tau": 0.8, "samples": 60}


class Net(nn.Module):
    """As people write one model for several tasks."""

    def __init__(self, level, out):
        super().__init__()
        self.level = level
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, out)

    def forward(self, x, edge_index, batch=None, edge_label_index=None):
        x = self.second(self.first(x, edge_index).tanh(), edge_index)
        if self.level == "graph":
            return gnn.global_add_pool(x, batch)
        if self.level == "edge":
            return x[edge_label_index[0]] * x[edge_label_index[1]]
        return x


@pytest.fixture
def given():
    torch.manual_seed(2)
    path = torch.arange(NODES - 1)
    edge_index = torch.cat([torch.stack([path, path + 1]), torch.stack([path + 1, path])], dim=1)
    links = torch.randint(NODES, (2, LINKS))
    batch = torch.arange(3).repeat_interleave(NODES // 3)
    edge_index = edge_index[:, batch[edge_index[0]] == batch[edge_index[1]]]
    return {
        "x": torch.randn(NODES, FEATURES),
        "edge_index": edge_index,
        "batch": batch,
        "edge_label_index": links,
    }


def explainer(model, mode, *, mask="attributes", kind="model", return_type="raw", **options):
    return Explainer(
        model,
        ZorroExplainer(**OPTIONS, **options),
        explanation_type=kind,
        node_mask_type=mask,
        model_config={"mode": mode, "task_level": model.level, "return_type": return_type},
    )


def made(level, out):
    torch.manual_seed(5)
    return Net(level, out).eval()


@pytest.mark.parametrize("index", [None, 2, torch.tensor([3, 0])])
@pytest.mark.parametrize("mask", ["attributes", "object", "common_attributes"])
def test_each_link_has_what_zorro_finds(given, mask, index):
    model = made("edge", 3)
    found = explainer(model, "multiclass_classification", mask=mask)(**given, index=index)
    wanted = list(range(LINKS)) if index is None else torch.as_tensor(index).reshape(-1).tolist()
    assert list(found.zorro) == wanted
    zorro = Zorro.of_links(model, given["x"], given["edge_index"], carries_messages=True, **OPTIONS)
    masks = []
    for number in wanted:
        alone = zorro.explain(tuple(given["edge_label_index"][:, number].tolist()))
        assert found.zorro[number].selected == alone.selected
        masks.append(alone.to_pyg(node_mask_type=mask).node_mask)
    assert torch.equal(found.node_mask, torch.stack(masks).amax(0))


@pytest.mark.parametrize("return_type", ["raw", "probs"])
@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_one_column_is_read_as_pyg_reads_it(given, level, return_type):
    inner = made(level, 1)

    class Answers(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.level = inner, level

        def forward(self, *args, **kwargs):
            out = self.inner(*args, **kwargs)
            return out.sigmoid() if return_type == "probs" else out

    found = explainer(Answers(), "binary_classification", return_type=return_type)(**given)
    with torch.no_grad():
        expected = (inner(**given) > 0).long().flatten()
    said = {number: each.predicted_class for number, each in found.zorro.items()}
    assert said == dict(enumerate(expected.tolist()))


@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_values_at_every_level(given, level):
    model = made(level, 1)
    found = explainer(model, "regression", tolerance_share=0.7)(**given)
    with torch.no_grad():
        values = model(**given).flatten()
    assert len(found.zorro) == values.numel()
    for number, explanation in found.zorro.items():
        assert explanation.value.value == pytest.approx(float(values[number]), abs=1e-5)
        assert explanation.value.tolerance > 0
    if level != "edge":  # of links only a part is looked at
        tolerance = 0.7 * float(values.std())
        assert found.zorro[0].value.tolerance == pytest.approx(tolerance, rel=1e-3)


def test_a_value_without_a_tolerance_gets_half_the_spread(given):
    model = made("node", 1)
    found = explainer(model, "regression")(**given, index=0)
    with torch.no_grad():
        spread = float(model(**given).std())
    assert found.zorro[0].value.tolerance == pytest.approx(0.5 * spread, rel=1e-3)


def test_a_phenomenon_of_values_is_explained_where_the_model_gives_it(given):
    model = made("graph", 1)
    with torch.no_grad():
        values = model(**given)
    ask = explainer(model, "regression", kind="phenomenon", tolerance=0.5)
    assert list(ask(**given, target=values + 0.4).zorro) == [0, 1, 2]
    wrong = values.clone()
    wrong[1] += 0.6
    with pytest.raises(
        InputError, match=r"^target: expected value .*, which the model predicts for graph 1"
    ):
        ask(**given, target=wrong)
    assert list(ask(**given, target=wrong, index=2).zorro) == [2]


def test_several_values_one_at_a_time(given):
    model = made("node", 2)
    for column in (0, 1):
        found = explainer(model, "regression", tolerance=0.5, output=column)(**given, index=4)
        with torch.no_grad():
            expected = float(model(**given)[4, column])
        assert found.zorro[4].value.value == pytest.approx(expected, abs=1e-5)


def test_links_must_be_told(given):
    ask = explainer(made("edge", 3), "multiclass_classification")
    given = {**given, "target": torch.zeros(4, dtype=torch.long)}
    links = given.pop("edge_label_index")
    algorithm = ask.algorithm
    with pytest.raises(InputError, match=r"^edge_label_index: expected the links .* got NoneType"):
        algorithm(ask.model, **given)
    with pytest.raises(InputError, match=r"^edge_label_index: expected .* got \(4, 2\)"):
        algorithm(ask.model, **given, edge_label_index=links.t())
    with pytest.raises(InputError, match=r"^index: expected a link id .* from 0 to 3, got 4"):
        algorithm(ask.model, **given, edge_label_index=links, index=4)
