"""What is claimed of a model's explanations is true by a plain loop over the whole graph."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from scipy.stats import binomtest
from torch_geometric.data import Data, HeteroData
from torch_geometric.utils import k_hop_subgraph

from zorro import Zorro

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from honesty_audit import audit, graphs, offset_models, verdict
from honesty_audit.casting import cast
from honesty_audit.edge_zoo import EDGE_ZOO, prepare_edges
from honesty_audit.graph_zoo import GRAPH_ZOO, prepare_graphs
from honesty_audit.half_zoo import HALF_ZOO
from honesty_audit.hard import HardCase
from honesty_audit.link_zoo import LINK_ZOO, prepare_links
from honesty_audit.offset_zoo import OFFSET_ZOO
from honesty_audit.plain_edges import (
    Kept,
    Truth,
    count_answers_kept,
    edges_by_name,
    has_directions,
)
from honesty_audit.plain_loop import (
    count_hits,
    count_hits_of_graph,
    count_hits_of_link,
    count_values_kept,
    count_values_kept_of_graph,
    margins,
)
from honesty_audit.plain_types import KeptOfTypes, count_answers_kept_of_types
from honesty_audit.prepared import ENTRIES, prepare_any
from honesty_audit.table import page
from honesty_audit.typed_zoo import TYPED_ZOO, prepare_types
from honesty_audit.value_zoo import VALUE_ZOO, prepare_values
from honesty_audit.zoo import SMALL, ZOO, Case, prepare

QUICK = {entry.name: entry for entry in ZOO if entry.quick}
QUICK_GRAPHS = {entry.name: entry for entry in GRAPH_ZOO if entry.quick}
QUICK_LINKS = {entry.name: entry for entry in LINK_ZOO if entry.quick}
QUICK_VALUES = {entry.name: entry for entry in VALUE_ZOO if entry.quick}
QUICK_EDGES = {entry.name: entry for entry in EDGE_ZOO if entry.quick}
QUICK_TYPES = {entry.name: entry for entry in TYPED_ZOO if entry.quick}
QUICK_HARD = {entry.name: entry for entry in (*HALF_ZOO, *OFFSET_ZOO) if entry.quick}
SIZE, NODES = 100, 3
RUNS, FIRST = 300, 100  # all are run where the first leave a claim in doubt
MORE_RUNS = 1500  # where claims are nearly true
# At most: a bound and a reported figure each.
EVERY = (QUICK, QUICK_GRAPHS, QUICK_LINKS, QUICK_VALUES, QUICK_EDGES, QUICK_TYPES, QUICK_HARD)
CLAIMS = 2 * NODES * sum(len(zoo) for zoo in EVERY)
# Inputs of these are run one by one: a smaller search says as much of them.
ONE_BY_ONE = {
    "graphs: compared with others of the batch",
    "graphs: forgets the batch",
    "types: the first venue",
    "types: how many edges, relations",
}
FEW = {"max_evaluations": 1_500, "k": 3, "samples": 50}
# Models that every user has; refusing to answer for them would be honest too, but useless.
ORDINARY = {"GCN", "GAT", "ensemble of three GCNs", "categories as floats"}


@pytest.fixture(scope="module")
def audited():
    """A model's case and the answers for its queries, each made once."""
    known = {}

    def of(name):
        if name not in known:
            case = prepare(QUICK[name], SIZE)
            nodes = case.queries(NODES)
            options = {"max_evaluations": 5_000, "fresh_samples": 500}
            if QUICK[name].size == SMALL:  # every evaluation is a run on the whole graph
                nodes = nodes[:2]
                options |= FEW
            known[name] = case, list(audit.answers(case, nodes, runs=RUNS, first=FIRST, **options))
        return known[name]

    return of


@pytest.mark.parametrize("name", QUICK)
def test_no_claim_is_false(audited, name):
    case, answers = audited(name)
    assert audit.predicted_classes(case) > 1, "a constant model would make any claim true"
    for answer in answers:
        said = answer.verdict(CLAIMS)
        assert answer.status != "crashed", said
        assert said != "FALSE", answer
        if name in ORDINARY:
            assert said in ("holds", "no claim"), said


