"""What cannot be asked of edges is refused in one line that names the argument."""

import pytest
import torch
import torch_geometric.nn as gnn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.errors import InputError

X = torch.randn(5, 3)
PATH = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
NO_EDGES = torch.empty(2, 0, dtype=torch.long)


def model(x, edge_index, edge_weight=None, batch=None):
    return torch.zeros(len(x), 2) + torch.tensor([0.0, 1.0])


def link_model(x, edge_index, edge_label_index):
    return torch.ones(edge_label_index.size(1))


def graph_model(x, edge_index, batch):
    return gnn.global_add_pool(x, batch)


def of_nodes(edge_index=PATH, **options):
    return Zorro(model, X, edge_index, **options)


def of_links(edge_index=PATH, **options):
    return Zorro.of_links(link_model, X, edge_index, threshold=0.0, **options)


def of_graphs(edge_index=PATH, **options):
    graphs = [Data(x=X, edge_index=edge_index), Data(x=X, edge_index=NO_EDGES)]
    return Zorro.of_graphs(graph_model, graphs, **options)


@pytest.mark.parametrize("make", [of_nodes, of_links, of_graphs])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"edge_presence": 0.5}, "edge_presence: expected 'edges' in keep .*, got 0.5"),
        ({"directed": True}, "directed: expected 'edges' in keep .*, got True"),
        ({"keep": ("edge_attributes",)}, "keep: expected 'edges' with 'edge_attributes'"),
        (
            {"keep": ("nodes", "edge_attributes")},
            "keep: expected 'edges' with 'edge_attributes', got none",
        ),
        (
            {"keep": ("edges", "edge_attributes")},
            "keep: expected edges that have attributes, for 'edge_attributes'",
        ),
        ({"keep": ("edges",), "edge_presence": 1.0}, "edge_presence: expected .*, got 1.0"),
        ({"keep": ("edges",), "edge_presence": 1}, "edge_presence: expected .*, got 1"),
        ({"keep": ("edges",), "edge_presence": -0.1}, "edge_presence: expected .*, got -0.1"),
        ({"keep": ("edges",), "edge_presence": "0.5"}, "edge_presence: expected .*, got '0.5'"),
        ({"keep": ("edges",), "edge_presence": True}, "edge_presence: expected .*, got True"),
        (
            {"keep": ("edges",), "edge_presence": float("nan")},
            "edge_presence: expected .*, got nan",
        ),
        ({"keep": ("edges",), "directed": 1}, "directed: expected True, False or None, got 1"),
        ({"keep": ("edges", "edges")}, "keep: expected .* each once, got 'edges', 'edges'"),
        ({"keep": ("edge",)}, "keep: expected .*, got 'edge'"),
        (
            {"keep": ("nodes", "features", "edges"), "search": "paper"},
            "search: expected 'guided' for edges",
        ),
        ({"keep": ("edges",), "edge_index": NO_EDGES}, "edges: expected some to keep"),
        (
            {"keep": ("edges",), "edge_index": NO_EDGES, "directed": False},
            "edges: expected some to keep",
        ),
    ],
)
def test_what_cannot_be_asked_of_edges_is_refused(make, options, said):
    with pytest.raises(InputError, match=f"^{said}") as refusal:
        make(**options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("keep", "asked", "said"),
    [
        (("edges",), {"edges": [(0, 2)]}, r"edges\[0\]: expected an edge that carries messages"),
        (("edges",), {"edges": [(0, 9)]}, r"edges\[0\]: .*9"),
        (("edges",), {"edges": [(0, 1), 3]}, "edges: expected pairs of nodes"),
        (("edges",), {"nodes": [0]}, "nodes: expected None where keep has no nodes"),
        (("edges",), {"features": [0]}, "features: expected None where keep has no nodes"),
        (("edges",), {"edge_attributes": []}, "edge_attributes: expected None unless keep has"),
        (("nodes",), {"edges": [(0, 1)]}, "edges: expected None unless keep has 'edges'"),
    ],
)
def test_what_cannot_be_measured_is_refused(keep, asked, said):
    with pytest.raises(InputError, match=f"^{said}"):
        of_nodes(keep=keep).fidelity(1, **asked)


def test_a_graph_without_edges_among_others_needs_none():
    zorro = of_graphs(keep=("edges",))
    explanation = zorro.explain(1)
    assert explanation.status == "nothing needed"
    assert explanation.fidelity.value == 1.0
    alone = Data(x=X[:2], edge_index=NO_EDGES)
    assert zorro.explain(alone).status == "nothing needed"


def test_an_explanation_of_nodes_has_no_importance_of_edges():
    of_edges, nodes = of_nodes(keep=("edges",)), of_nodes(keep=("nodes",))
    with pytest.raises(InputError, match=r"^explanation: expected a set of edges, .* of nodes$"):
        of_edges.importance(1, nodes.explain(1))
