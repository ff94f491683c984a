"""What a data set has for its edges reaches the model in every command, or it is said or refused.

The model here multiplies dense matrices, so that what it says of a weighted graph can be computed
without any of our code; explanations are compared with those of `Zorro(…, model_kwargs=…)`.
"""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from zorro import Zorro, open_run, rdt_fidelity
from zorro.cli import model_and_data
from zorro.cli.named_task import NamedTask
from zorro.cli.naming import search_current_folder
from zorro.models import build
from zorro.models import checkpoint as checkpoints
from zorro.show.web.served import Served

QUICK: dict[str, Any] = {"samples": 20, "fresh_samples": 60}
WORDS = ["--samples", 20, "--fresh-samples", 60]
MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.first = nn.Linear(features, 8)
        self.second = nn.Linear(8, classes)

    def forward(self, x, edge_index, edge_weight{default}):
        weight = torch.ones(edge_index.size(1)) if edge_weight is None else edge_weight
        senders, receivers = edge_index
        hidden = x + torch.zeros_like(x).index_add(0, receivers, weight[:, None] * x[senders])
        hidden = self.first(hidden).relu()
        spread = weight[:, None] * hidden[senders]
        return self.second(hidden + torch.zeros_like(hidden).index_add(0, receivers, spread))
"""


@pytest.fixture
def weighted(run, graph, tmp_path):
    """An own model beside a graph with weights; half of the predictions depend on these."""
    graph["edge_weight"] = np.random.default_rng(1).uniform(-3, 3, graph["edge_index"].shape[1])
    np.savez(tmp_path / "graph.npz", **graph)
    (tmp_path / "my_weighted.py").write_text(MODEL.format(default="=None"))
    (tmp_path / "my_strict.py").write_text(MODEL.format(default=""))
    words = ["--dataset", "graph.npz", "--model", "my_weighted:Net", "--out", "net.safetensors"]
    result = run("train", *words)
    assert result.code == 0, result.err
    assert "edge_weight is passed to the model" in result.err
    return graph


@pytest.fixture
def net(weighted, tmp_path):
    search_current_folder("my_weighted:Net")
    model = build("my_weighted:Net", 5, 2)
    checkpoints.load(model, tmp_path / "net.safetensors")
    return model.eval()


@pytest.fixture
def tensors(weighted):
    """x, edge_index and the weights as `Zorro` takes them."""
    return (
        torch.from_numpy(weighted["x"]),
        torch.from_numpy(weighted["edge_index"]),
        torch.from_numpy(weighted["edge_weight"]).float(),
    )


def scores(net, graph, weight):
    """Compute the model's scores by dense matrices."""
    adjacency = np.eye(40)
    for (sender, receiver), value in zip(graph["edge_index"].T, weight, strict=True):
        adjacency[receiver, sender] += value
    state = {name: values.numpy() for name, values in net.state_dict().items()}
    hidden = adjacency @ graph["x"] @ state["first.weight"].T + state["first.bias"]
    return adjacency @ np.maximum(hidden, 0) @ state["second.weight"].T + state["second.bias"]


@pytest.fixture
def nodes(net, weighted):
    """Two nodes with another class than the same graph gives them without weights."""
    with_weights = scores(net, weighted, weighted["edge_weight"]).argmax(1)
    without = scores(net, weighted, np.ones(76)).argmax(1)
    changed = np.flatnonzero(with_weights != without)
    return {int(node): int(with_weights[node]) for node in changed[:2]}


def plain(explanation):
    return json.loads(explanation.to_json()) | {"seconds": 0}


def expected_of(net, tensors, nodes, **options):
    x, edge_index, weight = tensors
    zorro = Zorro(net, x, edge_index, model_kwargs={"edge_weight": weight}, **QUICK, **options)
    return [plain(zorro.explain(node)) for node in nodes]


def test_weights_decide_about_predictions_here(nodes):
    assert len(nodes) == 2


