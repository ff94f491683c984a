"""Other threads run models while one is traced, which torch.fx does by patching all modules."""

import threading

import torch
from torch import nn
from torch_geometric.nn import GCNConv

from zorro.cut import Extractor
from zorro.evaluation.traced import trace
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor


class Waits(nn.Module):
    """A model in whose forward pass, the first time it is watched, another thread has its turn."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.lin = GCNConv(4, 8), nn.Linear(8, 3)
        self.while_running = None

    def forward(self, x, edge_index):
        out = self.conv(x, edge_index).relu()
        if self.while_running is not None:
            other, self.while_running = self.while_running, None
            other()
        return self.lin(out)


def test_another_thread_runs_models_while_one_is_traced():
    x, edge_index = torch.rand(5, 4), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    model, stranger = Waits().eval(), nn.Sequential(nn.Linear(4, 2), nn.ReLU()).eval()
    graph = Extractor(Predictor(model), Graph(x, edge_index)).extract(1)
    expected = model(x, edge_index), stranger(x)
    found = []

    def elsewhere():
        thread = threading.Thread(target=lambda: found.extend([model(x, edge_index), stranger(x)]))
        thread.start()
        thread.join()

    model.while_running = elsewhere
    traced = trace(model, graph)
    assert any(node.op == "call_module" for node in traced.nodes)
    assert len(found) == 2
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.equal(ours, theirs)
