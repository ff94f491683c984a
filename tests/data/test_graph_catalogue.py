"""The door through which sets of graphs come in."""

import pytest
import torch
from torch_geometric.data import Data

from zorro.data import GRAPH_DATASETS, is_graph_dataset, load, load_graphs
from zorro.errors import InputError


def graphs(count, **changed):
    edge_index = torch.tensor([[0, 1], [1, 0]])
    return [
        Data(
            **{
                "x": torch.full((2, 3), float(number)),
                "edge_index": edge_index,
                "y": torch.tensor([number % 2]),
                **changed,
            }
        )
        for number in range(count)
    ]


def test_a_list_is_divided():
    given = graphs(20)
    dataset = load_graphs(given)
    assert all(kept is graph for kept, graph in zip(dataset.graphs, given, strict=True))
    assert [members.numel() for members in dataset.parts.values()] == [16, 2, 2]
    assert sorted(dataset.targets[dataset.test].tolist()) == [0, 1]
    assert load_graphs(dataset) is dataset


def test_seed_draws_the_split():
    given = graphs(50)
    first, again, other = (load_graphs(given, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(first.train, again.train)
    assert not torch.equal(first.train, other.train)
    with pytest.raises(InputError, match="seed: expected a whole number"):
        load_graphs(given, seed=-1)


def test_graphs_without_targets_are_in_no_part():
    dataset = load_graphs(graphs(20, y=None))
    assert not any(members.numel() for members in dataset.parts.values())


def test_a_list_is_checked():
    with pytest.raises(InputError, match=r"graphs\[1\].x: expected 3 features"):
        load_graphs([*graphs(1), *graphs(1, x=torch.ones(2, 2))])
    with pytest.raises(InputError, match=r"graphs: expected a list .*, got NoneType"):
        load_graphs(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", GRAPH_DATASETS)
def test_capitals_and_separators_do_not_matter(name):
    assert is_graph_dataset(name.upper())
    assert is_graph_dataset(f" {name[:3]}_{name[3:]}")
    assert not is_graph_dataset(f"./{name}")


def test_unknown_names_get_a_hint():
    with pytest.raises(InputError, match=r"one of ba-2motifs, .* 'MUTGA' \(did you mean 'mutag'"):
        load_graphs("MUTGA")
    with pytest.raises(InputError, match=r"got 'cora'$"):
        load_graphs("cora")


def test_the_door_for_one_graph_knows_the_other():
    with pytest.raises(InputError, match=r"'mutag', which is a set of graphs: .*load_graphs"):
        load("MUTAG")
    with pytest.raises(InputError, match=r"did you mean 'proteins'\?"):
        load("protein")
