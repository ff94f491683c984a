"""Sets of graphs in text files: read as they are, or refused."""

import os
import zipfile

import pytest
import torch
from torch_geometric.datasets import TUDataset

from zorro.data import load_graphs
from zorro.data.tu import read
from zorro.errors import DatasetError

# A triangle and a path of two nodes, with every kind of MUTAG's atoms and bonds in use.
TINY = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n3, 1\n1, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n1\n2\n6\n0\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n3\n3\n",
}


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder with a tiny MUTAG, which is given as ZORRO_DATA."""
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "MUTAG" / "raw"
    folder.mkdir(parents=True)
    for part, text in TINY.items():
        (folder / f"MUTAG_{part}.txt").write_text(text)
    return folder


def test_files_become_graphs(raw):
    triangle, path = read("MUTAG", edge_labels=True)
    assert triangle.x.argmax(dim=1).tolist() == [0, 1, 2]
    assert path.x.argmax(dim=1).tolist() == [6, 0]
    assert path.x.sum(dim=1).tolist() == [1, 1]
    assert triangle.edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    assert triangle.edge_attr.argmax(dim=1).tolist() == [0, 2, 0, 1, 2, 1]
    assert path.edge_index.tolist() == [[0, 1], [1, 0]]
    assert path.edge_attr.tolist() == [[0, 0, 0, 1]] * 2
    assert (triangle.y.tolist(), path.y.tolist()) == ([1], [0])  # raw labels 1 and −1


def test_nothing_is_written(raw):
    before = sorted(path.name for path in raw.iterdir())
    load_graphs("mutag")
    assert sorted(path.name for path in raw.iterdir()) == before
    assert [path.name for path in raw.parent.iterdir()] == ["raw"]


def test_attributes_beside_the_labels_are_left_out(raw):
    plain = read("MUTAG", edge_labels=True)
    (raw / "MUTAG_node_attributes.txt").write_text("0.5\n" * 5)
    (raw / "MUTAG_edge_attributes.txt").write_text("0.5, 2\n" * 8)
    for graph, before in zip(read("MUTAG", edge_labels=True), plain, strict=True):
        assert torch.equal(graph.x, before.x)
        assert torch.equal(graph.edge_attr, before.edge_attr)


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("A", "1, 2\nnonsense\n", "MUTAG could not be downloaded or read"),
        (
            "A",
            TINY["A"].replace("4, 5", "3, 5"),
            r"damaged \(graphs\[0\]: edge_index: expected nodes",
        ),
        ("graph_indicator", "1\n1\n2\n1\n2\n", r"graph_indicator.txt: expected numbers 1, 1, …"),
        ("graph_indicator", "1\n1\n1\n3\n3\n", r"graph_indicator.txt: expected numbers 1, 1, …"),
        ("graph_indicator", "", "MUTAG could not be downloaded or read"),
        ("graph_labels", "1\n-1\n1\n", "expected a line for each of 2 graphs, got 3"),
        ("node_labels", "0\n6\n", "MUTAG could not be downloaded or read|line for each of 5 nodes"),
        ("node_labels", "0\n1\n2\n6\n0\n0\n", "expected a line for each of 5 nodes, got 6"),
        ("node_labels", "0\n1\n2\n3\n0\n", r"damaged \(feature_names: expected 4 names, got 7"),
        ("edge_labels", "0\n3\n", "MUTAG could not be downloaded or read"),
    ],
)
def test_damaged_files_are_refused(raw, part, text, message):
    (raw / f"MUTAG_{part}.txt").write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        load_graphs("mutag")
    assert "\n" not in str(caught.value)


def test_a_pipe_is_not_waited_for(raw):
    (raw / "MUTAG_A.txt").unlink()
    os.mkfifo(raw / "MUTAG_A.txt")
    with pytest.raises(DatasetError, match=r"MUTAG_A.txt: expected a file"):
        load_graphs("mutag")


def packed(folder, names):
    """Write the collection's archive of the tiny data set, with the files named."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "MUTAG.zip", "w") as archive:
        for part in names:
            archive.writestr(f"MUTAG/MUTAG_{part}.txt", TINY[part])
    return f"file://{folder}"


def test_what_is_missing_is_downloaded(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(TUDataset, "url", packed(tmp_path / "published", TINY))
    (raw / "MUTAG_A.txt").unlink()
    (raw / "MUTAG_graph_labels.txt").write_text("5\n7\n")  # which is kept
    assert [graph.y.item() for graph in load_graphs("mutag").graphs] == [0, 1]
    assert len(list(raw.iterdir())) == len(TINY)


def test_a_failed_download_leaves_nothing(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(TUDataset, "url", packed(tmp_path / "published", ["graph_labels"]))
    for path in raw.iterdir():
        path.unlink()
    with pytest.raises(DatasetError, match="MUTAG could not be downloaded or read") as caught:
        load_graphs("mutag")
    assert "\n" not in str(caught.value)
    assert not list(raw.iterdir())


# Graphs, mean nodes, features, edge labels, and the size of each class, as published.
STATISTICS = {
    "mutag": (188, 17.93, 7, 4, {"non-mutagen": 63, "mutagen": 125}),
    "mutagenicity": (4337, 30.32, 14, 3, {"mutagen": 2401, "non-mutagen": 1936}),
    "proteins": (1113, 39.06, 3, 0, {"enzyme": 663, "non-enzyme": 450}),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_are_the_published_ones(data_dir, name):
    dataset = load_graphs(name)
    graphs, nodes, features, bonds, classes = STATISTICS[name]
    sizes = [graph.num_nodes for graph in dataset.graphs]
    assert (len(sizes), round(sum(sizes) / len(sizes), 2)) == (graphs, nodes)
    assert (dataset.num_features, len(dataset.feature_names)) == (features, features)
    assert len(dataset.edge_label_names) == bonds
    counts = dataset.targets.bincount().tolist()
    assert dict(zip(dataset.class_names, counts, strict=True)) == classes
    divided = [members.numel() for members in dataset.parts.values()]
    assert sum(divided) == graphs
    assert divided[1:] == [graphs // 10, graphs // 10]


def test_atoms_have_the_bonds_of_their_element(data_dir):
    """Hydrogen, fluorine and bromine end a molecule, carbon has up to four neighbours."""
    dataset = load_graphs("mutagenicity")
    most = dict.fromkeys(dataset.feature_names, 0)
    for graph in dataset.graphs:
        degrees = graph.edge_index[0].bincount(minlength=graph.num_nodes).tolist()
        for atom, degree in zip(graph.x.argmax(dim=1).tolist(), degrees, strict=True):
            most[dataset.feature_names[atom]] = max(most[dataset.feature_names[atom]], degree)
    assert (most["H"], most["F"], most["Br"], most["C"]) == (1, 1, 1, 4)
