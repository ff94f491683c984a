"""Methods on whole graphs: where the answer is known, against plain loops, and on molecules."""

import itertools
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import GNNExplainer as PygGNNExplainer

sys.path.append(str(Path(__file__).parent))
from every_method import OURS, WITHOUT_FEATURES, built, pygs_gnn_explainer

from zorro import Zorro
from zorro.data import load_graphs
from zorro.errors import InputError
from zorro.methods import PGM, Masks, PygAlgorithm, SubgraphX, Subjects, build, evaluate, methods
from zorro.methods.coalition_values import CoalitionValues
from zorro.methods.masked_runs import MaskedRuns
from zorro.methods.subgraphx import connected_without, neighbours_of
from zorro.models import GraphTrainingSettings, train_graphs

FEATURES = 3


class WeighedSum(nn.Module):
    """Two classes: the sum of W over a graph's features, and its negative."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)  # (d,)

    def forward(self, x, edge_index, batch):
        score = gnn.global_add_pool(x @ self.weight, batch)  # (B,)
        return torch.stack([-score, score], dim=1) / 2


class Convolved(nn.Module):
    """Convolutions with weights on edges, the mean of a graph's nodes, a linear layer."""

    def __init__(self, out=2):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 8)
        self.last = nn.Linear(8, out, bias=False)

    def forward(self, x, edge_index, batch=None, edge_weight=None):
        x = self.first(x, edge_index, edge_weight).tanh()
        x = self.second(x, edge_index, edge_weight).tanh()
        scores = self.last(gnn.global_mean_pool(x, batch))
        return scores.sigmoid() if scores.size(1) == 1 else scores


class BrightPair(nn.Module):
    """Class 1 while nodes 2 and 3 of a graph with eight nodes both have the first feature."""

    def forward(self, x, edge_index, batch):
        bright = x[:, 0].view(-1, 8)  # (B, 8)
        score = 8 * (bright[:, 2] + bright[:, 3] - 1.5)
        return torch.stack([-score, score], dim=1)


def ring(nodes):
    pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
    return torch.cat([pairs, pairs.flip(0)], dim=1)


def random_graphs(count=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    graphs = []
    for number in range(count):
        edge_index = ring(5 + number % 3)
        graphs.append(
            Data(
                x=torch.randn(5 + number % 3, FEATURES, generator=generator),
                edge_index=edge_index,
                strength=torch.rand(edge_index.size(1), generator=generator),
            )
        )
    return graphs


def convolved(seed=3, **options):
    torch.manual_seed(1)
    return Subjects.of_graphs(Convolved(), random_graphs(), seed=seed, **options)


def bright_pair(seed=0):
    """Rings of eight nodes; in the others the first feature is rare."""
    others = torch.zeros(8, FEATURES)
    others[0, 0] = 1
    others[:, 1] = torch.arange(8) % 2
    bright = torch.zeros(8, FEATURES)
    bright[[2, 3], 0] = 1
    bright[:, 1] = 1
    graphs = [Data(x=x, edge_index=ring(8)) for x in (bright, others, others)]
    return Subjects.of_graphs(BrightPair(), graphs, seed=seed)


def test_gradients_of_a_linear_model():
    x = torch.tensor([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0]])
    graphs = [Data(x=x, edge_index=ring(2)), Data(x=-x, edge_index=ring(2))]
    subject = Subjects.of_graphs(WeighedSum(torch.tensor([1.0, -0.5, 0.25])), graphs).of(0)
    # s = 3 − ½ + ½ = 3: class 1, log-probability log σ(s), whose slope in s is σ(−s).
    slope = torch.sigmoid(torch.tensor(-3.0))
    change = slope * torch.tensor([[1.0, 0.0, 0.5], [2.0, -0.5, 0.0]])  # X ⊙ ∂s/∂X
    assert subject.predicted_class == 1
    masks = build("grad").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, change.sum(1).abs())
    assert masks.features is not None
    assert torch.allclose(masks.features, change.sum(0).abs())
    masks = build("grad-input").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, change.abs().sum(1))
    assert masks.features is not None
    assert torch.allclose(masks.features, change.abs().sum(0))
    masks = build("grad", of="entries").explain(subject)
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, slope * torch.full((2,), 1.75))


