"""A stored graph gives the explanations of the graph in memory, and takes little of it."""

import dataclasses
import json
import pickle
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from zorro import Zorro, models, rdt_fidelity
from zorro.cut import Extractor
from zorro.data import open_stored, store
from zorro.errors import InputError, ModelError
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import NOISES, resolve

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")  # torch calls its CSR layout beta

LAYOUTS: dict[str, Any] = {
    "dense": lambda x: x,
    "coo": torch.Tensor.to_sparse,
    "csr": torch.Tensor.to_sparse_csr,
}
in_every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


class Net(nn.Module):
    def __init__(self, flow="source_to_target"):
        super().__init__()
        self.first = GCNConv(8, 6, flow=flow)
        self.second = GCNConv(6, 3, flow=flow)

    def forward(self, x, edge_index, edge_weight=None):
        hidden = self.first(x, edge_index, edge_weight).relu()
        return self.second(hidden, edge_index, edge_weight)


def a_graph(seed=0, nodes=120):
    """A tree with edges up and down, most of them, and weights; a few features of each node."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, 8, generator=generator)
    x[torch.rand(nodes, 8, generator=generator) < 0.7] = 0
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1, generator=generator) * children).long()
    up = torch.stack([children, parents])
    edge_index = torch.cat([up, up.flip(0)], dim=1)
    edge_index = edge_index[:, torch.randperm(edge_index.size(1), generator=generator)[:-10]]
    weight = torch.rand(edge_index.size(1), generator=generator)
    return Data(x=x, edge_index=edge_index, edge_weight=weight)


def stored(data, folder):
    """Return a graph that was stored, and the one in memory with its edges in that order."""
    store(data, folder)
    order = data.edge_index[1].argsort(stable=True)
    in_order = Data(x=data.x, edge_index=data.edge_index[:, order])
    if "edge_weight" in data:
        in_order.edge_weight = data.edge_weight[order]
    return open_stored(folder), in_order


def explanations(model, graph, nodes, **options):
    zorro = Zorro(model, graph.x, graph.edge_index, fresh_samples=100, **options)
    return [dataclasses.replace(zorro.explain(node), seconds=0) for node in nodes]


@in_every_layout
@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
def test_explanations_are_those_of_the_graph_in_memory(tmp_path, layout, flow):
    torch.manual_seed(0)
    data = a_graph()
    data.x = layout(data.x)
    graph, in_memory = stored(data, tmp_path / "graph")
    net, nodes = Net(flow), (5, 17, 60)
    ours = explanations(net, graph, nodes, model_kwargs={"edge_weight": graph.edge_weight})
    theirs = explanations(
        net, in_memory, nodes, model_kwargs={"edge_weight": in_memory.edge_weight}, check="local"
    )
    assert ours == theirs
    assert all(explanation.graph.checked == "local" for explanation in ours)


@in_every_layout
@pytest.mark.parametrize("options", [{"search": "paper"}, {"check": "none", "halo": 0}], ids=str)
def test_other_searches_and_cuts_are_the_same_too(tmp_path, layout, options):
    torch.manual_seed(0)
    data = a_graph()
    data.x = layout(data.x)
    graph, in_memory = stored(data, tmp_path / "graph")
    net = Net()
    ours, theirs = (
        explanations(net, each, (5, 60), **{"check": "local", **options})
        for each in (graph, in_memory)
    )
    assert ours == theirs


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_cora_on_disk_is_cora(tmp_path, real_graph, paper_dir, layout):
    cora = real_graph("cora")
    data = Data(x=LAYOUTS[layout](cora.x), edge_index=cora.edge_index, y=cora.y)
    graph, in_memory = stored(data, tmp_path / "graph")
    model = models.build("gcn", 1433, 7)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint("cora", "gcn"))
    nodes = (2521, 658, 711)
    ours = explanations(model, graph, nodes)
    assert ours == explanations(model, in_memory, nodes, check="local")
    assert ours[0].predicted_class == 3


@in_every_layout
@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_that_of_the_graph_in_memory(tmp_path, noise, layout):
    data = a_graph()
    dense = data.x
    data.x = layout(data.x)
    graph, _ = stored(data, tmp_path / "graph")
    if noise in ("gaussian", "published"):
        with pytest.raises(InputError, match=rf"noise: expected features in memory for '{noise}'"):
            resolve(noise, graph.x)
        return
    ours, theirs = (
        resolve(noise, x).draw(dense[:4], seed=1, query=2, samples=range(60))
        for x in (graph.x, data.x)
    )
    assert torch.equal(ours, theirs)


def test_fidelity_is_the_same(tmp_path):
    torch.manual_seed(0)
    graph, in_memory = stored(a_graph(), tmp_path / "graph")
    net = Net()
    ours, theirs = (
        rdt_fidelity(net, each.x, each.edge_index, 60, features=[1, 2], samples=50, check="local")
        for each in (graph, in_memory)
    )
    assert ours == theirs


def test_what_another_process_opens_gives_the_same(tmp_path):
    graph, _ = stored(a_graph(), tmp_path / "graph")
    net = Net()
    again = pickle.loads(pickle.dumps(graph))
    assert explanations(net, graph, [60]) == explanations(net, again, [60])


def test_the_model_is_never_run_on_the_whole_graph(tmp_path):
    graph, in_memory = stored(a_graph(), tmp_path / "graph")
    with pytest.raises(InputError, match="check: expected 'auto', 'local' or 'none' for a stored"):
        Zorro(Net(), graph.x, graph.edge_index, check="whole")
    with pytest.raises(InputError, match=r"edge_index: expected a dense .*, got StoredEdges"):
        Zorro(Net(), in_memory.x, graph.edge_index)
    with pytest.raises(InputError, match=r"x: expected a dense, .*, got StoredFeatures"):
        Zorro(Net(), graph.x, in_memory.edge_index)
    other, _ = stored(a_graph(nodes=50), tmp_path / "other")
    with pytest.raises(InputError, match="expected both of one stored graph, got 120 and 50 nodes"):
        Zorro(Net(), graph.x, other.edge_index)
    with pytest.raises(InputError, match="expected a graph in memory, got a stored one"):
        models.train("gcn", graph, models.TrainingSettings())


class Mean(nn.Module):
    """Looks at every node there is."""

    def forward(self, x, edge_index):
        return x[:, :3] + x.mean(0)[:3]


def test_a_model_that_needs_the_whole_graph_is_refused(tmp_path):
    graph, _ = stored(a_graph(), tmp_path / "graph")
    with pytest.raises(ModelError, match=r"however far away.*: use a smaller graph, or pass hops="):
        Extractor(Predictor(Mean()), Graph(graph.x, graph.edge_index)).extract(5)


@in_every_layout
def test_set_up_and_query_only_look_up_parts_of_the_graph(tmp_path, layout, touched):
    data = a_graph()
    nodes, edges = 100_003, 200_017  # sizes that nothing else has
    far = torch.randint(120, nodes, (2, edges - data.edge_index.size(1)))
    data.x = torch.cat([data.x, torch.zeros(nodes - 120, 8)])
    data.x[120::7, 3] = torch.randn(data.x[120::7, 3].shape)
    values = int(data.x.count_nonzero())
    data.x = layout(data.x)
    data.edge_index = torch.cat([data.edge_index, far], dim=1)
    data.edge_weight = torch.ones(edges)
    graph, _ = stored(data, tmp_path / "graph")
    with touched({nodes, nodes + 1, edges, values}) as seen:
        kwargs = {"edge_weight": graph.edge_weight}
        zorro = Zorro(Net(), graph.x, graph.edge_index, model_kwargs=kwargs, fresh_samples=100)
        zorro.explain(60)
    assert seen.operations <= {"index", "searchsorted", "slice"}  # a slice reads nothing yet


# Each node of a ring of 5 million has edges from its four nearest: 20 million edges.
LARGE = """
import json, sys, torch
from pathlib import Path
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from zorro import Zorro
from zorro.data import open_stored, store

