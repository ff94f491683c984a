"""The memory that is allowed is a bound: tensors that live at the same time are added up."""

import gc
import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch_geometric.nn import GCN

from zorro import Zorro
from zorro.cut import Extractor
from zorro.elements import FEATURES, NODES, Selection
from zorro.evaluation import EvaluatorChoice
from zorro.evaluation.evaluator import Evaluator
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve

MB = 1 << 20


class LiveBytes(TorchDispatchMode):
    """Adds up the storages of all tensors that operators have made and that are still there."""

    def __init__(self):
        super().__init__()
        self.live = self.peak = 0
        self._tensors = {}  # of a storage: how many tensors

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = {
            leaf.untyped_storage().data_ptr()
            for leaf in tree_leaves((args, kwargs))
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided
        }
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                self._note(leaf, given)
        return result

    def _note(self, tensor, given):
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        if address not in self._tensors:
            if address in given or size == 0:
                return  # it was there before
            self._tensors[address] = 0
            self.live += size
            self.peak = max(self.peak, self.live)
        self._tensors[address] += 1
        weakref.finalize(tensor, self._forget, address, size)

    def _forget(self, address, size):
        self._tensors[address] -= 1
        if self._tensors[address] == 0:
            del self._tensors[address]
            self.live -= size


def a_wheel(features, nodes=6000):
    """A hub that everyone is next to, and a rim."""
    rim = torch.arange(1, nodes)
    ends = torch.cat(
        [torch.stack([torch.zeros_like(rim), rim]), torch.stack([rim, rim.roll(1)])], 1
    )
    x = torch.randn(nodes, features, generator=torch.Generator().manual_seed(0))
    return x, torch.cat([ends, ends.flip(0)], dim=1)


def test_what_lives_is_counted():
    with LiveBytes() as counted:
        first = torch.zeros(MB)
        view = first[10:]
        del first
        second = torch.zeros(MB) + view.sum()
        assert counted.live == 8 * MB  # the sum is a few bytes more
        del view, second
    assert counted.peak >= 12 * MB
    assert counted.live == 0


@pytest.mark.parametrize("megabytes", [24, 64])
def test_a_traced_evaluation_of_many_candidates_keeps_within_its_memory(megabytes):
    torch.manual_seed(0)
    x, edge_index = a_wheel(features=32)
    predictor = Predictor(GCN(32, 16, 2, 4).eval())
    noise = resolve("column-marginals", x)
    graph = Extractor(predictor, Graph(x, edge_index), noise=noise, hops=2).extract(5)
    assert graph.candidates.numel() == 6000
    samples = 120
    assert samples * x.numel() * 4 > 64 * MB  # all noise would not fit

    def evaluator(choice, samples):
        draws = draws_of(
            noise, graph.candidate_x, seed=0, query=5, samples=samples, memory=megabytes * MB
        )
        return choice.evaluator(graph, draws)

    choice = EvaluatorChoice(predictor, wanted="traced", memory=megabytes * MB)
    evaluator(choice, range(1))  # traces the model, and compares one with the other
    with LiveBytes() as counted:
        ours = evaluator(choice, range(samples))
        assert ours.least_memory < megabytes * MB
        half = Selection.of(torch.arange(6000) % 2 == 0, torch.arange(32) % 3 == 0)
        for selection in (ours.nothing, half, ours.everything):
            ours.scores(selection)
            ours.gains(selection)
            ours.gains_on(24, selection)
            ours.scores_toggling(selection, NODES, torch.arange(12))
            ours.scores_toggling(selection, FEATURES, torch.arange(12))
    assert counted.peak < megabytes * MB
    assert counted.peak > MB, "else nothing was counted"


def test_what_a_query_took_is_given_back_when_it_is_answered():
    """Not only when garbage is collected, which large tensors do not hasten."""
    torch.manual_seed(0)
    x, edge_index = a_wheel(features=8, nodes=40)
    zorro = Zorro(GCN(8, 16, 2, 4).eval(), x, edge_index, max_evaluations=5000)
    gc.collect()
    before = {id(it) for it in gc.get_objects() if isinstance(it, Evaluator)}  # of other tests
    gc.disable()
    try:
        zorro.explain(5)
        every = [it for it in gc.get_objects() if isinstance(it, Evaluator)]
        assert not [it for it in every if id(it) not in before]
    finally:
        gc.enable()


def test_large_selections_give_the_states_of_their_inputs():
    """Column by column, or from what is left out: the program run on all inputs says the same."""
    torch.manual_seed(0)
    x, edge_index = a_wheel(features=12, nodes=900)
    predictor = Predictor(GCN(12, 16, 2, 4).eval())
    noise = resolve("column-marginals", x)
    graph = Extractor(predictor, Graph(x, edge_index), noise=noise, hops=2).extract(5)
    draws = draws_of(noise, graph.candidate_x, seed=0, query=5, samples=range(60), memory=MB)
    choice = EvaluatorChoice(predictor, wanted="traced", memory=64 * MB)
    traced = choice.evaluator(graph, draws)
    matrices = draws.matrices(torch.arange(60))  # (S, n, d)
    node, feature = torch.arange(900), torch.arange(12)
    for nodes, features in (
        (node < 400, feature < 3),
        (node >= 0, feature != 4),
        (node % 7 > 0, feature >= 0),
        (node % 7 > 0, feature != 4),
        (node >= 0, feature >= 0),
    ):
        selection = Selection.of(nodes, features)
        inputs = torch.where(selection.mask, graph.candidate_x, matrices)
        scores = torch.stack(
            [predictor.scores(each, graph.edge_index, {})[graph.target] for each in inputs]
        )
        assert torch.allclose(traced.scores(selection), scores, atol=1e-5)