def plain_fidelity(model, graphs, number, mask, samples, **kwargs):
    """Every entry between its value and one of its column's, one call of the model a sample."""
    generator = torch.Generator().manual_seed(9)
    pool = torch.cat([graph.x for graph in graphs])
    graph = graphs[number]
    batch = torch.zeros(graph.x.size(0), dtype=torch.long)
    stayed = 0
    with torch.no_grad():
        true = int(model(graph.x, graph.edge_index, batch=batch, **kwargs)[0].argmax())
        for _ in range(samples):
            drawn = pool.gather(0, torch.randint(len(pool), graph.x.shape, generator=generator))
            noisy = graph.x * mask + drawn * (1 - mask)
            stayed += int(model(noisy, graph.edge_index, batch=batch, **kwargs)[0].argmax()) == true
    return stayed / samples


@pytest.mark.parametrize("soft", [False, True])
def test_fidelity_is_that_of_a_plain_loop(soft):
    graphs, generator = random_graphs(), torch.Generator().manual_seed(5)
    subjects = convolved(model_kwargs={"edge_weight": "strength"})
    seen = []
    for number in range(4):
        subject = subjects.of(number)
        nodes = torch.rand(subject.candidates, generator=generator)
        features = torch.rand(FEATURES, generator=generator)
        if not soft:
            nodes, features = (nodes < 0.5).float(), (features < 0.7).float()
        masks = Masks(nodes=nodes, features=features)
        ours = evaluate(subject, masks, subjects.noise, samples=1000).fidelity
        theirs = plain_fidelity(
            subject.model,
            graphs,
            number,
            torch.outer(nodes, features),
            1000,
            edge_weight=graphs[number].strength,
        )
        assert ours == pytest.approx(theirs, abs=4 * math.sqrt(2 * 0.25 / 1000))
        seen.append(ours)
    assert min(seen) < 0.9, "else anything would do"


def test_the_bright_pair_alone_is_enough_and_nothing_less_is():
    subjects = bright_pair()
    subject = subjects.of(0)
    both = torch.isin(torch.arange(8), torch.tensor([2, 3]))
    alone = evaluate(subject, Masks(nodes=both), subjects.noise)
    assert (alone.fidelity, alone.validity) == (1.0, 1.0)
    assert alone.node_entropy == pytest.approx(math.log(2))
    assert alone.feature_entropy is None
    # Without node 3 it takes its feature by chance: 4 of the 24 nodes have it.
    one = evaluate(subject, Masks(nodes=torch.arange(8) == 2), subjects.noise, samples=4000)
    assert one.validity == 0.0
    assert one.fidelity == pytest.approx(1 / 6, abs=4 * math.sqrt(5 / 36 / 4000))


@pytest.mark.parametrize("name", ["zorro", "zorro-paper"])
def test_our_searches_find_the_bright_pair(name):
    subjects = bright_pair()
    masks = build(name, noise=subjects.noise, tau=0.9, keep=("nodes",)).explain(subjects.of(0))
    assert masks.nodes is not None
    assert masks.nodes.nonzero().flatten().tolist() == [2, 3]
    assert masks.features is None
    masks = build(name, noise=subjects.noise, tau=0.9).explain(subjects.of(0))
    assert masks.nodes is not None
    assert masks.nodes.nonzero().flatten().tolist() == [2, 3]
    assert masks.features is not None
    assert masks.features.tolist() == [True, False, False]
    with pytest.raises(InputError, match="keep: expected some of"):
        build(name, noise=subjects.noise, keep=("edges",))


@pytest.mark.parametrize(("name", "search"), [("zorro", "guided"), ("zorro-paper", "paper")])
@pytest.mark.parametrize("keep", [("nodes",), ("nodes", "features")])
def test_our_searches_find_what_the_front_door_finds(name, search, keep):
    subjects = convolved()
    zorro = Zorro.of_graphs(
        subjects.of(0).model, random_graphs(), tau=0.8, search=search, seed=3, keep=keep
    )
    method = build(name, noise=subjects.noise, tau=0.8, keep=keep)
    chosen = set()
    for number in range(3):
        masks, explanation = method.explain(subjects.of(number)), zorro.explain(number)
        assert masks.nodes is not None
        assert tuple(masks.nodes.nonzero().flatten().tolist()) == explanation.nodes
        if masks.features is not None:
            assert tuple(masks.features.nonzero().flatten().tolist()) == explanation.features
        chosen.add(explanation.nodes)
    assert chosen != {()}, "else anything would do"


