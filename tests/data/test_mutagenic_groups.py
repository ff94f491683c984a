"""The edges of NO₂ and NH₂ are those atoms' bonds, whatever order the reader puts them in."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from zorro.data import load_graphs
from zorro.data.mutagenic_groups import edges_in_groups
from zorro.errors import DatasetError

pytestmark = pytest.mark.usefixtures("data_dir", "paper_dir")
FILE = "mutagenicity_edge_truth.npz"


@pytest.fixture(scope="module")
def molecules(data_dir, paper_dir):
    return load_graphs("mutagenicity")


@pytest.fixture(scope="module")
def truths(molecules):
    return edges_in_groups(molecules.graphs)


def test_they_are_bonds_of_nitrogen_in_both_directions(molecules, truths):
    assert sum(int(truth.sum()) for truth in truths) == 7352
    bonds = set()
    for molecule, truth in zip(molecules.graphs, truths, strict=True):
        assert truth.shape == (molecule.num_edges,)
        ends = [tuple(pair) for pair in molecule.edge_index[:, truth].t().tolist()]
        assert {(v, u) for u, v in ends} == set(ends)
        atoms = [molecules.feature_names[i] for i in molecule.x.argmax(1).tolist()]
        bonds |= {(atoms[u], atoms[v]) for u, v in ends}
    assert bonds == {("N", "O"), ("O", "N"), ("N", "H"), ("H", "N")}


def test_a_nitro_group_has_both_of_its_oxygens(molecules, truths):
    """Of a plain look at the molecules: a nitrogen with two oxygens that have no other bond."""
    oxygen, nitrogen = (molecules.feature_names.index(atom) for atom in "ON")
    groups = found = 0
    for molecule, truth in zip(molecules.graphs[:500], truths, strict=False):
        atoms, ends = molecule.x.argmax(1).tolist(), molecule.edge_index.t().tolist()
        degree = torch.bincount(molecule.edge_index[0], minlength=molecule.num_nodes).tolist()
        for atom in (place for place, kind in enumerate(atoms) if kind == nitrogen):
            bonds = [
                bool(true)
                for (u, v), true in zip(ends, truth.tolist(), strict=True)
                if u == atom and atoms[v] == oxygen and degree[v] == 1
            ]
            if len(bonds) == 2:
                groups += 1
                found += all(bonds)
    assert groups > 100
    assert found >= 0.95 * groups  # some are nitrates, which are no nitro groups


def test_files_that_do_not_fit(molecules, monkeypatch, tmp_path, paper_dir):
    monkeypatch.setenv("ZORRO_MOLECULES", str(tmp_path))
    with pytest.raises(
        DatasetError, match=f"ZORRO_MOLECULES: expected a folder with a file {FILE}"
    ):
        edges_in_groups(molecules.graphs)
    np.savez(tmp_path / FILE, in_motif=np.zeros(5, dtype=np.int8))
    with pytest.raises(DatasetError, match=r"in_motif with 0 or 1 for each of 266894 edges, got"):
        edges_in_groups(molecules.graphs)
    shutil.copy(Path(paper_dir).parent / "molecules" / FILE, tmp_path / FILE)
    with pytest.raises(DatasetError, match="expected edges of these molecules, got others"):
        edges_in_groups(molecules.graphs[:7])
