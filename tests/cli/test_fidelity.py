"""`zorro fidelity` prints the library's estimate for the set that was named."""

from __future__ import annotations

import re

import pytest
from restored_models import restored

from zorro import rdt_fidelity
from zorro.data import load


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--keep-nodes", "21,22", "--keep-features", "0"], {"nodes": [21, 22], "features": [0]}),
        (["--keep-nodes", "none"], {"nodes": []}),
        (["--keep-features", "1,2"], {"features": [1, 2]}),
        (["--noise", "gaussian", "--keep-nodes", "22"], {"nodes": [22], "noise": "gaussian"}),
    ],
)
def test_estimate_is_the_librarys(run, checkpoint, graph_file, words, kept):
    result = run("fidelity", "--checkpoint", checkpoint, "--node", 21, "--samples", 80, *words)
    assert result.code == 0, result.err
    data = load(graph_file)
    model = restored(checkpoint)
    expected = rdt_fidelity(model, data.x, data.edge_index, 21, samples=80, seed=1, **kept)
    assert 0 < expected.hits < 80
    assert f"stayed in {expected.hits} of 80 samples" in result.out
    assert f"{expected.value:.3f} [{expected.lower:.3f}, {expected.upper:.3f}]" in result.out


def test_everything_kept_has_fidelity_one(run, checkpoint):
    result = run("fidelity", "--checkpoint", checkpoint, "--node", 5, "--samples", 30)
    assert re.search(r"fidelity +1\.000 \[0\.\d+, 1\.000\]", result.out)


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--node", "99"], 1, "node"),
        (["--node", "5", "--keep-nodes", "99"], 1, "nodes: expected whole numbers from 0 to 39"),
        (["--node", "5", "--keep-features", "5"], 1, "features: expected whole numbers from 0 to"),
        (["--node", "5", "--samples", "0"], 1, "samples"),
        (["--node", "5", "--keep-nodes", "a"], 2, "--keep-nodes"),
        (["--keep-nodes", "5"], 2, "--node"),
    ],
)
def test_wrong_sets_are_refused(run, checkpoint, words, code, problem):
    result = run("fidelity", "--checkpoint", checkpoint, *words)
    assert result.code == code
    assert problem in result.err
    assert "Traceback" not in result.err


ONE_NUMBER = """
import torch
from torch_geometric.nn import SimpleConv

class Net(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.conv = SimpleConv(aggr="mean", combine_root="self_loop")

    def forward(self, x, edge_index):
        return self.conv(x, edge_index).sum(1).sub(1).sigmoid()
"""


def test_a_model_of_one_number_needs_a_threshold(run, graph_file, tmp_path):
    (tmp_path / "my_number.py").write_text(ONE_NUMBER)
    words = ["--dataset", graph_file, "--model", "my_number:Net", "--node", 5, "--samples", 30]
    words += ["--keep-nodes", "none"]
    refused = run("fidelity", *words)
    assert refused.code != 0
    assert "threshold=0.5 if it is its probability" in " ".join(refused.err.split())
    result = run("fidelity", *words, "--threshold", 0.5)
    assert result.code == 0, result.err
    assert "of 30 samples" in result.out
    explained = [*words[:4], "--nodes", 5, "--threshold", 0.5, "--samples", 20]
    result = run("explain", *explained, "--fresh-samples", 20)
    assert result.code == 0, result.err
