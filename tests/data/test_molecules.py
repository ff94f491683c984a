"""Molecules whose deciding atoms are known."""

import shutil
from typing import Any

import numpy as np
import pytest
import torch

from zorro.data import load_graphs
from zorro.errors import DatasetError

# Ethanol's carbons and oxygen, and carbon monoxide with a triple bond.
TINY: dict[str, Any] = {
    "atom": np.array([0, 0, 2, 0, 2], np.uint8),
    "edge_index": np.array([[0, 1, 1, 2, 0, 1], [1, 0, 2, 1, 1, 0]], np.int16),
    "edge_attr": np.eye(5, dtype=np.uint8)[[0, 0, 0, 0, 2, 2]],
    "num_nodes": np.array([3, 2], np.int32),
    "num_edges": np.array([4, 2], np.int32),
    "y": np.array([0, 1], np.float32),
    "attribution": np.array([[0, np.nan]] * 3 + [[1, 0], [0, 1]], np.float32),
    "train": np.array([1], np.int32),
    "test": np.array([0], np.int32),
    "smiles": np.array(["CCO", "C#O"]),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a tiny file of molecules, some arrays changed, where ZORRO_MOLECULES says."""
    monkeypatch.setenv("ZORRO_MOLECULES", str(tmp_path))

    def write(name="benzene", **changed):
        np.savez(tmp_path / f"{name}.npz", **{**TINY, **changed})

    return write


@pytest.fixture(scope="session")
def molecules_dir(paper_dir):
    folder = paper_dir.absolute().parent / "molecules"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}: it should hold the molecules")
    return folder


def test_arrays_become_molecules(written):
    written()
    dataset = load_graphs("benzene")
    ethanol, monoxide = dataset.graphs
    assert [dataset.feature_names[atom] for atom in ethanol.x.argmax(dim=1)] == ["C", "C", "O"]
    assert ethanol.x.shape == (3, 14)
    assert ethanol.x.sum(dim=1).tolist() == [1, 1, 1]
    assert ethanol.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert monoxide.edge_index.tolist() == [[0, 1], [1, 0]]
    assert [dataset.edge_label_names[bond] for bond in monoxide.edge_attr.argmax(dim=1)] == [
        "triple",
        "triple",
    ]
    assert monoxide.attribution.tolist() == [[1, 0], [0, 1]]
    assert ethanol.attribution.isnan().tolist() == [[False, True]] * 3
    assert dataset.targets.tolist() == [0, 1]
    assert dataset.targets.dtype == torch.int64
    assert (dataset.train.tolist(), dataset.test.tolist()) == ([1], [0])
    assert dataset.smiles == ("CCO", "C#O")


def test_values_stay_values(written):
    written("crippen", y=np.array([-0.5, 2.5], np.float32))
    dataset = load_graphs("crippen")
    assert not dataset.has_classes
    assert dataset.targets.tolist() == [-0.5, 2.5]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"atom": TINY["atom"][:-1]}, r"atom: expected shape \(5,\), got \(4,\)"),
        ({"atom": TINY["atom"] + 12}, "atom: expected classes from 0 to 13, got 14"),
        ({"edge_index": TINY["edge_index"][:, 1:]}, r"edge_index: expected shape \(2, 6\)"),
        ({"edge_index": TINY["edge_index"] + 1}, r"damaged \(graphs\[0\]: edge_index: expected"),
        ({"edge_attr": TINY["edge_attr"][:, :4]}, r"edge_attr: expected shape \(6, 5\)"),
        ({"num_nodes": np.array([6, -1])}, "num_nodes: expected counts, got -1"),
        ({"num_nodes": np.array([5, 0])}, r"damaged \(graphs\[1\]: x: expected"),
        ({"y": np.array([0.0])}, r"y: expected shape \(2,\), got \(1,\)"),
        ({"test": np.array([2])}, r"damaged \(test: expected numbers from 0 to 1, got 2"),
        ({"train": np.array([5])}, "train: expected numbers from 0 to 1, got 5"),
        ({"train": np.array([0.5])}, "train: got float64 of shape"),
        ({"smiles": np.array(["C"])}, r"smiles: expected shape \(2,\)"),
        ({"smiles": np.array(["CCO", None])}, "not a readable .npz of plain arrays .*allow_pickle"),
    ],
)
def test_damaged_files_are_refused(written, changed, message):
    written(**changed)
    with pytest.raises(DatasetError, match=message):
        load_graphs("benzene")


def test_a_missing_array_is_named(written, tmp_path):
    np.savez(tmp_path / "benzene.npz", atom=TINY["atom"])
    with pytest.raises(DatasetError, match=r"expected an array 'edge_index', got atom"):
        load_graphs("benzene")


def test_where_molecules_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("ZORRO_MOLECULES", raising=False)
    monkeypatch.setenv("ZORRO_PAPER", str(tmp_path / "paper"))
    with pytest.raises(DatasetError, match=r"benzene.npz is needed but ZORRO_MOLECULES is not"):
        load_graphs("benzene")
    (tmp_path / "molecules").mkdir()
    with pytest.raises(DatasetError, match=r"expected a folder with a file benzene.npz"):
        load_graphs("benzene")
    np.savez(tmp_path / "molecules" / "benzene.npz", **TINY)
    assert len(load_graphs("benzene").graphs) == 2
    shutil.move(tmp_path / "molecules", tmp_path / "elsewhere")
    monkeypatch.setenv("ZORRO_MOLECULES", str(tmp_path / "elsewhere"))
    assert len(load_graphs("benzene").graphs) == 2


@pytest.mark.parametrize(("name", "graphs"), [("benzene", 12_000), ("crippen", 1127)])
def test_atoms_are_those_of_the_smiles(molecules_dir, name, graphs):
    dataset = load_graphs(name)
    assert len(dataset.graphs) == graphs
    for graph, smiles in list(zip(dataset.graphs, dataset.smiles, strict=True))[:300]:
        atoms = [dataset.feature_names[atom] for atom in graph.x.argmax(dim=1).tolist()]
        for letter in ("Br", "Cl", "F", "I"):
            assert atoms.count(letter) == smiles.count(letter), smiles
        sulphur = smiles.replace("Si", "").lower().count("s")
        assert atoms.count("S") == sulphur, smiles
        triple = dataset.edge_label_names.index("triple")
        assert int(graph.edge_attr[:, triple].sum()) == 2 * smiles.count("#"), smiles


def test_truths_of_a_molecule_are_its_rings_and_what_unites_some(molecules_dir):
    dataset = load_graphs("benzene")
    assert dataset.test.numel() == 2000
    assert (dataset.train.numel(), dataset.val.numel()) == (9000, 1000)
    for graph in dataset.graphs[:500]:
        used = ~graph.attribution.isnan().any(dim=0)  # (k,)
        sizes = graph.attribution[:, used].sum(dim=0).tolist()
        rings = sizes.count(6)
        assert bool(rings) == bool(graph.y.item())
        assert len(sizes) == max(1, 2**rings - 1)


def test_contributions_add_up_to_the_value(molecules_dir):
    """Crippen's logP is the sum of what its atoms contribute, hydrogens among them."""
    dataset = load_graphs("crippen")
    sums = torch.stack([graph.attribution[:, 0].sum() for graph in dataset.graphs])
    torch.testing.assert_close(sums, dataset.targets, atol=1e-3, rtol=0)