def assert_true(case):
    """Fail if a claim about some of a model's queries is false, or there is no answer."""
    assert audit.predicted_classes(case) > 1, "a constant model would make any claim true"
    options = {"max_evaluations": 5_000, "fresh_samples": 500}
    if case.name in ONE_BY_ONE:
        options |= FEW
    for answer in audit.answers(case, case.queries(2), runs=RUNS, first=FIRST, **options):
        said = answer.verdict(CLAIMS)
        assert answer.status not in ("crashed", "refused"), said
        assert said != "FALSE", answer


@pytest.mark.parametrize("name", QUICK_GRAPHS)
def test_no_claim_about_a_graph_is_false(name):
    case = prepare_graphs(QUICK_GRAPHS[name])
    assert_true(case)


@pytest.mark.parametrize("name", [*QUICK_LINKS, *QUICK_VALUES])
def test_no_claim_about_a_link_or_a_value_is_false(name):
    of_link = name in QUICK_LINKS
    case = prepare_links(QUICK_LINKS[name]) if of_link else prepare_values(QUICK_VALUES[name])
    assert_true(case)


@pytest.mark.parametrize("name", QUICK_EDGES)
def test_no_claim_about_edges_is_false(name):
    case = prepare_edges(QUICK_EDGES[name])
    assert_true(case)


@pytest.mark.filterwarnings("ignore:There exist node types")  # of PyG, where items get nothing
@pytest.mark.parametrize("name", QUICK_TYPES)
def test_no_claim_about_several_types_is_false(name):
    case = prepare_types(QUICK_TYPES[name])
    assert_true(case)


@pytest.mark.parametrize("name", QUICK_HARD)
def test_no_claim_about_a_narrow_decision_is_false(name):
    """In half precision, and far from zero, an answer may be refused, but no claim is false."""
    case = HardCase(prepare_any(QUICK_HARD[name]))
    options = {"max_evaluations": 20_000}
    for answer in audit.answers(case, case.queries(NODES), runs=MORE_RUNS, first=RUNS, **options):
        said = answer.verdict(CLAIMS)
        assert answer.status != "crashed", said
        assert said != "FALSE", answer


def test_the_names_of_the_zoos_are_different():
    names = [*ENTRIES, *(entry.name for entry in (*HALF_ZOO, *OFFSET_ZOO))]
    assert len(names) == len(set(names))


def test_margins_in_half_precision_are_exact():
    scores = torch.tensor([[4.0, 4.03125, 1.0], [2.0, 2.0, 0.5]], dtype=torch.bfloat16)
    assert margins(scores) == [0.03125, 0.0]
    assert margins(scores[:, :1], threshold=3.5) == [0.5, 1.5]
    assert margins(torch.tensor([1.0, -2.0])) == [1.0, 2.0]


def test_narrow_decisions_are_asked_about_first():
    """A tie, one of the narrowest tenth, one of the base's own; without ties the narrowest."""
    scores = torch.linspace(1.0, 5.0, 41)
    graph, every = graphs.citation(SIZE), torch.ones(41, dtype=torch.bool)
    predicted = (scores > 4).long()

    def case(threshold):
        near = dict(enumerate(margins(scores, threshold)))
        return HardCase(Case("", lambda x, e: x, graph, {}, predicted, every, near))

    own = case(0.0).base.queries(1)
    assert case(1.0).queries(3) == [0, 5, *own]
    assert case(0.5).queries(3) == [0, 4, *own]