def test_soft_masks_find_the_bright_pair():
    subjects = bright_pair()
    masks = build("soft-zorro", noise=subjects.noise).explain(subjects.of(0))
    assert masks.nodes is not None
    assert masks.nodes[[2, 3]].min() > 0.5
    assert masks.nodes[[0, 1, 4, 5, 6, 7]].max() < 0.1
    assert masks.features is not None
    assert masks.features.argmax() == 0


@pytest.mark.parametrize("seed", range(3))
def test_pgm_selects_the_bright_pair(seed):
    subject = bright_pair(seed).of(0)
    for options in ({"samples": 400}, {"samples": 3000, "perturbation": "bits"}):
        masks = PGM(significance=1e-4, **options).explain(subject)
        assert masks.nodes is not None
        assert masks.nodes.nonzero().flatten().tolist() == [2, 3]
    one = PGM(top_nodes=1).explain(subject).nodes
    assert one is not None
    assert one.sum() == 1


def test_pgm_counts_the_worst_eighth_of_the_samples():
    """Its p-values are those of tables that are counted here sample by sample."""
    subject = convolved().of(1)
    graph, generator = subject.graph, subject.generator()
    perturbed, probabilities = [], []
    means = graph.x.mean(0)
    for _ in range(80):
        rows = torch.randint(2, (graph.x.size(0), 1), generator=generator).bool()
        scores = subject.model(torch.where(rows, means, graph.x), graph.edge_index).detach()
        perturbed.append(rows.flatten())
        probabilities.append(float(scores.softmax(1)[0, subject.predicted_class]))
    worst = set(sorted(range(80), key=probabilities.__getitem__)[:10])
    p_values = PGM(samples=80).p_values(subject)
    for node in range(graph.x.size(0)):
        statistic = 0.0
        for state, low in itertools.product((True, False), repeat=2):
            alike = sum(bool(sample[node]) == state for sample in perturbed)
            columns = len(worst) if low else 80 - len(worst)
            both = [(s in worst) == low and bool(perturbed[s][node]) == state for s in range(80)]
            statistic += (sum(both) - alike * columns / 80) ** 2 / (alike * columns / 80)
        chi2 = torch.special.gammaincc(torch.tensor(1.5), torch.tensor(statistic / 2))
        assert p_values[node] == pytest.approx(float(chi2), rel=1e-4)


def test_gnn_explainer_is_pygs_own_run():
    subject = convolved().of(2)
    masks = build("gnnexplainer", epochs=20).explain(subject)
    theirs = pygs_gnn_explainer(subject, level="graph", epochs=20)
    assert masks.edges is not None
    assert torch.allclose(masks.edges, theirs.edge_mask, atol=1e-5)
    assert masks.features is not None
    assert torch.allclose(masks.features, theirs.node_mask[0], atol=1e-5)


def test_node_masks_of_pyg_are_aggregated():
    subject = convolved().of(0)
    masks = PygAlgorithm(PygGNNExplainer(epochs=2), node_mask_type="attributes").explain(subject)
    assert masks.nodes is not None
    assert masks.nodes.shape == (subject.candidates,)
    assert masks.features is not None
    assert torch.isclose(masks.nodes.sum(), masks.features.sum())


def test_the_largest_component_is_kept_of_a_graph():
    path = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    graphs = [Data(x=torch.rand(6, FEATURES), edge_index=path)] * 2
    neighbours = neighbours_of(Subjects.of_graphs(Convolved(), graphs).of(0).graph)
    whole = torch.ones(6, dtype=torch.bool)
    kept = {
        removed: connected_without(whole, removed, neighbours, None).nonzero().flatten().tolist()
        for removed in (0, 2, 3)
    }
    assert kept == {0: [1, 2, 3, 4, 5], 2: [3, 4, 5], 3: [0, 1, 2]}