def test_training_sees_the_weights(net, tensors, weighted, tmp_path):
    x, edge_index, weight = tensors
    y, mask = torch.from_numpy(weighted["y"]), torch.from_numpy(weighted["train_mask"])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mine = type(net)(5, 2)
        optimizer = torch.optim.Adam(mine.parameters(), lr=0.01, weight_decay=0.005)
        for _ in range(200):
            optimizer.zero_grad()
            loss = functional.cross_entropy(mine(x, edge_index, weight)[mask], y[mask])
            torch.autograd.backward(loss)
            optimizer.step()
    for name, values in mine.state_dict().items():
        assert torch.allclose(values, net.state_dict()[name], atol=1e-5), name
    right = scores(net, weighted, weighted["edge_weight"]).argmax(1) == weighted["y"]
    record = checkpoints.read_record(tmp_path / "net.safetensors")
    assert record["edge_inputs"] == ["edge_weight"]
    assert record["accuracy"]["test"] == pytest.approx(right[weighted["test_mask"]].mean())


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_explanations_are_of_the_weighted_graph(run, net, tensors, nodes, engine):
    spec = ",".join(map(str, nodes))
    words = ["--nodes", spec, "--out", "made", "--engine", engine, "--workers", 1, *WORDS]
    result = run("explain", "--model", "my_weighted:Net", "--checkpoint", "net.safetensors", *words)
    assert result.code == 0, result.err
    assert result.err.count("edge_weight is passed to the model") == 1
    found = list(open_run("made"))
    assert [plain(explanation) for explanation in found] == expected_of(net, tensors, nodes)
    assert {e.node: e.predicted_class for e in found} == nodes


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_explanations_on_a_stored_graph(run, net, tensors, nodes, engine):
    x, edge_index, weight = tensors
    order = edge_index[1].argsort(stable=True)  # in which edges are stored
    assert run("convert", "--dataset", "graph.npz", "--out", "stored").code == 0
    words = [
        "--dataset",
        "stored",
        "--model",
        "my_weighted:Net",
        "--checkpoint",
        "net.safetensors",
        "--out",
        "-",
        *WORDS,
    ]
    spec = ",".join(map(str, nodes))
    result = run("explain", *words, "--nodes", spec, "--engine", engine, "--workers", 1)
    assert result.code == 0, result.err
    found = [json.loads(line) | {"seconds": 0} for line in result.out.splitlines()]
    found.sort(key=lambda explanation: explanation["query"]["index"])
    reordered = x, edge_index[:, order], weight[order]
    assert found == expected_of(net, reordered, nodes, check="local")


def test_what_is_sent_to_a_cluster_loads_the_weights(net, tensors, nodes, capsys):
    named: dict[str, Any] = {
        "dataset": None,
        "model": None,
        "checkpoint": "net.safetensors",
        "data_seed": None,
    }
    named["model"] = "my_weighted:Net"
    digests = model_and_data.load(**named).digests
    capsys.readouterr()
    answer = pickle.loads(pickle.dumps(NamedTask(named, QUICK, {}, digests))).open()
    assert [plain(answer(node)) for node in nodes] == expected_of(net, tensors, nodes)
    assert capsys.readouterr().err == ""  # a line from each worker would be one too many


@pytest.mark.parametrize("stored", [False, True])
def test_fidelity_is_of_the_weighted_graph(run, net, tensors, nodes, stored):
    x, edge_index, weight = tensors
    node = next(iter(nodes))
    words = ["--node", node, "--keep-features", "0", "--samples", 80]
    if stored:
        assert run("convert", "--dataset", "graph.npz", "--out", "stored").code == 0
        words += ["--dataset", "stored"]
    result = run(
        "fidelity", "--model", "my_weighted:Net", "--checkpoint", "net.safetensors", *words
    )
    assert result.code == 0, result.err
    assert "edge_weight is passed to the model" in result.err
    expected = rdt_fidelity(
        net,
        x,
        edge_index,
        node,
        features=[0],
        samples=80,
        seed=1,
        model_kwargs={"edge_weight": weight},
    )
    assert 0 < expected.hits < 80
    assert f"stayed in {expected.hits} of 80 samples" in result.out


