"""The plug-in for PyG's explainer, asked about whole graphs."""

from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

from zorro import Zorro, ZorroExplainer
from zorro.errors import InputError

OPTIONS: dict[str, Any] = {"tau": 0.8, "samples": 40}


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(3, 4, bias=False)

    def forward(self, x, edge_index, batch=None, edge_weight=None):
        return gnn.global_add_pool(self.conv(x, edge_index, edge_weight).tanh(), batch)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Pooled().eval()


@pytest.fixture
def graphs():
    torch.manual_seed(1)
    found = []
    for nodes in (4, 6, 5):
        here = torch.arange(nodes)
        edge_index = torch.stack([here, (here + 1) % nodes])
        weight = torch.rand(nodes)
        found.append(Data(x=torch.randn(nodes, 3), edge_index=edge_index, edge_weight=weight))
    return found


def explainer(model, mask="attributes", level="graph", **options):
    return Explainer(
        model,
        ZorroExplainer(**OPTIONS, **options),
        explanation_type="model",
        node_mask_type=mask,
        model_config={
            "mode": "multiclass_classification",
            "task_level": level,
            "return_type": "raw",
        },
    )


@pytest.mark.parametrize("index", [None, 1, torch.tensor([2, 0])])
@pytest.mark.parametrize("mask", ["attributes", "object", "common_attributes"])
def test_each_graph_of_a_batch_has_what_zorro_finds(model, graphs, mask, index):
    batch = Batch.from_data_list(graphs)
    found = explainer(model, mask)(batch.x, batch.edge_index, batch=batch.batch, index=index)
    wanted = [0, 1, 2] if index is None else torch.as_tensor(index).reshape(-1).tolist()
    assert list(found.zorro) == wanted
    zorro = Zorro.of_graphs(model, graphs, **OPTIONS)
    expected = torch.zeros(1 if mask == "common_attributes" else 15, 1 if mask == "object" else 3)
    for number in wanted:
        alone = zorro.explain(number)
        assert found.zorro[number].selected == alone.selected
        own = alone.to_pyg(node_mask_type=mask).node_mask
        rows = slice(None) if mask == "common_attributes" else batch.batch == number
        expected[rows] = torch.maximum(expected[rows], own)
    assert torch.equal(found.node_mask, expected)


def test_weights_go_along_and_noise_is_drawn_from_a_data_set(model, graphs):
    one = graphs[1]
    asked = explainer(model, graphs=graphs)
    found = asked(one.x, one.edge_index, edge_weight=one.edge_weight)
    assert list(found.zorro) == [0]
    scores = model(one.x, one.edge_index, None, one.edge_weight)
    assert found.zorro[0].probabilities == pytest.approx(scores.softmax(1)[0].tolist(), abs=1e-5)
    assert found.node_mask.shape == one.x.shape


def test_graphs_that_edges_join_are_explained_together(model, graphs):
    """Messages pass between them, so that nodes of all may matter: counted in a plain loop."""
    batch = Batch.from_data_list(graphs)
    crossing = torch.cat([batch.edge_index, torch.tensor([[0, 9], [9, 0]])], dim=1)
    found = explainer(model)(batch.x, crossing, batch=batch.batch, index=0).zorro[0]
    assert found.graph.candidates == 15
    generator = torch.Generator().manual_seed(1)
    keep = torch.zeros_like(batch.x, dtype=torch.bool)
    for row in found.nodes:
        keep[row, list(found.features)] = True
    stayed = 0
    with torch.no_grad():
        for _ in range(300):
            rows = torch.randint(15, batch.x.shape, generator=generator)
            x = torch.where(keep, batch.x, batch.x.gather(0, rows))
            stayed += int(model(x, crossing, batch.batch)[0].argmax()) == found.predicted_class
    assert found.certified
    assert abs(stayed / 300 - found.fidelity.value) < 0.12
    assert stayed / 300 > found.certificate.bound - 0.06


def test_what_cannot_be_asked_is_refused(model, graphs):
    one = graphs[0]
    with pytest.raises(InputError, match="graphs: expected two at least, got one"):
        explainer(model)(one.x, one.edge_index)
    batch = Batch.from_data_list(graphs)
    ask = explainer(model)
    with pytest.raises(InputError, match="index: expected a graph id or a tensor of ids from 0 to"):
        ask(batch.x, batch.edge_index, batch=batch.batch, index=3)
    target = torch.zeros(3, dtype=torch.long)
    with pytest.raises(InputError, match=r"batch: expected a graph's number per node, \(15,\)"):
        ask.algorithm(model, batch.x, batch.edge_index, target=target, batch=batch.batch[:3])