def peak():
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) / 1e3

torch.set_num_threads(1)
torch.manual_seed(0)
nodes, folder = 5_000_000, Path(sys.argv[2])
"""
CONVERT = """
ring = torch.arange(nodes)
senders = torch.cat([(ring + step) % nodes for step in (-2, -1, 1, 2)])
columns = torch.randint(32, (nodes, 2)) + torch.tensor([0, 32])
x = torch.sparse_csr_tensor(
    2 * torch.arange(nodes + 1), columns.flatten(), torch.rand(2 * nodes), (nodes, 64)
)
data = Data(x=x, edge_index=torch.stack([senders, ring.repeat(4)]))
del ring, senders, columns
before = peak()
store(data, folder)
print(json.dumps({"edges": data.edge_index.size(1), "on_top": peak() - before}))
"""
EXPLAIN = """
net = GCNConv(64, 3)
small = torch.eye(64).to_sparse_csr()
options = {"samples": 50, "fresh_samples": 50, "hops": 1, "max_elements": 20}
Zorro(net, small, torch.tensor([[0, 1], [1, 0]]), **options).explain(0)  # loads what is needed
before = peak()
graph = open_stored(folder)
zorro = Zorro(net, graph.x, graph.edge_index, **options)
found = [zorro.explain(node) for node in (0, 1_234_567, nodes - 1)]
print(json.dumps({
    "on_top": peak() - before,
    "candidates": [explanation.graph.candidates for explanation in found],
}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak memory like this")
def test_20_million_edges(tmp_path):
    """Both steps run in processes of their own, whose peak memory is their own."""

    def run(script):
        words = [sys.executable, "-W", "ignore", "-c", LARGE + script, "", tmp_path / "graph"]
        return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)

    data_mb = (2 * 20e6 * 8 + 5e6 * 8 + 10e6 * (8 + 4)) / 1e6
    converted = run(CONVERT)
    assert converted["edges"] == 20_000_000
    assert converted["on_top"] < 1.5 * data_mb
    on_disk_mb = sum(path.stat().st_size for path in (tmp_path / "graph").iterdir()) / 1e6
    explained = run(EXPLAIN)
    assert explained["candidates"] == [5, 5, 5]
    assert explained["on_top"] < on_disk_mb / 3