@pytest.fixture
def made(run, nodes):
    spec = ",".join(map(str, nodes))
    words = [
        "--model",
        "my_weighted:Net",
        "--checkpoint",
        "net.safetensors",
        "--nodes",
        spec,
        "--out",
        "made",
        *WORDS,
    ]
    assert run("explain", *words).code == 0
    return words


def test_a_report_shows_the_predictions_on_the_weighted_graph(run, made, net, weighted, tmp_path):
    result = run("report", "made", "--model", "my_weighted:Net", "--alternatives", 1)
    assert result.code == 0, result.err
    page = (tmp_path / "report.html").read_text()
    inside = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert inside is not None
    data = json.loads(inside[1])
    assert "with edge_weight" in data["summary"]["subject"]
    truth = scores(net, weighted, weighted["edge_weight"]).argmax(1)
    drawn = [node for detail in data["details"].values() for node in detail["scene"]["nodes"]]
    assert len(drawn) > len(data["details"])
    assert all(answer == truth[number] for number, *_, answer in drawn)


def test_the_explorer_asks_the_model_with_the_weights(run, made, net, tensors, nodes):
    pytest.importorskip("fastapi", reason="fastapi is not installed: pip install 'zorro-gnn[web]'")
    from zorro.cli.serve import _served

    served = _served(open_run("made"), {}, trusted=["my_weighted:Net"])
    assert isinstance(served, Served)
    assert served.live
    assert served.desks is not None
    found = [plain(served.desks.measuring.zorro.explain(node)) for node in nodes]
    assert found == expected_of(net, tensors, nodes)


def test_a_run_on_other_weights_is_another_run(run, made, weighted):
    assert run("explain", *made).code == 0
    weighted["edge_weight"][0] += 1
    np.savez("graph.npz", **weighted)
    for words in (["explain", *made], ["report", "made", "--model", "my_weighted:Net"]):
        result = run(*words)
        assert result.code == 1
        assert "data.sha256" in result.err or "node data: expected those" in result.err
    del weighted["edge_weight"]
    np.savez("graph.npz", **weighted)
    result = run("explain", *made)
    assert result.code == 1
    assert "made holds another run; it differs in data.sha256" in result.err
    assert "the model was trained with edge_weight, and gets none now" in result.err


@pytest.mark.parametrize("command", ["train", "explain", "fidelity"])
def test_a_model_that_needs_weights_is_refused_without_them(run, weighted, command):
    weighted["edge_attr"] = weighted.pop("edge_weight")
    np.savez("bare.npz", **weighted)
    ways: dict[str, list[Any]] = {
        "train": ["--out", "strict.safetensors"],
        "explain": ["--checkpoint", "net.safetensors", "--nodes", 5],
        "fidelity": ["--checkpoint", "net.safetensors", "--node", 5],
    }
    result = run(command, "--dataset", "bare.npz", "--model", "my_strict:Net", *ways[command])
    assert result.code == 1
    assert "edge_weight: expected one row per edge in the data set" in result.err
    assert "Net.forward needs it, got none (it has edge_attr)" in result.err
    assert "Traceback" not in result.err


def test_what_the_model_does_not_take_is_said(run, weighted):
    weighted["edge_type"] = np.arange(76) % 3
    np.savez("typed.npz", **weighted)
    words = ["--dataset", "typed.npz", "--out", "gat.safetensors", "--epochs", 2]
    result = run("train", "--model", "gat", *words)
    assert result.code == 0, result.err
    assert "edge_weight and edge_type are ignored: the model takes no such argument" in result.err
    result = run("train", "--model", "gcn", *words, "--force")
    assert "edge_weight is passed to the model; edge_type is ignored" in result.err


def test_a_data_set_without_such_arrays_needs_no_word(run, checkpoint):
    result = run("explain", "--checkpoint", checkpoint, "--nodes", 5, *WORDS)
    assert result.code == 0
    assert "edge_" not in result.err
    assert "trained with" not in result.err