def test_a_cast_graph_is_another_and_keeps_its_whole_numbers():
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), edge_weight=torch.ones(1))
    (half,) = cast([data], torch.bfloat16)
    assert (half.x.dtype, half.edge_weight.dtype) == (torch.bfloat16, torch.bfloat16)
    assert half.edge_index.dtype == torch.long
    assert data.x.dtype == torch.float32
    weighted = graphs.weighted(SIZE)
    assert cast(weighted, torch.float16).kwargs["edge_weight"].dtype == torch.float16
    assert weighted.kwargs["edge_weight"].dtype == torch.float32


@pytest.mark.parametrize("far", [offset_models.between_halves, offset_models.largest])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_far_away_decides_though_scores_lie_far_from_zero(far, dtype):
    """A node that keeps all its features has its class in half of the draws, as both halves may."""
    graph = cast(graphs.dense(SIZE), dtype)
    model = offset_models.Decided(far, offset=4.0, margin=0.0625).to(dtype)
    node = int((graph.x[:, 2] < 0).nonzero()[2])
    kept: dict[str, Any] = {"nodes": (node,), "features": range(graph.features)}
    hits = count_hits(model, graph.x, graph.edge_index, node, samples=400, seed=0, **kept)
    assert binomtest(hits, 400, 0.5).pvalue > 1e-4
    with torch.no_grad():
        assert len(set(margins(model(graph.x, graph.edge_index)))) == 2


def test_the_page_has_a_section_for_each_kind_of_models():
    answers = [audit.Answer(name, 0, "refused", message="why") for name in ("one", "two")]
    lines = page(answers, "command", {"First": {"one"}, "Second": {"two"}, "None": {"other"}})
    titles = [line for line in lines.splitlines() if line.startswith("## ")]
    assert titles == ["## First", "## Second", "## False claims", "## Not answered"]
    assert lines.index("## First") < lines.index("| one |") < lines.index("## Second")
    assert lines.index("## Second") < lines.index("| two |")


def test_the_plain_loop_over_types_by_hand():
    """One of four venues decides, so that it stays by chance in a quarter of the draws."""
    data = HeteroData()
    data["paper"].x, data["venue"].x = torch.zeros(2, 1), torch.arange(4)
    relation, back = ("paper", "in", "venue"), ("venue", "rev_in", "paper")
    data[relation].edge_index = torch.tensor([[0, 1], [2, 3]])
    data[back].edge_index = torch.tensor([[2, 3], [0, 1]])

    def venue(graph):
        here = graph[back].edge_index[:, graph[back].edge_index[1] == 0]
        return graph["venue"].x[here[0]].tolist()

    def counted(**kept):
        return count_answers_kept_of_types(
            venue,
            data,
            KeptOfTypes(**kept),
            pool=[data],
            ways=[(relation, back)],
            numbered=frozenset({"venue"}),
            presence=0.3,
            samples=2000,
            seed=1,
            same=lambda one, other: one == other,
        )

    assert counted(nodes={"venue": [2]}, features={}) == 2000
    assert counted(types=["venue"]) == 2000
    assert counted(edges={relation: [(0, 2)]}) == counted(relations=[relation]) == 2000
    assert binomtest(counted(nodes={}, features={}), 2000, 0.25).pvalue > 1e-4
    assert binomtest(counted(edges={relation: [(1, 3)]}), 2000, 0.3).pvalue > 1e-4
    both = counted(types=[], relations=[])
    assert binomtest(both, 2000, 0.25 * 0.3).pvalue > 1e-4


def test_an_ensemble_sees_as_far_as_its_members(audited):
    case, answers = audited("ensemble of three GCNs")
    for answer in answers:
        near = k_hop_subgraph(answer.query, 2, case.graph.edge_index, num_nodes=SIZE)[0]
        assert answer.candidates <= near.numel()


