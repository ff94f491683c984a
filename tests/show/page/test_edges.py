"""Runs whose sets are of edges, as pages and cards show them."""

import dataclasses
import json
from typing import Any

import pytest
import torch
from made_edges import EXPLAINED, edge_run
from made_molecules import ATOMS, BONDS, molecules
from made_runs import made_explanation, ring

from zorro.graph.names import Names
from zorro.question import Query
from zorro.show.page import payload
from zorro.show.page.graph_view import GraphView
from zorro.show.page.node_view import NodeView


def of_edges(edges, node=7, **graph):
    """An explanation that keeps edges alone."""
    e = made_explanation(node)
    return dataclasses.replace(
        e, selected={"edges": edges}, graph=dataclasses.replace(e.graph, edge_elements=36, **graph)
    )


def lines_of(scene):
    """What each line of a drawing stands for, by the ids of its ends."""
    ids = [node[0] for node in scene["nodes"]]
    ends = zip(scene["edges"][::2], scene["edges"][1::2], strict=True)
    return {
        tuple(sorted((ids[one], ids[other]))): elements
        for (one, other), elements in zip(ends, scene["elements"], strict=True)
    }


def test_a_run_is_told_in_edges(tmp_path):
    run = edge_run(tmp_path / "run")
    data = payload.of_run(run, NodeView(**ring()))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    summary = data["summary"]
    assert (summary["kept"], summary["medianEdges"]) == (["edges"], 36)
    assert summary["otherEdges"] == {"presence": 0.3, "effect": "structure"}
    for row in data["rows"]:
        e, shown = run.explanation(row["query"]), data["details"][str(row["query"])]
        ordered: list[Any] = e.ordered("edges")
        assert shown["edges"] == [f"{u}-{v}" for ((u, v),) in ordered]
        assert (row["edges"], row["nodes"], shown["nodes"]) == (len(e.edges), None, None)
        assert shown["values"] is None
        assert shown["lookedAt"].startswith("36 edges between 13 nodes")
        assert [step[0] for step in shown["steps"]][:2] == ["", "edge"]
        assert all(kind in ("", "edge") for kind, *_ in shown["steps"])
        assert set(shown["edges"]) <= {id for ids in shown["scene"]["elements"] for id in ids}
    assert [row["query"] for row in data["rows"]] == list(EXPLAINED)


def test_kept_edges_are_drawn_however_far_away_they_are():
    graph = ring(400)
    shown = payload.detail(of_edges(((7, 8), (200, 201))), NodeView(**graph))["scene"]
    lines = lines_of(shown)
    assert lines[200, 201] == ["200-201"]
    assert lines[7, 8] == ["7-8"]
    real = {tuple(sorted(pair)) for pair in graph["edge_index"].T.tolist()}
    assert set(lines) <= real


@pytest.mark.parametrize(
    ("directed", "expected"), [(False, ["0-1-0", "0-1-1"]), (True, ["0-1-0", "0-1-1", "1-0"])]
)
def test_a_line_stands_for_all_edges_between_its_nodes(directed, expected):
    graph: dict[str, Any] = {
        "x": torch.zeros(3, 5),
        "edge_index": torch.tensor([[0, 0, 1, 1], [1, 1, 0, 2]]),
    }
    e = of_edges((), node=0, directed=directed, num_nodes=3)
    assert lines_of(payload.detail(e, NodeView(**graph))["scene"])[0, 1] == expected


def test_bonds_of_molecules_are_edges():
    e = dataclasses.replace(of_edges(((5, 6), (6, 7))), query=Query("graph", 0))
    view = GraphView(molecules().graphs, BONDS, Names(feature="atom", features=ATOMS))
    lines = lines_of(payload.detail(e, view)["scene"])
    assert lines[5, 6] == ["5-6"]
    assert len(lines) == 9  # six of the ring, three of the tail NNO
