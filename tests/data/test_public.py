import pytest
import torch
from torch_geometric.datasets import Planetoid

from zorro.data import load
from zorro.data.public import split
from zorro.errors import DatasetError

# The paper's table "Datasets and statistics": classes, features, nodes, edges.
STATISTICS = {
    "cora": (7, 1433, 2708, 10556),
    "citeseer": (6, 3703, 3327, 9104),
    "pubmed": (3, 500, 19717, 88648),
    "amazon-computers": (10, 767, 13752, 491722),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_are_the_papers(real_graph, name):
    data = real_graph(name)
    classes = int(data.y.max()) + 1
    found = (classes, data.num_features, data.num_nodes, data.num_edges)
    assert found == STATISTICS[name]
    assert int(data.test_mask.sum()) == 1000
    assert data.y[data.train_mask].bincount().tolist() == [20] * classes


def test_features_are_not_normalised(real_graph):
    assert real_graph("cora").x.unique().tolist() == [0, 1]


def test_amazon_split_depends_on_the_seed_alone(real_graph):
    first, again = real_graph("amazon-computers"), load("amazon-computers")
    other = load("amazon-computers", seed=1)
    for name in ("train_mask", "test_mask"):
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name], other[name])


def test_split_takes_disjoint_nodes_per_class():
    y = torch.tensor([2] * 50 + [0] * 30 + [1] * 20)
    train_mask, test_mask = split(y, per_class=5, test=60, seed=7)
    assert y[train_mask].bincount().tolist() == [5, 5, 5]
    assert int(test_mask.sum()) == 60
    assert not (train_mask & test_mask).any()


def test_failed_download_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path))
    monkeypatch.setattr(Planetoid, "url", f"file://{tmp_path}/nowhere")
    with pytest.raises(DatasetError, match=r"Cora could not be downloaded or read") as caught:
        load("cora")
    assert "\n" not in str(caught.value)


def test_broken_download_says_what_to_delete(tmp_path, monkeypatch):
    raw = tmp_path / "Cora" / "raw"
    raw.mkdir(parents=True)
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (raw / f"ind.cora.{part}").write_bytes(b"")
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=f"delete {tmp_path / 'Cora'} if a download was broken"):
        load("cora")