def test_a_false_claim_is_called_false():
    """The empty set does not keep a GCN's prediction nine times in ten, whoever says so."""
    case = prepare(QUICK["GCN"], SIZE)
    graph = case.graph
    node = case.queries(1)[0]
    true = Zorro(case.model, graph.x, graph.edge_index, fresh_samples=500).explain(node)
    assert true.status == "certified"
    bare = dataclasses.replace(true, selected={"nodes": (), "features": ()})
    assert true.certificate is not None
    proved = dataclasses.replace(true.certificate, bound=0.9)
    for fake in (
        dataclasses.replace(bare, certificate=proved),
        dataclasses.replace(bare, certificate=proved, status="nothing needed"),
        dataclasses.replace(bare, certificate=None, status="budget exhausted"),
        dataclasses.replace(bare, certificate=None, status="everything needed"),
    ):
        assert audit.measured(case, fake, runs=RUNS).verdict(CLAIMS) == "FALSE", fake.status
    assert audit.measured(case, true, runs=RUNS).verdict(CLAIMS) == "holds"
    # What only holds with further nodes left as they are is no claim about the whole graph.
    less = audit.measured(case, dataclasses.replace(bare, status="conditional"), runs=RUNS)
    assert less.verdict(CLAIMS) == "conditional"


def test_chance_alone_makes_no_claim_false():
    """Just below a bound of .9 by chance is not false; far below it is."""
    claim = verdict.Claim(bound=0.9)
    assert verdict.verdict(claim, 262, 300, claims=100) == "holds"
    assert verdict.verdict(claim, 230, 300, claims=100) == "FALSE"
    reported = verdict.Claim(hits=900, samples=1000)
    assert verdict.verdict(reported, 262, 300, claims=100) == "no claim"
    assert verdict.verdict(reported, 230, 300, claims=100) == "FALSE"
    assert verdict.verdict(reported, 299, 300, claims=100) == "FALSE"  # too low is untrue as well


def test_a_count_far_from_a_claim_asks_for_more_of_them():
    """Of 100 inputs: 90 for a bound of .9 leave no doubt, 80 do; a figure errs to both sides."""
    bound, reported = verdict.Claim(bound=0.9), verdict.Claim(hits=800, samples=1000)
    assert not verdict.is_doubtful(bound, 90, 100)
    assert verdict.is_doubtful(bound, 80, 100)
    assert not verdict.is_doubtful(reported, 80, 100)
    assert verdict.is_doubtful(reported, 95, 100)
    assert not verdict.is_doubtful(verdict.Claim(), 0, 100)  # nothing was claimed


def test_the_plain_loop_gives_a_threshold_model_its_fidelity():
    """Class 1 where own value + neighbour's > 1.5, values 0 or 1: F = share of ones, each."""
    x = torch.zeros(10, 2)
    x[:6, 0] = 1.0  # P(1) = .6
    edge_index = torch.tensor([[1], [0]])

    def model(x, edge_index):
        total = x[:, 0].clone()
        total = total.index_add(0, edge_index[1], x[edge_index[0], 0])
        return torch.stack([torch.full_like(total, 1.5), total], dim=1)

    def share(nodes, features):
        hits = count_hits(
            model, x, edge_index, 0, nodes=nodes, features=features, samples=2000, seed=0
        )
        return binomtest(hits, 2000)

    for nodes, features, expected in [
        ((), (), 0.36),
        ((0,), (0,), 0.6),
        ((0, 1), (1,), 0.36),  # a column that the model does not read
        ((5,), (0, 1), 0.36),  # nor a node
        ((0, 1), (0,), 1.0),
    ]:
        interval = share(nodes, features).proportion_ci(0.9999)
        assert interval.low <= expected <= interval.high


def test_the_plain_loop_draws_the_columns_of_a_group_together():
    """Class 1 where both of a node's columns are equal, as in all rows: P = 1 drawn as one."""
    pool = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    graph = Data(x=pool[:1], edge_index=torch.empty(2, 0, dtype=torch.long))

    def model(x, edge_index, batch):
        assert batch.tolist() == [0]
        return (x[:, :1] == x[:, 1:]).float() - 0.5

    def hits(**options):
        return count_hits_of_graph(
            model, pool, graph, nodes=(), features=(), samples=400, seed=0, **options
        )

    assert hits(groups=[(0, 1)]) == 400
    assert 150 < hits() < 250  # one in two by chance


