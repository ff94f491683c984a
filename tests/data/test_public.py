import os
import pickle
import shutil

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


@pytest.fixture
def cora(data_dir, tmp_path, monkeypatch):
    """A copy of Cora's published files, in a folder that is given as ZORRO_DATA."""
    raw = tmp_path / "Cora" / "raw"
    shutil.copytree(data_dir / "Cora" / "raw", raw, copy_function=shutil.copyfile)
    raw.chmod(0o755)
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path))
    monkeypatch.delenv("ZORRO_TRUST_DATA", raising=False)
    return raw


class Code:
    """A pickle that makes a folder when it is read."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_pickles_that_were_not_published_are_not_read(cora, tmp_path, monkeypatch):
    path, mark = cora / "ind.cora.x", tmp_path / "ran"
    path.write_bytes(pickle.dumps(Code(mark)))
    with pytest.raises(DatasetError, match=r"ind.cora.x: expected the published .*TRUST_DATA=1"):
        load("cora")
    assert not mark.exists()
    monkeypatch.setenv("ZORRO_TRUST_DATA", "1")
    with pytest.raises(DatasetError, match="could not be downloaded or read"):
        load("cora")
    assert mark.exists(), "the file would have run code"


@pytest.mark.parametrize("name", ["data.pt", "pre_transform.pt", "pre_filter.pt"])
def test_processed_files_are_not_read(cora, tmp_path, name):
    mark = tmp_path / "ran"
    (cora.parent / "processed").mkdir()
    torch.save(Code(mark), cora.parent / "processed" / name)
    assert load("cora").num_nodes == 2708
    assert not mark.exists()


def test_files_that_anyone_made_are_read_when_they_are_trusted(cora, monkeypatch):
    path = cora / "ind.cora.test.index"
    path.write_bytes(b" " + path.read_bytes())
    with pytest.raises(DatasetError, match=r"ind.cora.test.index: expected the published"):
        load("cora")
    monkeypatch.setenv("ZORRO_TRUST_DATA", "1")
    assert load("cora").num_nodes == 2708


def test_a_download_that_broke_off_is_completed(cora, tmp_path, monkeypatch):
    published = tmp_path / "published"
    published.mkdir()
    for name in ("ind.cora.tx", "ind.cora.graph"):
        (cora / name).rename(published / name)
    monkeypatch.setattr(Planetoid, "url", f"file://{published}")
    assert load("cora").num_nodes == 2708
    assert len(list(cora.iterdir())) == 8


def test_a_pipe_is_not_waited_for(cora):
    (cora / "ind.cora.y").unlink()
    os.mkfifo(cora / "ind.cora.y")
    with pytest.raises(DatasetError, match=r"ind.cora.y: expected a file"):
        load("cora")
