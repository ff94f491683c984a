"""Explanations that earlier versions wrote are read as what they say."""

import json

import pytest
import torch
from torch_geometric.nn import GCN

from zorro import Explanation, Zorro
from zorro.errors import InputError


@pytest.fixture(scope="module")
def explanation():
    torch.manual_seed(0)
    here = torch.arange(20)
    edge_index = torch.stack([here, (here + 1) % 20])
    x = torch.randn(20, 5)
    return Zorro(GCN(5, 4, num_layers=2, out_channels=3), x, edge_index, tau=0.95).explain(3)


def as_first_written(explanation):
    """What a first version's `to_dict` gave."""
    values = json.loads(explanation.to_json())
    del values["format"], values["query"], values["selected"]
    del values["parameters"]["keep"], values["parameters"]["feature_groups"]
    values |= {
        "node": explanation.node,
        "nodes": list(explanation.nodes),
        "features": list(explanation.features),
        "steps": [
            {
                "node": step.node,
                "feature": step.feature,
                "fidelity": step.fidelity,
                "added": step.added,
            }
            for step in explanation.steps
        ],
    }
    return values


def test_the_first_format_is_read(explanation):
    assert explanation.nodes, "else little is tested"
    assert Explanation.from_dict(as_first_written(explanation)) == explanation


def test_what_is_written_has_its_number(explanation):
    values = json.loads(explanation.to_json())
    assert values["format"] == 5
    asked = {"level": "node", "index": 3, "to": None, "rivals": [], "types": [], "firsts": []}
    assert values["query"] == asked
    assert Explanation.from_dict(values) == explanation


def test_the_second_format_is_read(explanation):
    """Before links and values: a query was a level and a number, an answer a class."""
    values = json.loads(explanation.to_json())
    for name in ("value", "label", "ahead"):
        del values[name]
    second = {**values, "format": 2, "query": {"level": "node", "index": 3}}
    assert Explanation.from_dict(second) == explanation


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 6}, "format: expected 1 to 5, got 6"),
        ({"query": {"level": "edge", "index": 3}}, "query.level: expected one of 'node', 'graph'"),
        ({"query": {"level": "node", "index": 99}}, "query: expected ids from 0 to 19"),
        ({"selected": {"nodes": [99]}}, "nodes: expected ids from 0 to 19"),
        ({"selected": [1]}, "selected: expected an object, got list"),
        ({"selected": {"nodes": ["a"]}}, r"selected.nodes\[0\]: expected a whole number"),
        ({"selected": {"edges": [1]}}, r"selected.edges: expected edges \(u, v\), got 1"),
        ({"selected": {"nodes": [[1, 2]]}}, r"selected.nodes: expected numbers, got \(1, 2\)"),
        ({"selected": {"edges": [[1, 99]]}}, "edges: expected ids from 0 to 19"),
        ({"selected": {"stars": [1]}}, "selected: expected types, nodes, features, .*, got stars"),
    ],
)
def test_what_does_not_fit_is_refused(explanation, change, text):
    values = {**json.loads(explanation.to_json()), **change}
    with pytest.raises(InputError, match=text):
        Explanation.from_dict(values)


@pytest.mark.parametrize("missing", ["node", "nodes", "features", "steps"])
def test_a_first_format_with_something_missing_is_refused(explanation, missing):
    values = as_first_written(explanation)
    del values[missing]
    with pytest.raises(InputError, match=f"{missing} is missing"):
        Explanation.from_dict(values)