def test_the_plain_loop_reads_one_logit_by_its_threshold_and_leaves_the_model_as_it_was():
    module = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(module.weight, 1.0)
    torch.nn.init.constant_(module.bias, 0.0)
    model = torch.nn.Sequential(torch.nn.Dropout(0.9), module).train()
    asked = []

    class Asked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x, edge_index):
            asked.append(self.training)
            return self.inner(x)

    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    edge_index = torch.empty(2, 0, dtype=torch.long)
    whole = Asked().train()
    # P(value > 1.5) = .5, and node 3's own value is above it.
    hits = count_hits(
        whole, x, edge_index, 3, nodes=(), features=(), samples=2000, seed=1, threshold=1.5
    )
    assert 0.44 < hits / 2000 < 0.56
    assert not any(asked)
    assert whole.training
    assert model[0].training


def test_the_plain_loop_asks_about_a_link_that_carries_no_message():
    """Linked where either end hears a neighbour; the two of the link itself hear nothing."""
    x = torch.ones(4, 1)
    edge_index = torch.tensor([[0, 1, 2], [1, 0, 3]])

    model: Any = None  # is handed on, and the callables here need none

    def call(model, x, edge_index, links, weight):
        assert weight.tolist() == [7.0]
        heard = torch.zeros(len(x)).index_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        return heard[links[0]] + heard[links[1]] - 0.5 + 0 * x.sum()

    options: dict[str, Any] = {
        "nodes": (),
        "features": (),
        "samples": 5,
        "seed": 0,
        "threshold": 0.0,
    }
    weights = {"weight": torch.tensor([5.0, 6.0, 7.0])}
    assert count_hits_of_link(model, call, x, edge_index, (0, 1), kwargs=weights, **options) == 5

    def reads(model, x, edge_index, links):
        return x[links[0], 0] + x[links[1], 0] - 1.5

    x = torch.tensor([[1.0], [1.0], [0.0], [0.0]])  # P(1) = .5 each
    options |= {"samples": 2000}
    both = count_hits_of_link(model, reads, x, edge_index, (0, 1), **options)
    assert binomtest(both, 2000, 0.25).pvalue > 1e-4
    options |= {"nodes": (0,), "features": (0,)}
    one = count_hits_of_link(model, reads, x, edge_index, (0, 1), **options)
    assert binomtest(one, 2000, 0.5).pvalue > 1e-4


def test_the_plain_loop_knows_when_a_value_stays():
    """The value is a node's own, drawn from 0, 1, 2, 3; the standard deviation is 1.29."""
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    edge_index = torch.empty(2, 0, dtype=torch.long)

    def kept(node, **options):
        given: dict[str, Any] = {
            "nodes": (),
            "features": (),
            "samples": 2000,
            "seed": 0,
            "side": "both",
        }
        return count_values_kept(lambda x, e: x, x, edge_index, node, **{**given, **options})

    assert binomtest(kept(1, share=1.0), 2000, 0.75).pvalue > 1e-4
    assert binomtest(kept(1, share=0.5), 2000, 0.25).pvalue > 1e-4
    assert binomtest(kept(1, share=0.5, side="up"), 2000, 0.75).pvalue > 1e-4
    assert binomtest(kept(1, share=0.5, side="down"), 2000, 0.5).pvalue > 1e-4
    assert kept(1, share=0.5, nodes=(1,), features=(0,)) == 2000
    several = [Data(x=x[[place]], edge_index=edge_index) for place in range(4)]
    given: dict[str, Any] = {"samples": 2000, "seed": 0, "side": "up"}
    for nodes, share in (((), 0.75), ((0,), 1.0)):
        hits = count_values_kept_of_graph(
            lambda x, e, batch: x, several, 1, nodes=nodes, share=0.5, **given
        )
        assert binomtest(hits, 2000, share).pvalue > 1e-4


