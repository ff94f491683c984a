"""The paper's search on a toy with a closed form, its theorem, and its multiple explanations."""

import itertools

import pytest
import torch
from torch_geometric.nn import MessagePassing

from zorro.cut import Extractor
from zorro.elements import Selection
from zorro.evaluation import BatchedEvaluator
from zorro.graph.graph import Graph
from zorro.metrics import stability
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve
from zorro.search import SearchResult, greedy_search, search_multiple


class WeightedVote(MessagePassing):
    """Class 1 where a weighted sum over a node, its neighbours and their features is positive."""

    def __init__(self, weights):
        super().__init__(aggr="sum")
        self.register_buffer("weights", torch.tensor(weights))

    def forward(self, x, edge_index):
        vote = x @ self.weights
        total = (vote.unsqueeze(1) + self.propagate(edge_index, x=vote.unsqueeze(1))) - 0.1
        return torch.cat([-total, total], dim=1)


def draws_for(noise, graph, samples=60, seed=0):
    return draws_of(
        noise,
        graph.candidate_x,
        seed=seed,
        query=graph.query,
        samples=range(samples),
        memory=1 << 20,
    )


def evaluator_of(x, weights, *, noise="column-marginals", samples=60, seed=0):
    nodes = x.size(0)
    edge_index = torch.tensor([(a, 0) for a in range(1, nodes)]).t()
    predictor = Predictor(WeightedVote(weights))
    graph = Extractor(predictor, Graph(x, edge_index)).extract(0)
    return BatchedEvaluator(predictor, graph, draws_for(resolve(noise, x), graph, samples, seed))


def literal_search(evaluator, tau, k):
    """Algorithm 1 once more, a selection at a time, written without the library's search."""
    nodes, features = evaluator.shape
    samples = evaluator.samples

    def fidelity(rows, columns):
        mask_nodes = torch.zeros(nodes, dtype=torch.bool)
        mask_features = torch.zeros(features, dtype=torch.bool)
        mask_nodes[list(rows)] = True
        mask_features[list(columns)] = True
        return int(evaluator.hits(Selection.of(mask_nodes, mask_features)).sum()) / samples

    everything_v, everything_f = range(nodes), range(features)
    if fidelity([], []) > tau:
        return set(), set()
    by_node = {v: fidelity([v], everything_f) for v in everything_v}
    by_feature = {f: fidelity(everything_v, [f]) for f in everything_f}
    order_v = sorted(by_node, key=lambda v: (-by_node[v], v))
    order_f = sorted(by_feature, key=lambda f: (-by_feature[f], f))
    chosen_v, chosen_f = set(), set()
    if by_node[order_v[0]] > by_feature[order_f[0]]:
        chosen_v.add(order_v[0])
    else:
        chosen_f.add(order_f[0])
    while fidelity(chosen_v, chosen_f) <= tau:
        tried = []  # (fidelity, feature before node, lowest index) decides
        if chosen_f:
            for v in sorted([v for v in order_v if v not in chosen_v][:k]):
                tried.append((-fidelity(chosen_v | {v}, chosen_f), 1, v))
        if chosen_v:
            for f in sorted([f for f in order_f if f not in chosen_f][:k]):
                tried.append((-fidelity(chosen_v, chosen_f | {f}), 0, f))
        if not tried:
            break
        _, kind, element = min(tried)
        (chosen_v if kind else chosen_f).add(element)
    return chosen_v, chosen_f


def random_case(seed):
    torch.manual_seed(seed)
    x = torch.randn(7, 5) * (torch.rand(7, 5) < 0.7)
    return evaluator_of(x, torch.randn(5).tolist(), seed=seed)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("tau", "k"), [(0.8, 2), (0.9, 10), (0.95, None)])
def test_equals_a_literal_transcription(seed, tau, k):
    evaluator = random_case(seed)
    found = greedy_search(evaluator, tau=tau, k=k)
    nodes, features = literal_search(evaluator, tau, k)
    assert set(found.selection.rows.tolist()) == nodes
    assert set(found.selection.columns.tolist()) == features


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tau", [0.5, 0.7, 0.9, 1.0])
def test_theorem_2_fidelity_and_stability(seed, tau):
    """1. The fidelity is at least τ. 3. For τ ≥ .5 the stability is at least 1/(1+τ(1−τ))."""
    evaluator = random_case(seed)
    found = greedy_search(evaluator, tau=tau)
    fidelity = float(evaluator.hits(found.selection).double().mean())
    assert fidelity >= tau
    assert found.hits == round(fidelity * 60)
    assert stability(fidelity) >= 1 / (1 + tau * (1 - tau)) - 1e-12