def test_a_long_search_finds_the_best_of_all_connected_subgraphs():
    subject = bright_pair().of(0)
    options: dict[str, Any] = {"rollouts": 300, "leaf_nodes": 1, "exploration": 1e6, "samples": 30}
    nodes = SubgraphX(**options, most_nodes=3).explain(subject).nodes
    assert nodes is not None
    found = nodes.bool()
    values = CoalitionValues(
        MaskedRuns(subject).probabilities,
        neighbours_of(subject.graph),
        radius=4,
        samples=30,
        generator=subject.generator(),
        always=torch.zeros(8, dtype=torch.bool),
    )
    arcs = [
        torch.isin(torch.arange(8), (torch.arange(size) + first) % 8)
        for size in (1, 2, 3)
        for first in range(8)
    ]
    rewards = [values.of(arc).shapley_value for arc in arcs]
    assert values.of(found).shapley_value == pytest.approx(max(rewards), abs=1e-6)
    assert found[[2, 3]].all()


def test_a_graph_has_no_query_node_to_keep():
    with pytest.raises(InputError, match="keep_query: expected False for a whole graph"):
        SubgraphX(keep_query=True).explain(bright_pair().of(0))


def test_sizes_are_those_of_the_graphs():
    subjects = convolved()
    method = build("random", sizes={1: (2, 1)})
    masks = method.explain(subjects.of(1))
    assert masks.nodes is not None
    assert masks.features is not None
    assert (int(masks.nodes.sum()), int(masks.features.sum())) == (2, 1)
    with pytest.raises(InputError, match="size of graph 0's explanation"):
        method.explain(subjects.of(0))


def test_a_graph_that_is_not_among_them_can_be_asked_about():
    subjects = convolved()
    (other,) = random_graphs(1, seed=7)
    masks = build("grad").explain(subjects.of(other))
    assert masks.nodes is not None
    assert masks.nodes.shape == (5,)
    with pytest.raises(InputError, match="graph: expected"):
        subjects.of(99)


@pytest.fixture(scope="module")
def mutag(data_dir):
    molecules = load_graphs("mutag")
    model = train_graphs("gcn", molecules, GraphTrainingSettings(epochs=5))
    return Subjects.of_graphs(model, molecules.graphs)


@pytest.mark.parametrize("name", OURS)
def test_every_method_serves_a_molecule(name, mutag):
    assert name in methods()
    subject = mutag.of(4)
    weights = {key: value.clone() for key, value in subject.model.state_dict().items()}
    first = built(name, mutag, (0, 1, 2)).explain(subject)
    again = built(name, mutag, (0, 1, 2)).explain(subject)
    sizes = {"nodes": subject.candidates, "features": 7, "edges": subject.graph.edge_index.size(1)}
    ranked = {part: getattr(first, part) for part in sizes if getattr(first, part) is not None}
    assert "nodes" in ranked
    assert ("features" in ranked) == (name not in WITHOUT_FEATURES)
    for part, mask in ranked.items():
        assert mask.shape == (sizes[part],)
        assert torch.isfinite(mask.float()).all()
        assert torch.equal(mask, getattr(again, part))
    assert 0 <= evaluate(subject, first, mutag.noise).fidelity <= 1
    assert all(
        torch.equal(value, weights[key]) for key, value in subject.model.state_dict().items()
    )


@pytest.mark.parametrize("name", [name for name in OURS if name not in ("empty", "random")])
def test_one_score_a_graph_and_edge_weights_are_served(name):
    torch.manual_seed(0)
    options: dict[str, Any] = {"threshold": 0.5, "model_kwargs": {"edge_weight": "strength"}}
    subjects = Subjects.of_graphs(Convolved(out=1), random_graphs(), **options)
    subject = subjects.of(3)
    masks = built(name, subjects, (0, 1, 2)).explain(subject)
    assert masks.nodes.shape == (subject.candidates,)
    assert 0 <= evaluate(subject, masks, subjects.noise).fidelity <= 1
