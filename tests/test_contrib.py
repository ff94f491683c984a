"""What we contribute to other projects stands on its own, and does what zorro does."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from scipy.stats import binomtest
from torch_geometric.explain import Explainer
from torch_geometric.nn import GAT, GCN
from torch_geometric.utils import k_hop_subgraph, subgraph

from zorro import data, models

sys.path.append(str(Path(__file__).parent))
from plain_loop import plain_fidelity

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "contrib" / "pyg"
# Queries whose class is the same on the whole graph, and whose graphs are small.
GOLDEN = ["cora_gcn_tau85_node2521", "pubmed_gcn_tau85_node1861"]
MULTICLASS = {
    "mode": "multiclass_classification",
    "task_level": "node",
    "return_type": "raw",
}


@pytest.fixture(scope="module")
def contributed():
    spec = importlib.util.spec_from_file_location("contributed", FOLDER / "zorro_explainer.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def explained(contributed, model, x, edge_index, index, mask="attributes", **options):
    explainer = Explainer(
        model,
        contributed.ZorroExplainer(**options),
        explanation_type="model",
        node_mask_type=mask,
        model_config=MULTICLASS,
    )
    return explainer(x, edge_index, index=index)


def test_its_own_tests_pass_as_in_a_checkout_of_pyg():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0, told.stdout[-3000:]
    passed = re.search(r"(\d+) passed", told.stdout)
    assert passed is not None
    assert int(passed[1]) > 250
    assert "skipped" not in told.stdout


def test_it_does_without_zorro():
    loaded = "print('zorro' in sys.modules, 'scipy.stats' in sys.modules)"
    code = f"import sys, zorro_explainer; {loaded}"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        check=True,
    )
    assert told.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("model", [GCN, GAT])
def test_its_fidelity_is_that_of_a_plain_loop(contributed, model):
    torch.manual_seed(3)
    x = torch.randn(40, 6)
    edge_index = torch.randint(40, (2, 90))
    network = model(6, 16, num_layers=2, out_channels=3).eval()
    for node in (0, 7, 21):
        found = explained(contributed, network, x, edge_index, node, tau=0.8, seed=node)
        rows, columns = found.node_mask.amax(1).nonzero(), found.node_mask.amax(0).nonzero()

        def predict(z, node=node):
            with torch.no_grad():
                return int(network(z, edge_index)[node].argmax())

        share = plain_fidelity(
            predict,
            x,
            node,
            nodes=rows.flatten().tolist(),
            features=columns.flatten().tolist(),
            samples=1000,
            seed=node,
        )
        # Four standard errors of the difference of two shares of a thousand each.
        error = (2 * max(share * (1 - share), 0.01) / 1000) ** 0.5
        assert abs(share - found.rdt_fidelity) < 4 * error
        hits = round(found.rdt_fidelity * 1000)
        exact = binomtest(hits, 1000, alternative="greater").proportion_ci(0.95).low
        assert found.rdt_fidelity_bound == pytest.approx(exact, abs=1e-9)
        assert found.certified == (exact >= 0.8)


@pytest.mark.parametrize("name", GOLDEN)
def test_it_finds_what_the_papers_own_code_found(
    contributed, name, paper_dir, data_dir, monkeypatch
):
    golden = json.loads((paper_dir / "golden" / f"{name}.json").read_text())
    graph = data.load(golden["dataset"])
    model = models.build(golden["model"], graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(
        model, paper_dir / "checkpoints" / f"{golden['dataset']}_{golden['model']}.safetensors"
    )

    def without_a_halo(self, whole, noise, index):
        nodes, *_ = k_hop_subgraph(index, golden["hops"], graph.edge_index)
        edges, _ = subgraph(nodes, graph.edge_index, relabel_nodes=True)
        part = torch.zeros(graph.num_nodes, dtype=torch.bool)
        part[nodes] = True
        small = contributed._Graph(model, graph.x[nodes], edges, {})
        everything = torch.ones(nodes.numel(), dtype=torch.bool)
        return small, part, everything, torch.searchsorted(nodes, index)

    monkeypatch.setattr(contributed.ZorroExplainer, "_cut", without_a_halo)
    found = explained(
        contributed,
        model,
        graph.x,
        graph.edge_index,
        golden["node"],
        tau=golden["tau"],
        num_samples=golden["samples"],
        top_k=golden["k"],
        seed=golden["seed"],
    )
    assert int(found.target[golden["node"]]) == golden["predicted_class"]
    theirs = golden["explanations"][0]
    assert found.node_mask.amax(1).nonzero().flatten().tolist() == theirs["nodes"]
    assert found.node_mask.amax(0).nonzero().flatten().tolist() == theirs["features"]
