"""Runs of graphs of several types."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.append(str(Path(__file__).parents[1]))

from made_hetero import Convolved, library

from zorro import Zorro, explain_graphs, explain_hetero, open_run
from zorro.errors import InputError, RunError
from zorro.runs.export import to_csv

OPTIONS: dict[str, Any] = {"max_seconds": 60, "samples": 50}


@pytest.fixture(scope="module")
def made():
    data = library()
    return data, Convolved(data)


def test_a_run_holds_what_each_node_alone_would_get(made, tmp_path):
    data, model = made
    run = explain_hetero(model, data, "paper", [3, 7], out=tmp_path / "run", **OPTIONS)
    alone = Zorro.of_hetero(model, data, "paper", **OPTIONS)
    for number in (3, 7):
        found, expected = run.explanation(number), alone.explain(number)
        assert (found.selected, found.fidelity) == (expected.selected, expected.fidelity)
        assert str(found.query) == f"paper {number}"
    assert repr(run).count("2 of 2 papers explained") == 1
    with pytest.raises(
        InputError, match=r"paper: expected one that has been explained in .*, got 5"
    ):
        run.explanation(5)


def test_processes_and_resuming_give_the_same(made, tmp_path):
    data, model = made
    mask = torch.zeros(30, dtype=torch.bool)
    mask[[1, 4, 9]] = True
    one = explain_hetero(
        model, data, "author", mask, out=tmp_path / "one", engine="in-process", **OPTIONS
    )
    other = explain_hetero(
        model, data, "author", mask, out=tmp_path / "two", engine="processes", workers=1, **OPTIONS
    )
    assert [e.selected for e in one] == [e.selected for e in other]
    ended: list[Any] = []
    explain_hetero(
        model, data, "author", mask, out=tmp_path / "one", on_outcome=ended.append, **OPTIONS
    )
    assert ended == []
    with pytest.raises(RunError, match="holds another run; it differs in data"):
        explain_hetero(model, data, "paper", mask[:0].new_ones(40), out=tmp_path / "one", **OPTIONS)


def test_exports_tell_types(made, tmp_path):
    data, model = made
    run = explain_hetero(model, data, "paper", [3], out=tmp_path / "run", **OPTIONS)
    to_csv(run, tmp_path / "run.csv")
    (row,) = csv.DictReader((tmp_path / "run.csv").open())
    (found,) = open_run(tmp_path / "run")
    assert (row["type"], row["node"], row["level"]) == ("paper", "3", "node")
    expected = [f"{name} {each}" for name, own in found.nodes.items() for each in own]
    assert sorted(json.loads(row["nodes"])) == sorted(expected)
    coarse = explain_hetero(
        model, data, "author", [3], out=tmp_path / "coarse", keep=("relations",), **OPTIONS
    )
    to_csv(coarse, tmp_path / "coarse.csv")
    (row,) = csv.DictReader((tmp_path / "coarse.csv").open())
    (found,) = coarse
    assert json.loads(row["relations"]) == ["–".join(each) for each in found.relations]


def test_links_between_types(tmp_path):
    data = library()

    class Pairs(torch.nn.Module):
        def forward(self, x_dict, edge_index_dict, edge_label_index):
            u, v = edge_label_index
            return x_dict["author"][u, 0] + x_dict["paper"][v, 1]

    relation = ("author", "writes", "paper")
    run = explain_hetero(
        Pairs(), data, relation, [(2, 5), (0, 39)], out=tmp_path / "run", threshold=0.0, **OPTIONS
    )
    alone = Zorro.of_hetero(Pairs(), data, relation, threshold=0.0, **OPTIONS)
    assert run.explanation((0, 39)).selected == alone.explain((0, 39)).selected
    to_csv(run, tmp_path / "run.csv")
    rows = list(csv.DictReader((tmp_path / "run.csv").open()))
    assert [(row["source"], row["target"]) for row in rows] == [("2", "5"), ("0", "39")]
    assert {row["type"] for row in rows} == {"author–paper"}


def test_what_cannot_be_asked_is_refused_in_one_line(made, tmp_path):
    data, model = made
    wrong: list[tuple[tuple[Any, ...], str]] = [
        (("editor", [3]), "target: expected one of the types 'author', 'paper', 'venue'"),
        (("author", [30]), "nodes: expected whole numbers from 0 to 29"),
        (("author", []), "nodes: expected at least one"),
        ((("author", "writes", "paper"), [(3, 40)]), r"pairs\[0\]: expected"),
    ]
    for given, message in wrong:
        with pytest.raises(InputError, match=message):
            explain_hetero(model, data, *given, out=tmp_path / "run", **OPTIONS)
    with pytest.raises(InputError, match="data: expected PyG's HeteroData"):
        explain_hetero(model, data.to_homogeneous(), "author", [3], out=tmp_path / "run")


class Pooled(torch.nn.Module):
    """Adds up what a graph's authors get."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x_dict, edge_index_dict, batch_dict):
        scores = self.inner(x_dict, edge_index_dict)["author"]
        batch = batch_dict["author"]
        return scores.new_zeros(int(batch.max()) + 1, 3).index_add(0, batch, scores)


def test_whole_graphs_of_several_types(tmp_path):
    graphs = [library(seed=seed, authors=4, papers=5) for seed in range(4)]
    model = Pooled(Convolved(graphs[0]))
    options: dict[str, Any] = {**OPTIONS, "keep": ("nodes",), "tau": 0.9}
    run = explain_graphs(model, graphs, [0, 2], out=tmp_path / "run", **options)
    alone = Zorro.of_graphs(model, graphs, **options)
    assert [e.selected for e in run] == [alone.explain(number).selected for number in (0, 2)]
    to_csv(run, tmp_path / "run.csv")
    rows = list(csv.DictReader((tmp_path / "run.csv").open()))
    assert [(row["graph"], row["type"]) for row in rows] == [("0", "graph"), ("2", "graph")]
    for row, found in zip(rows, run, strict=True):
        expected = [f"{name} {each}" for name, own in found.nodes.items() for each in own]
        assert sorted(json.loads(row["nodes"])) == sorted(expected)
