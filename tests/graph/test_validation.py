import pytest
import torch

from zorro.arguments import check_seed
from zorro.data import check_graph
from zorro.errors import InputError
from zorro.graph.validation import check_labels, check_mask

X = torch.zeros(3, 2)
EDGES = torch.tensor([[0, 1], [1, 2]])
NO_EDGES = torch.empty(2, 0, dtype=torch.int64)


def with_value(value: float) -> torch.Tensor:
    x = X.clone()
    x[1, 0] = value
    return x


@pytest.mark.parametrize("x", [X, X.double(), X.half()])
@pytest.mark.parametrize("edge_index", [EDGES, NO_EDGES])
def test_accepts_every_floating_type_and_graphs_without_edges(x, edge_index):
    check_graph(x, edge_index)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (None, r"x: expected a dense floating tensor .*, got none"),
        ([[0.0]], r"x: expected .*, got list"),
        (X.to_sparse(), r"x: expected a dense .*, got torch.sparse_coo"),
        (X[0], r"x: expected .*\(nodes, features\).*, got shape \(2,\)"),
        (X[:0], r"both at least 1, got shape \(0, 2\)"),
        (X[:, :0], r"both at least 1, got shape \(3, 0\)"),
        (X.long(), r"x: expected .* floating .*, got torch.int64: convert it with x.float\(\)"),
        (with_value(float("nan")), r"x: expected finite numbers, got nan at node 1, feature 0"),
        (with_value(float("-inf")), r"x: expected finite numbers, got -inf at node 1, feature 0"),
    ],
)
def test_unusable_features_are_named(x, message):
    with pytest.raises(InputError, match=message):
        check_graph(x, EDGES)


@pytest.mark.parametrize(
    ("edge_index", "message"),
    [
        (None, r"edge_index: expected .*, got none"),
        (torch.eye(3).to_sparse(), r"edge_index: expected a dense .*, got torch.sparse_coo"),
        (EDGES.int(), r"edge_index: expected .* int64 .*, got torch.int32 of shape \(2, 2\)"),
        (EDGES.T[:1], r"shape \(2, edges\), got torch.int64 of shape \(1, 2\)"),
        (EDGES[0], r"shape \(2, edges\), got torch.int64 of shape \(2,\)"),
        (EDGES + 1, r"edge_index: expected nodes from 0 to 2 \(x has 3 rows\), got 3"),
        (EDGES - 1, r"edge_index: expected nodes from 0 to 2 \(x has 3 rows\), got -1"),
    ],
)
def test_unusable_edges_are_named(edge_index, message):
    with pytest.raises(InputError, match=message):
        check_graph(X, edge_index)


def test_devices_must_agree():
    with pytest.raises(InputError, match=r"one device, got cpu and meta: move both with .to\("):
        check_graph(X, EDGES.to("meta"))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "got none"),
        (torch.zeros(3), "got torch.float32"),
        (torch.zeros(2, dtype=torch.int64), r"got torch.int64 of shape \(2,\)"),
        (torch.tensor([0, -1, 1]), "got -1 as the smallest"),
    ],
)
def test_unusable_labels_are_named(y, message):
    with pytest.raises(
        InputError, match=rf"y: expected an int64 tensor of shape \(3,\).*{message}"
    ):
        check_labels(y, nodes=3)


@pytest.mark.parametrize("mask", [None, torch.zeros(3), torch.zeros(3, 1, dtype=torch.bool)])
def test_unusable_masks_are_named(mask):
    with pytest.raises(InputError, match=r"test_mask: expected a bool tensor of shape \(3,\), got"):
        check_mask("test_mask", mask, nodes=3)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0", None])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(InputError, match="seed: expected a whole number ≥ 0, got"):
        check_seed(seed)
