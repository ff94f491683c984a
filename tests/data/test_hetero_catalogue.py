"""Graphs of several types by name and from files."""

import gzip
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import HeteroData
from torch_geometric.datasets import DBLP, IMDB, OGB_MAG
from torch_geometric.transforms import ToUndirected

from zorro.data import is_hetero_dataset, load_hetero
from zorro.data.dblp import FIELDS, VENUES
from zorro.data.hetero_catalogue import chosen_target
from zorro.errors import DatasetError, InputError

# Two authors, three papers, two venues, two terms.
TINY = {
    "a_x_indptr": np.array([0, 1, 3]),
    "a_x_indices": np.array([1, 0, 2]),
    "a_x_data": np.empty(0, np.float32),
    "a_x_shape": np.array([2, 3]),
    "p_x_indptr": np.array([0, 0, 1, 2]),
    "p_x_indices": np.array([0, 1]),
    "p_x_data": np.array([2.0, 1.0], np.float32),
    "p_x_shape": np.array([3, 2]),
    "pa": np.array([[0, 1, 2], [0, 0, 1]]),
    "pc": np.array([[0, 1, 2], [0, 1, 1]]),
    "pt": np.array([[0, 2], [1, 0]]),
    "y": np.array([1, 0], np.int16),
    "train": np.array([1]),
    "val": np.array([], np.int32),
    "test": np.array([0]),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a tiny file where ZORRO_HETERO says, some arrays changed."""
    monkeypatch.setenv("ZORRO_HETERO", str(tmp_path))

    def write(**changed):
        np.savez(tmp_path / "dblp.npz", **{**TINY, **changed})

    return write


def test_arrays_become_a_graph_with_ways_back(written):
    written()
    data = load_hetero("DBLP")
    assert data["author"].x.tolist() == [[0, 1, 0], [1, 0, 1]]  # no values are all ones
    assert data["paper"].x.tolist() == [[0, 0], [2, 0], [0, 1]]
    assert data["venue"].x.tolist() == data["term"].x.tolist() == [0, 1]
    assert data["author"].y.tolist() == [1, 0]
    assert data["author"].train_mask.tolist() == [False, True]
    assert not data["author"].val_mask.any()
    assert data["author", "writes", "paper"].edge_index.tolist() == [[0, 0, 1], [0, 1, 2]]
    assert data["paper", "rev_writes", "author"].edge_index.tolist() == [[0, 1, 2], [0, 0, 1]]
    assert data["paper", "in", "venue"].edge_index.tolist() == [[0, 1, 2], [0, 1, 1]]
    assert data["term", "rev_has", "paper"].edge_index.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"y": np.array([1.0, 2.0])}, "y: got float64"),
        ({"y": np.array([1])}, "y: expected a field for each of 2 authors, got 1"),
        ({"a_x_indices": np.array([1, 0, 3])}, "a_x_indices: expected columns from 0 to 2"),
        ({"a_x_indptr": np.array([0, 2, 1])}, "a_x_indptr: expected to rise from 0 to 3"),
        ({"p_x_indptr": np.array([0, 1])}, "p_x_indptr: expected one more than"),
        ({"p_x_data": np.array([1.0])}, "p_x_data: expected 2 values or none"),
        ({"pa": np.array([[3], [0]])}, "pa: expected papers from 0 to 2"),
        ({"pc": np.array([[0], [-1]])}, "pc: expected pairs of numbers from 0"),
        ({"test": np.array([7])}, "test: expected authors from 0 to 1"),
    ],
)
def test_a_damaged_file_is_refused_with_what_is_wrong(written, changed, problem):
    written(**changed)
    with pytest.raises(DatasetError, match=problem):
        load_hetero("dblp")


def test_a_missing_file_is_named_with_its_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("ZORRO_PAPER", raising=False)
    monkeypatch.delenv("ZORRO_HETERO", raising=False)
    with pytest.raises(DatasetError, match="ZORRO_HETERO is not set"):
        load_hetero("dblp")
    monkeypatch.setenv("ZORRO_HETERO", str(tmp_path))
    with pytest.raises(DatasetError, match="expected a folder with a file dblp"):
        load_hetero("dblp")


def test_the_real_one_has_its_size_and_its_venues_are_named_right(hetero_dir):
    data = load_hetero("dblp")
    assert {name: data[name].num_nodes for name in data.node_types} == {
        "author": 4057,
        "paper": 14328,
        "venue": 20,
        "term": 7723,
    }
    papers, venues = data["paper", "in", "venue"].edge_index
    written, authors = data["paper", "rev_writes", "author"].edge_index
    venue_of = torch.empty_like(venues)
    venue_of[papers] = venues
    # The field that most of a venue's authors are of.
    fields = torch.zeros(20, 4).index_put_(
        (venue_of[written], data["author"].y[authors]), torch.ones(()), accumulate=True
    )
    told = {VENUES[place]: FIELDS[field] for place, field in enumerate(fields.argmax(dim=1))}
    assert told["KDD"] == told["ICDM"] == told["SDM"] == "data mining"
    assert told["VLDB"] == told["SIGMOD"] == told["PODS"] == "databases"
    assert told["ICML"] == told["AAAI"] == told["CVPR"] == "artificial intelligence"
    assert told["SIGIR"] == told["ECIR"] == told["WWW"] == "information retrieval"


def as_published(folder, *, types, numbered=None, dense=None, seed=0):
    """Write files as those that PyG downloads for DBLP and IMDB, but few numbers."""
    draw = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for place, (count, columns) in enumerate(types):
        x = (draw.random((count, columns)) < 0.5).astype(np.float64)
        if place == dense:
            np.save(folder / f"features_{place}.npy", x)
        else:
            scipy.sparse.save_npz(folder / f"features_{place}.npz", scipy.sparse.csr_matrix(x))
    counts = [count for count, _ in types] + ([numbered] if numbered else [])
    every = sum(counts)
    upper = np.triu(draw.random((every, every)) < 0.3, 1)
    scipy.sparse.save_npz(folder / "adjM.npz", scipy.sparse.csr_matrix((upper | upper.T) * 1.0))
    np.save(folder / "labels.npy", draw.integers(0, 3, counts[0]))
    np.save(folder / "node_types.npy", np.repeat(np.arange(len(counts)), counts))
    order = draw.permutation(counts[0])
    parts: dict[str, Any] = {"train_idx": order[:2], "val_idx": order[2:3], "test_idx": order[3:]}
    np.savez(folder / "train_val_test_idx.npz", **parts)


def assert_same(ours: HeteroData, theirs: HeteroData, *, numbered=()):
    assert set(ours.node_types) == set(theirs.node_types)
    assert set(ours.edge_types) == set(theirs.edge_types)
    for store in theirs.node_stores:
        for name in ("x", "y", "train_mask", "val_mask", "test_mask"):
            if name in store:
                assert torch.equal(ours[store._key][name], store[name])
    for name in numbered:
        assert torch.equal(ours[name].x, torch.arange(theirs[name].num_nodes))
    for relation in theirs.edge_types:
        assert torch.equal(ours[relation].edge_index, theirs[relation].edge_index)


def test_published_matrices_are_read_as_pyg_reads_them(tmp_path, monkeypatch):
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path))
    as_published(tmp_path / "DBLP/raw", types=[(6, 3), (5, 4), (4, 2)], numbered=3, dense=2)
    as_published(tmp_path / "IMDB/raw", types=[(6, 3), (5, 4), (4, 2)])
    assert_same(load_hetero("dblp-pyg"), DBLP(str(tmp_path / "DBLP"))[0], numbered=["conference"])
    assert_same(load_hetero("imdb"), IMDB(str(tmp_path / "IMDB"))[0])


def test_published_tables_are_read_as_pyg_reads_them(tmp_path, monkeypatch):
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path))
    raw = tmp_path / "mag/raw"
    tables = {
        "node-feat/paper/node-feat.csv.gz": "0.5,1.0\n-1.25,0\n3,4\n",
        "node-feat/paper/node_year.csv.gz": "2001\n2002\n2003\n",
        "node-label/paper/node-label.csv.gz": "2\n0\n1\n",
        "num-node-dict.csv.gz": "author,field_of_study,institution,paper\n2,2,1,3\n",
        "relations/author___affiliated_with___institution/edge.csv.gz": "0,0\n1,0\n",
        "relations/author___writes___paper/edge.csv.gz": "0,0\n0,1\n1,2\n",
        "relations/paper___cites___paper/edge.csv.gz": "0,1\n2,0\n",
        "relations/paper___has_topic___field_of_study/edge.csv.gz": "0,1\n1,0\n",
        "split/time/paper/train.csv.gz": "0\n",
        "split/time/paper/valid.csv.gz": "2\n",
        "split/time/paper/test.csv.gz": "1\n",
    }
    for name, text in tables.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).write_bytes(gzip.compress(text.encode()))
    theirs = ToUndirected()(OGB_MAG(str(tmp_path))[0])
    numbered = ["author", "institution", "field_of_study"]
    assert_same(load_hetero("OGB-MAG"), theirs, numbered=numbered)


def test_files_of_ones_own(tmp_path):
    path = tmp_path / "own.npz"
    arrays: dict[str, Any] = {
        "author/x": np.ones((2, 3)),
        "author/y": np.array([0, 1]),
        "author/train_mask": np.array([True, False]),
        "venue/x": np.array([0, 1, 2], np.int32),
        "author/at/venue/edge_index": np.array([[0, 1], [2, 0]]),
    }
    np.savez(path, **arrays)
    assert is_hetero_dataset(str(path))
    data = load_hetero(path)
    assert (data["author"].x.dtype, data["venue"].x.dtype) == (torch.float32, torch.int64)
    assert data["author", "at", "venue"].edge_index.tolist() == [[0, 1], [2, 0]]
    for changed, message in [
        ({"author/y": np.array([0, -1])}, "author/y: expected an int64 tensor"),
        ({"author/train_mask": np.array([1, 0])}, "author/train_mask: expected a bool"),
        ({"author/colour": np.array([1, 0])}, "expected arrays as author/x"),
        ({"author/at/venue/edge_index": np.ones((2, 2))}, "expected whole numbers, got float64"),
        ({"author/at/shelf/edge_index": np.array([[0], [1]])}, "shelf/x: expected features"),
    ]:
        np.savez(path, **{**arrays, **changed})
        with pytest.raises((InputError, DatasetError), match=message):
            load_hetero(path)
    np.savez(path, x=np.ones((2, 3)), edge_index=np.array([[0], [1]]))
    assert not is_hetero_dataset(str(path))


def test_unknown_names_and_types_get_a_hint():
    with pytest.raises(InputError, match=r"got 'dlbp' \(did you mean 'dblp'\?\)"):
        load_hetero("dlbp")
    with pytest.raises(InputError, match="dataset: expected a name, the path"):
        load_hetero(3)
    data = HeteroData({"author": {"x": torch.ones(2, 1)}, "paper": {"x": torch.ones(2, 1)}})
    with pytest.raises(InputError, match=r"'author', 'paper', got 'autor' \(did you mean"):
        chosen_target(data, "autor")
    with pytest.raises(InputError, match="got none, and no type with classes"):
        chosen_target(data, None)
    data["paper"].y = torch.tensor([0, 1])
    assert chosen_target(data, None) == "paper"
