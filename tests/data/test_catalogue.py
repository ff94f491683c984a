import pytest
import torch
from torch_geometric.data import Data, HeteroData

from zorro.data import DATASETS, ba_community, load
from zorro.data.catalogue import canonical_name
from zorro.errors import DatasetError, InputError


@pytest.mark.parametrize("name", DATASETS)
def test_capitals_and_separators_do_not_matter(name):
    for spelling in (name.upper(), name.replace("-", "_"), name.replace("-", " ").title()):
        assert canonical_name(spelling) == name


def test_unknown_name_lists_the_known_and_the_nearest():
    with pytest.raises(InputError, match=r"amazon-computers, .*, got 'coar' \(did you mean 'cora'"):
        load("coar")
    with pytest.raises(InputError, match=r"got 'reddit'$"):
        load("reddit")


def test_seed_reaches_the_generator():
    assert torch.equal(load("ba-community", seed=2).x, ba_community.generate(seed=2).x)


def test_seed_is_checked():
    with pytest.raises(InputError, match="seed"):
        load("ba-community", seed=-1)


def test_data_is_returned_as_it_is():
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), extra="kept")
    assert load(data) is data


@pytest.mark.parametrize("dataset", [None, 3, HeteroData()])
def test_other_types_are_refused(dataset):
    with pytest.raises(InputError, match=f"dataset: expected .*, got {type(dataset).__name__}"):
        load(dataset)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (Data(edge_index=torch.tensor([[0], [0]])), "x"),
        (Data(x=torch.ones(2, 1)), "edge_index"),
        (Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [2]])), "edge_index"),
    ],
)
def test_data_is_checked(data, field):
    with pytest.raises(InputError, match=f"^{field}: expected"):
        load(data)


def test_papers_graph_needs_the_papers_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ZORRO_PAPER", raising=False)
    with pytest.raises(DatasetError, match="ZORRO_PAPER is not set: set it to the folder"):
        load("ba-community-paper")
    monkeypatch.setenv("ZORRO_PAPER", str(tmp_path))
    with pytest.raises(DatasetError, match=r"there is no file ba_community.npz in it"):
        load("ba-community-paper")
