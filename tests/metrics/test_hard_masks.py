import math
import os
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch_geometric.datasets import Planetoid
from torch_geometric.nn import GCNConv
from torch_geometric.utils import k_hop_subgraph

from zorro.errors import InputError
from zorro.metrics import effective_size, normalise_and_threshold, top_fraction, top_k

needs_the_papers_material = pytest.mark.skipif(
    not (os.environ.get("ZORRO_DATA") and os.environ.get("ZORRO_PAPER")),
    reason="needs the data sets and the paper's models and query nodes (ZORRO_DATA, ZORRO_PAPER)",
)


def indices(mask):
    return mask.nonzero().flatten().tolist()


def test_top_k_takes_the_highest():
    mask = torch.tensor([0.1, 0.9, -3.0, 0.5, 0.7])
    assert indices(top_k(mask, k=1)) == [1]
    assert indices(top_k(mask, k=3)) == [1, 3, 4]
    assert indices(top_k(mask, k=9)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
def test_ties_go_to_the_lower_index(dtype):
    mask = torch.zeros(1000, dtype=dtype)
    mask[[500, 900]] = 1
    assert indices(top_k(mask, k=5)) == [0, 1, 2, 500, 900]
    assert indices(top_k(torch.ones(1000, dtype=dtype), k=5)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("fraction", "length", "kept"),
    [
        (0.5, 4, 2),
        (0.5, 5, 2),
        (0.3, 10, 3),
        (1 - 0.7, 10, 3),
        (0.3, 3, 1),  # at least one
        (0.5, 1, 1),
        (0.29, 100, 29),  # 28.999999999999996 in floating point
        (1.0, 7, 7),
    ],
)
def test_top_fraction_rounds_down_but_keeps_one(fraction, length, kept):
    mask = torch.rand(length, generator=torch.Generator().manual_seed(0))
    assert torch.equal(top_fraction(mask, fraction=fraction), top_k(mask, k=kept))


@pytest.mark.parametrize(
    ("features", "half", "three_tenths"),
    [(1433, 6.57, 6.06), (3703, 7.52, 7.01), (500, 5.52, 5.01)],  # Cora, CiteSeer, PubMed
)
def test_the_papers_feature_sparsity_of_s_05_and_s_07(features, half, three_tenths):
    mask = torch.rand(features, generator=torch.Generator().manual_seed(0))
    assert round(effective_size(top_fraction(mask, fraction=0.5)), 2) == half
    assert round(effective_size(top_fraction(mask, fraction=0.3)), 2) == three_tenths


def neighbourhood_sizes(name, data, paper):
    graph = pickle.loads(
        (data / name / "raw" / f"ind.{name.lower()}.graph").read_bytes(), encoding="latin1"
    )
    neighbours = {node: set(others) for node, others in graph.items()}
    for node, others in graph.items():
        for other in others:
            neighbours.setdefault(other, set()).add(node)
    for text in (paper / "nodes" / f"{name.lower()}.txt").read_text().split():
        query = int(text)
        near = {query} | neighbours.get(query, set())
        yield len(near.union(*(neighbours.get(node, set()) for node in near)))


@needs_the_papers_material
@pytest.mark.parametrize(
    ("name", "half", "three_tenths"),
    [("Cora", 2.33, 1.83), ("CiteSeer", 1.30, 1.08), ("PubMed", 2.80, 2.26)],
)
def test_the_papers_node_sparsity_of_s_05_and_s_07(name, half, three_tenths):
    sizes = list(
        neighbourhood_sizes(name, Path(os.environ["ZORRO_DATA"]), Path(os.environ["ZORRO_PAPER"]))
    )
    assert len(sizes) == 300
    for fraction, published in ((0.5, half), (0.3, three_tenths)):
        # The paper's mean leaves out the graphs of which it selects nothing.
        counted = [size for size in sizes if math.floor(fraction * size + 1e-9) > 0]
        entropies = [
            effective_size(top_fraction(torch.arange(size), fraction=fraction)) for size in counted
        ]
        assert round(sum(entropies) / len(entropies), 2) == published


def test_normalise_and_threshold_by_hand():
    # Stretched: 0, .01, .02, 1.
    mask = torch.tensor([1.0, 1.01, 1.02, 2.0], dtype=torch.float64)
    assert indices(normalise_and_threshold(mask, threshold=0.015)) == [2, 3]
    assert indices(normalise_and_threshold(mask, threshold=0.5)) == [3]
    assert indices(normalise_and_threshold(mask, threshold=0.0)) == [1, 2, 3]


@needs_the_papers_material
def test_the_papers_sparsity_of_nt_for_gradient_times_input(tmp_path):
    paper = Path(os.environ["ZORRO_PAPER"])
    (tmp_path / "Cora").mkdir()
    (tmp_path / "Cora" / "raw").symlink_to(Path(os.environ["ZORRO_DATA"]).resolve() / "Cora/raw")
    data = Planetoid(str(tmp_path), "Cora")[0]
    layers = torch.nn.ModuleDict({"conv1": GCNConv(1433, 16), "conv2": GCNConv(16, 7)})
    layers.load_state_dict(load_file(paper / "checkpoints" / "cora_gcn.safetensors"))

    node_sizes, feature_sizes = [], []
    for query in map(int, (paper / "nodes" / "cora.txt").read_text().split()):
        nodes, edge_index, row, _ = k_hop_subgraph(query, 2, data.edge_index, relabel_nodes=True)
        x = data.x[nodes].requires_grad_()
        hidden = layers["conv1"](x, edge_index).relu()
        scores = layers["conv2"](hidden, edge_index)[int(row)]
        (gradient,) = torch.autograd.grad(scores.log_softmax(dim=0).max(), x)
        importance = (gradient * x.detach()).abs()  # (n, d)
        node_sizes.append(effective_size(normalise_and_threshold(importance.sum(dim=1))))
        feature_sizes.append(effective_size(normalise_and_threshold(importance.sum(dim=0))))
    assert round(sum(node_sizes) / 300, 2) == 2.81
    assert round(sum(feature_sizes) / 300, 2) == 4.59


def test_the_threshold_itself_is_left_out():
    assert indices(
        normalise_and_threshold(torch.tensor([0.0, 0.25, 0.5, 1.0]), threshold=0.25)
    ) == [
        2,
        3,
    ]


def test_normalising_undoes_shift_and_scale():
    mask = torch.rand(200, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    selected = normalise_and_threshold(mask)
    assert torch.equal(normalise_and_threshold(mask * 8 - 2), selected)


@pytest.mark.parametrize(
    ("value", "kept"),
    [(0.7, [0, 1, 2]), (0.0, []), (-1.0, [])],
    ids=["positive", "zero", "negative"],
)
def test_a_constant_mask_is_taken_whole_or_not_at_all(value, kept):
    assert indices(normalise_and_threshold(torch.full((3,), value))) == kept


def test_an_empty_mask_stays_empty():
    nothing = torch.zeros(0)
    for hard in (
        top_k(nothing, k=5),
        top_fraction(nothing, fraction=0.5),
        normalise_and_threshold(nothing),
    ):
        assert hard.dtype == torch.bool
        assert hard.shape == (0,)


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(k):
    with pytest.raises(InputError, match="k: expected"):
        top_k(torch.ones(3), k=k)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, 30, math.nan])
def test_a_fraction_must_be_one(fraction):
    with pytest.raises(InputError, match="fraction"):
        top_fraction(torch.ones(3), fraction=fraction)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, math.nan])
def test_a_threshold_must_lie_in_the_range(threshold):
    with pytest.raises(InputError, match="threshold"):
        normalise_and_threshold(torch.ones(3), threshold=threshold)


def test_importances_must_be_finite():
    broken = torch.tensor([0.1, math.nan])
    for harden in (
        lambda: top_k(broken, k=1),
        lambda: top_fraction(broken, fraction=0.5),
        lambda: normalise_and_threshold(broken),
    ):
        with pytest.raises(InputError, match="finite"):
            harden()
