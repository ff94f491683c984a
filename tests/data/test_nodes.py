import pytest
import torch
from torch_geometric.data import Data

from zorro.data import ba_community, paper_nodes, parse_nodes
from zorro.errors import DatasetError, InputError


@pytest.fixture
def data():
    """Ten nodes of which the last four are for testing."""
    return Data(x=torch.zeros(10, 1), test_mask=torch.arange(10) >= 6)


@pytest.fixture
def unsplit():
    return Data(x=torch.zeros(10, 1))


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        ("3", [3]),
        ("7,0, 3", [7, 0, 3]),
        ("3,3,1,3", [3, 1]),
        ("all", list(range(10))),
        (" ALL ", list(range(10))),
        ("test", [6, 7, 8, 9]),
        ("random:4", [6, 7, 8, 9]),
    ],
)
def test_notation(data, spec, nodes):
    assert parse_nodes(spec, data) == nodes


def test_random_nodes_come_from_the_test_nodes_by_seed(data):
    draws = [parse_nodes("random:2", data, seed=seed) for seed in range(20)]
    assert draws == [parse_nodes("random:2", data, seed=seed) for seed in range(20)]
    assert {node for draw in draws for node in draw} == {6, 7, 8, 9}
    assert all(first < second for first, second in draws)


def test_random_nodes_come_from_all_without_a_split(unsplit):
    assert parse_nodes("random:10", unsplit) == list(range(10))


@pytest.mark.parametrize("spec", ["", "x", "1,", "1;2", "1.5", "random", "random:", "random:-1"])
def test_other_notation_is_refused_with_the_forms(data, spec):
    with pytest.raises(InputError, match='nodes: expected "12,57", "random:20", "paper"'):
        parse_nodes(spec, data)


@pytest.mark.parametrize("node", [-1, 10])
def test_numbers_must_be_in_range(data, node):
    with pytest.raises(InputError, match=f"from 0 to 9, got {node}"):
        parse_nodes(f"1,{node}", data)


def test_random_count_must_be_available(data, unsplit):
    with pytest.raises(InputError, match=r"at most 4, .* test nodes, got 'random:5'"):
        parse_nodes("random:5", data)
    with pytest.raises(InputError, match="at most 10, as there are so many nodes"):
        parse_nodes("random:11", unsplit)
    with pytest.raises(InputError, match="at least 1"):
        parse_nodes("random:0", unsplit)


def test_test_nodes_need_a_mask(unsplit):
    with pytest.raises(InputError, match='expected a test_mask for "test", got none'):
        parse_nodes("test", unsplit)


def test_paper_nodes_need_a_name_and_the_papers_graph(data):
    with pytest.raises(InputError, match="nodes: expected one of the paper"):
        parse_nodes("paper", data)
    with pytest.raises(InputError, match="from 0 to 9, got 300"):
        parse_nodes("paper", data, dataset="ba-community")


def test_papers_motif_nodes():
    assert paper_nodes("BA_Community") == ba_community.motif_nodes()
    graph = ba_community.generate()
    assert parse_nodes("paper", graph, dataset="ba-community") == ba_community.motif_nodes()


@pytest.mark.parametrize(("name", "size"), [("cora", 2708), ("citeseer", 3327), ("pubmed", 19717)])
def test_papers_query_nodes(paper_dir, name, size):
    nodes = paper_nodes(name)
    assert len(nodes) == len(set(nodes)) == 300
    assert 0 <= min(nodes) <= max(nodes) < size


def test_unknown_query_nodes(monkeypatch, tmp_path):
    with pytest.raises(InputError, match="got 'amazon-computers': name the nodes"):
        paper_nodes("amazon-computers")
    monkeypatch.delenv("ZORRO_PAPER", raising=False)
    with pytest.raises(DatasetError, match=r"nodes/cora.txt is needed but ZORRO_PAPER is not set"):
        paper_nodes("cora")
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "cora.txt").write_text("1\ntwo\n")
    monkeypatch.setenv("ZORRO_PAPER", str(tmp_path))
    with pytest.raises(DatasetError, match="one node number a line"):
        paper_nodes("cora")