def test_theorem_2_runtime_does_not_depend_on_the_graphs_size():
    """2. Forward passes are bounded by samples · (|V| + |F| + 2K · (|V| + |F|)), and the rest of
    the graph plays no part in them."""
    x = torch.randn(7, 5, generator=torch.Generator().manual_seed(1))
    edges = torch.tensor([(a, 0) for a in range(1, 7)]).t()
    counts = []
    for elsewhere in (0, 50, 5000):
        far = torch.randint(7, 7 + max(1, elsewhere), (2, 3 * elsewhere))
        whole_x = torch.cat([x, torch.zeros(elsewhere, 5)])
        predictor = Predictor(WeightedVote([1.0, -2.0, 0.5, 1.0, 0.2]))
        graph = Extractor(predictor, Graph(whole_x, torch.cat([edges, far], dim=1))).extract(0)
        assert graph.x.shape == (7, 5)
        evaluator = BatchedEvaluator(
            predictor, graph, draws_for(resolve("column-marginals", x), graph)
        )
        greedy_search(evaluator, tau=0.95, k=3)
        counts.append(evaluator.evaluations)
    assert len(set(counts)) == 1
    steps = 7 + 5
    assert counts[0] <= 60 * (7 + 5 + 3 + (2 * 3 + 2) * steps)


def test_nothing_is_selected_where_noise_cannot_change_the_class():
    evaluator = evaluator_of(torch.ones(4, 3), [1.0, 1.0, 1.0])
    found = greedy_search(evaluator, tau=0.9)
    assert not found.selection.nodes.any()
    assert not found.selection.features.any()
    assert [move.fidelity for move in found.moves] == [1.0]


def test_everything_is_selected_where_everything_is_needed():
    # All entries must be 1 for a sum above 5.9 (+.1): each counts.
    x = torch.cat([torch.ones(3, 2), torch.zeros(60, 2)])

    class All(WeightedVote):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index) + torch.tensor([5.8, -5.8])

    edge_index = torch.tensor([[1, 2], [0, 0]])
    predictor = Predictor(All([1.0, 1.0]))
    graph = Extractor(predictor, Graph(x, edge_index)).extract(0)
    evaluator = BatchedEvaluator(predictor, graph, draws_for(resolve("zeros", x), graph, 5))
    found = greedy_search(evaluator, tau=0.9, k=1)
    assert found.selection.nodes.all()
    assert found.selection.features.all()
    assert found.hits == 5


class NoiseByContent:
    """Draws for a node by what its row is, so that relabelled nodes get the same noise."""

    name = "by-content"

    def draw(self, candidates, *, seed, query, samples):
        rows = []
        for row in candidates:
            key = int(row.double().sum() * 1e6) % (1 << 31)
            generator = torch.Generator().manual_seed(key)
            rows.append(torch.randn(len(samples), row.numel(), generator=generator))
        return torch.stack(rows, dim=1)


def test_relabelling_nodes_permutes_the_answer():
    torch.manual_seed(4)
    x = torch.randn(8, 5)
    weights = torch.randn(5).tolist()
    star = torch.tensor([(a, 0) for a in range(1, 8)]).t()
    answers = []
    for order in (torch.arange(8), torch.randperm(8)):
        position = torch.argsort(order)  # old id → new id
        predictor = Predictor(WeightedVote(weights))
        extractor = Extractor(predictor, Graph(x[order], position[star]))
        graph = extractor.extract(int(position[0]))
        evaluator = BatchedEvaluator(predictor, graph, draws_for(NoiseByContent(), graph, 80))
        every_node = evaluator.hits_toggling(
            Selection.of(torch.zeros(8, dtype=torch.bool), torch.ones(5, dtype=torch.bool)),
            "nodes",
            position,
        )
        answers.append(every_node)
    assert torch.equal(*answers)
    assert 0 < answers[0].double().mean() < 1


def test_multiple_explanations_descend_disjointly_and_stop():
    torch.manual_seed(7)
    # Every node alone decides: many disjoint explanations.
    x = torch.cat([torch.full((6, 3), 5.0), torch.zeros(40, 3)])
    evaluator = evaluator_of_star(x, centre_of=6)

    def every(max_depth):
        return search_multiple(
            evaluator,
            lambda allowed: SearchResult(
                greedy_search(evaluator, tau=0.8, k=None, allowed=allowed)
            ),
            tau=0.8,
            max_depth=max_depth,
        )

    found = [result.found for result in every(3)]
    assert len(found) >= 3
    for one in found:
        assert one.hits / 60 > 0.8
    first = found[0].selection
    second = found[1].selection  # without the first one's nodes
    assert not (first.nodes & second.nodes).any()
    assert len(list(every(1))) == 1
    lazily = itertools.islice(every(50), 2)
    assert len(list(lazily)) == 2


def evaluator_of_star(x, *, centre_of):
    edge_index = torch.tensor([(a, 0) for a in range(1, centre_of)]).t()
    predictor = Predictor(WeightedVote([1.0, 1.0, 1.0]))
    graph = Extractor(predictor, Graph(x, edge_index)).extract(0)

    class Negative:
        name = "negative"

        def draw(self, candidates, *, seed, query, samples):
            generator = torch.Generator().manual_seed(seed)
            shape = (len(samples), *candidates.shape)
            return -torch.rand(shape, generator=generator) * 0.9

    return BatchedEvaluator(predictor, graph, draws_for(Negative(), graph))