def test_the_plain_loop_of_edges_is_binomial_in_a_star():
    """At least two of five messages; k edges are kept, the others are there by chance."""
    leaf = torch.arange(1, 6)
    there = torch.stack([leaf, torch.zeros_like(leaf)])
    edge_index = torch.cat([there, there.flip(0)], dim=1)
    x = torch.zeros(6, 1)
    truth = Truth(x, edge_index, {}, x, {})

    def answer(x, edge_index, of_edges):
        assert edge_index.size(1) == 2 * int((edge_index[1] == 0).sum())  # both directions
        return int((edge_index[1] == 0).sum()) >= 2

    for kept, share in (([], 0.47178), ([(0, 1)], 0.7599), ([(0, 1), (0, 5)], 1.0)):
        hits = count_answers_kept(
            answer, truth, Kept(kept), presence=0.3, directed=False, samples=2000, seed=0
        )
        assert binomtest(hits, 2000, share).pvalue > 1e-4
    with pytest.raises(ValueError, match="edges: expected some of the graph's"):
        count_answers_kept(
            answer, truth, Kept([(1, 2)]), presence=0.3, directed=False, samples=1, seed=0
        )


def test_the_plain_loop_draws_attributes_and_features_where_they_are_not_kept():
    """True where the one edge's weight and the receiver's value are both what they were."""
    edge_index = torch.tensor([[0, 1], [1, 0]])
    x = torch.tensor([[1.0], [0.0]])
    weights = torch.tensor([5.0, 5.0])
    pool = {"edge_weight": torch.tensor([5.0, 6.0, 7.0, 8.0])}
    truth = Truth(x, edge_index, {"edge_weight": weights}, x, pool)

    def answer(x, edge_index, of_edges):
        weight = of_edges["edge_weight"]
        assert weight.numel() == 0 or weight[0] == weight[1]  # an edge has one donor
        return edge_index.size(1) == 2 and float(weight[0]) == 5.0 and float(x[0, 0]) == 1.0

    everything = torch.ones(2, 1, dtype=torch.bool)
    for kept, share in (
        (Kept([(0, 1)]), 1.0),
        (Kept([]), 0.5),
        (Kept([(0, 1)], []), 0.25),
        (Kept([(0, 1)], [(0, 1)], ~everything), 0.5),
        (Kept([], [], ~everything), 0.0625),
        (Kept([], [(0, 1)], everything), 0.5),
    ):
        hits = count_answers_kept(
            answer, truth, kept, presence=0.5, directed=False, samples=2000, seed=0
        )
        assert binomtest(hits, 2000, share).pvalue > 1e-4


def test_the_plain_loop_tells_several_edges_apart():
    edge_index = torch.tensor([[0, 1, 1, 0, 2], [1, 0, 0, 1, 2]])
    assert edges_by_name(edge_index, tags=[7, 8, 7, 8, 7]) == {
        (0, 1, 0): [0, 2],
        (0, 1, 1): [3, 1],
        (2, 2): [4],
    }
    assert edges_by_name(edge_index, directed=True)[1, 0, 1] == [2]
    assert not has_directions(edge_index)
    assert has_directions(edge_index[:, :3])


@pytest.mark.parametrize("make", [graphs.citation, graphs.directed])
def test_labels_need_the_neighbours(make):
    """Many a node's own features alone would vote for another class than its label."""
    graph = make(SIZE)
    votes = torch.stack([graph.x[:, at :: graphs.CLASSES].sum(1) for at in range(graphs.CLASSES)])
    own = (votes.t() - votes.mean(1)).argmax(1)
    assert 0.1 < (own != graph.y).float().mean() < 0.7
    assert graph.y.unique().numel() == graphs.CLASSES


def test_queries_are_of_the_rarer_classes():
    predicted = torch.tensor([0, 0, 0, 1, 0, 2, 1])  # class 2 is not asked about
    case = Case("", lambda x, e: x, graphs.citation(SIZE), {}, predicted, predicted < 2)
    assert case.queries(2) == [3, 6]
