"""What is wrong with a set of graphs is said with the graph's number."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from zorro.data import GraphDataset, check_graphs
from zorro.errors import InputError

EDGES = torch.tensor([[0, 1], [1, 0]])
NONE = torch.empty(0, dtype=torch.int64)


def graph(**changed):
    return Data(**{"x": torch.ones(2, 3), "edge_index": EDGES, "y": torch.tensor([1]), **changed})


def dataset(**changed):
    usual = {"name": "three", "graphs": [graph()] * 3, "train": NONE, "val": NONE, "test": NONE}
    return GraphDataset(**{**usual, **changed})


def test_sound_graphs_pass():
    lone = graph(x=torch.ones(1, 3), edge_index=torch.empty(2, 0, dtype=torch.int64))
    check_graphs((graph(), lone, graph(x=torch.ones(5, 3))))
    check_graphs([graph(y=None, edge_attr=torch.ones(2, 4))])


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "graphs: expected at least one graph, got none"),
        (graph(), "graphs: expected a list of torch_geometric.data.Data, got Data"),
        ("mutag", "graphs: expected a list .*, got str"),
        ([graph(), HeteroData()], r"graphs\[1\]: expected a torch_geometric.data.Data, got Hetero"),
        ([graph(), graph(x=None)], r"graphs\[1\]: x: expected .*, got none"),
        ([graph(x=torch.ones(0, 3))], r"graphs\[0\]: x: expected .* got shape \(0, 3\)"),
        ([graph(x=torch.ones(2))], r"graphs\[0\]: x: expected .* got shape \(2,\)"),
        ([graph(x=torch.ones(2, 3).long())], r"graphs\[0\]: x: expected .* floating"),
        (
            [graph(x=torch.full((2, 3), torch.nan))],
            r"graphs\[0\]: x: expected finite numbers, got nan",
        ),
        ([graph(), graph(x=torch.ones(2, 4))], r"graphs\[1\].x: expected 3 features .*, got 4"),
        (
            [graph(), graph(x=torch.ones(2, 3).double())],
            r"graphs\[1\].x: expected torch.float32 as",
        ),
        ([graph(), graph(edge_index=None)], r"graphs\[1\]: edge_index: expected"),
        ([graph(), graph(edge_index=EDGES + 1)], r"graphs\[1\]: edge_index: expected .* got 2"),
        ([graph(edge_attr=torch.ones(3, 1))], r"graphs\[0\]: edge_attr: expected .*per edge \(2\)"),
        (
            [graph(edge_attr=torch.ones(2, 1)), graph()],
            r"graphs\[1\].edge_attr: expected rows of shape \(1,\) as in graphs\[0\], got none",
        ),
        ([graph(y=torch.ones(2))], r"graphs\[0\]: y: expected .* one number, got shape \(2,\)"),
        ([graph(y=1)], r"graphs\[0\]: y: expected a tensor of one number, got int"),
        ([graph(y=torch.tensor(-1))], r"graphs\[0\]: y: expected a class number from 0, got -1"),
        ([graph(), graph(y=None)], r"graphs\[1\].y: expected one as in graphs\[0\], got none"),
        ([graph(), graph(y=torch.ones(1))], r"graphs\[1\].y: expected torch.int64 .*float32"),
    ],
)
def test_what_is_wrong_is_named(graphs, message):
    with pytest.raises(InputError, match=f"^{message}"):
        check_graphs(graphs)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"graphs": []}, "graphs: expected at least one graph"),
        ({"train": torch.tensor([3])}, "train: expected numbers from 0 to 2, got 3"),
        ({"val": torch.tensor([-1])}, "val: expected numbers from 0 to 2, got -1"),
        ({"test": torch.tensor([1, 1])}, "test: expected each graph at most once"),
        ({"test": torch.ones(3, dtype=torch.bool)}, "test: expected an int64 .*, got torch.bool"),
        ({"test": [0]}, "test: expected an int64 tensor .*, got list"),
        (
            {"train": torch.tensor([0, 1]), "test": torch.tensor([1])},
            "train, val, test: expected no graph in two of them",
        ),
        ({"feature_names": ("a",)}, "feature_names: expected 3 names, got 1"),
        ({"edge_label_names": ("a",)}, "edge_label_names: expected no names, got 1"),
        ({"class_names": ("a",)}, "class_names: expected 2 names, got 1"),
        ({"smiles": ("C",)}, "smiles: expected 3 names, got 1"),
    ],
)
def test_a_data_set_is_sound_or_refused(changed, message):
    with pytest.raises(InputError, match=f"^{message}"):
        dataset(**changed)


def test_targets_are_classes_or_values():
    classes = dataset(class_names=("a", "b", "c"))
    assert classes.targets.tolist() == [1, 1, 1]
    assert classes.num_classes == 3  # the last one has a name, and no graph
    values = dataset(graphs=[graph(y=torch.tensor([0.5])), graph(y=torch.tensor(2.0))])
    assert not values.has_classes
    assert values.targets.tolist() == [0.5, 2]
    with pytest.raises(InputError, match="three: expected targets that are classes"):
        _ = values.num_classes
    with pytest.raises(InputError, match="three: expected graphs with a target y, got none"):
        _ = dataset(graphs=[graph(y=None)]).targets
