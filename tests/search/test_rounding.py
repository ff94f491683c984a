"""Answers that are decided by little: in half precision, and under large common offsets."""

import pytest
import torch
from scipy.stats import binomtest
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from zorro import Zorro
from zorro.errors import ModelError
from zorro.question.agreement import close, limit

NODES = 150


def a_graph(*, features=24, degree=3, words=False):
    """Numbers, or words that are there or not, whose shares of a node add up to 1."""
    draw = torch.Generator().manual_seed(0)
    ends = torch.randint(NODES, (2, NODES * degree // 2), generator=draw)
    edges = to_undirected(ends[:, ends[0] != ends[1]], num_nodes=NODES)
    if not words:
        return torch.randn(NODES, features, generator=draw), edges
    x = (torch.rand(NODES, features, generator=draw) < 0.1).float()
    return x / x.sum(1, keepdim=True).clamp(min=1), edges


class Shared(nn.Module):
    """One convolution three times: its layers say one hop, and far ones decide by roundings."""

    def __init__(self, features, classes, width):
        super().__init__()
        self.first, self.conv = nn.Linear(features, width), GCNConv(width, width)
        self.last = nn.Linear(width, classes)

    def forward(self, x, edge_index):
        x = self.first(x)
        for _ in range(3):
            x = x + self.conv(x, edge_index).relu()
        return self.last(x)


class Offset(nn.Module):
    """Two classes near an offset; the mean of all nodes decides by a margin."""

    def __init__(self, offset, margin):
        super().__init__()
        self.offset, self.margin = offset, margin

    def forward(self, x, edge_index):
        own = 0.01 * self.margin * x[:, 0].tanh()
        far = self.margin * torch.sign(x[:, 1].mean()) + own
        return torch.stack([self.offset + far, self.offset - far], 1)


def centred(dtype):
    """A graph whose mean of column 1 is just above 0: noise turns its sign half the time."""
    x, edges = a_graph()
    x[:, 1] += 1e-3 - x[:, 1].mean()
    return x.to(dtype), edges


def counted(model, x, edges, query, explanation, runs=500):
    """In how many inputs the class stays: the whole graph, one at a time, in the model's type."""
    draw = torch.Generator().manual_seed(7)
    kept = torch.zeros(x.shape, dtype=torch.bool)
    for node in explanation.nodes:
        kept[node, list(explanation.features)] = True
    with torch.no_grad():
        expected, hits = int(model(x, edges)[query].argmax()), 0
        for _ in range(runs):
            noise = x.gather(0, torch.randint(NODES, tuple(x.shape), generator=draw))
            hits += int(model(torch.where(kept, x, noise), edges)[query].argmax()) == expected
    return hits, runs


class FromAfar(nn.Module):
    """A few nodes decide for themselves; for others a node two steps away does, by less."""

    def __init__(self, offset):
        super().__init__()
        self.offset = offset

    def forward(self, x, edge_index):
        far = torch.sign(x[:, 1])
        for _ in range(2):
            far = torch.zeros_like(far).index_add(0, edge_index[1], far[edge_index[0]])
        ahead = 1e-6 * self.offset * (30 * (x[:, 0] > 1) + 3.2 * far)
        return torch.stack([self.offset + ahead, torch.full_like(ahead, self.offset)], 1)


@pytest.mark.parametrize("offset", [1000.0, 5000.0])
def test_margins_that_count_as_none_are_counted_on_the_whole_graph(offset):
    """No redrawing of what lies further away is seen to move the scores."""
    x, _ = a_graph()
    x[3, 0], x[1, 1] = 2.0, 1.0
    here = torch.arange(NODES)
    edges = torch.stack([here, (here + 1) % NODES])
    model = FromAfar(offset)
    turned = x.clone()
    turned[1, 1] = -1.0
    assert close(model(x, edges), model(turned, edges))
    explanation = Zorro(model, x, edges).explain(3)
    hits, runs = counted(model, x, edges, 3, explanation)
    assert explanation.certificate is not None
    bound = explanation.certificate.bound
    assert binomtest(hits, runs, bound, alternative="less").pvalue > 1e-4
    assert explanation.certified
    assert explanation.nodes == (3,)


@pytest.mark.parametrize(
    ("dtype", "offset", "margin", "remedy"),
    [
        (torch.float32, 1000.0, 0.003, "double"),
        (torch.bfloat16, 4.0, 0.0625, "float"),
        (torch.float16, 10.0, 0.0156, "float"),
    ],
)
def test_a_margin_within_the_rounding_is_refused_with_the_remedy(dtype, offset, margin, remedy):
    x, edges = centred(dtype)
    model = Offset(offset, margin)
    message = rf"node 3 is decided by .* pass x\.{remedy}\(\) and model\.{remedy}\(\)"
    with pytest.raises(ModelError, match=message):
        Zorro(model, x, edges).explain(3)
    with pytest.raises(ModelError, match=message):
        Zorro(model, x, edges).fidelity(3, nodes=[3], samples=100)


@pytest.mark.parametrize(
    ("seed", "query", "sizes", "tau"),
    [
        (18, 149, (48, 4, 16), 0.85),
        (3, 132, (48, 4, 16), 0.85),
        (5, 43, (24, 3, 32), 0.85),
        (8, 29, (24, 3, 32), 0.95),
    ],
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_claims_in_half_precision_hold_or_are_refused(seed, query, sizes, tau, dtype):
    x, edges = a_graph(features=sizes[0], degree=4, words=True)
    torch.manual_seed(seed)
    x, model = x.to(dtype), Shared(*sizes).to(dtype).eval()
    try:
        explanation = Zorro(model, x, edges, tau=tau, max_evaluations=40_000).explain(query)
    except ModelError as error:
        assert "is decided by" in str(error)  # noqa: PT017 - either of the two is right
        return
    hits, runs = counted(model, x, edges, query, explanation)
    assert explanation.certificate is not None
    bound = explanation.certificate.bound
    assert binomtest(hits, runs, bound, alternative="less").pvalue > 1e-4


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0, 1e4])
def test_no_two_scores_are_close_that_differ_by_more_than_the_limit(dtype, size):
    draw = torch.Generator().manual_seed(0)
    for _ in range(200):
        one = (size * (1 + torch.randn(3, generator=draw) / 100)).to(dtype)
        off = (torch.randn(3, generator=draw) * float(limit(one)) * 0.9).to(dtype)
        other = one + off
        difference = float((one.double() - other.double()).abs().max())
        assert difference <= float(limit(one)) or not close(one, other)
