"""The generated graphs have the shape they are said to have, and the report's figures add up."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN
from torch_geometric.utils import coalesce, degree, k_hop_subgraph

from zorro import models
from zorro.evaluation.evidence import level, log_evidence

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from dense_graphs import cells, measuring, summary
from dense_graphs.planted import Shape, generate
from dense_graphs.queries import queries, warm_up
from dense_graphs.report import page

SMALL = Shape(nodes=4000, edges=24_000, features=24, classes=6, signal=0.4)


@pytest.fixture(scope="module")
def graph():
    return generate(SMALL)


def test_edges_are_as_many_as_asked_and_stand_in_both_directions(graph):
    there = coalesce(graph.edge_index)
    assert there.size(1) == graph.num_edges == 2 * SMALL.edges
    assert torch.equal(there, coalesce(graph.edge_index.flip(0)))
    assert not graph.has_self_loops()


def test_degrees_have_a_tail_and_no_node_is_alone(graph):
    degrees, _ = degree(graph.edge_index[1], SMALL.nodes).sort(descending=True)
    assert degrees[-1] >= 1
    assert degrees[0] > 50 * degrees.median()
    # A power law is a line in logarithms: the slope of the tail is near the one asked for.
    ranks = np.array([3, 10, 30, 100, 300])
    slope = np.polyfit(np.log(ranks), np.log(degrees[ranks - 1].numpy()), 1)[0]
    assert -SMALL.tail - 0.2 < slope < -SMALL.tail + 0.3


def test_features_are_dense_and_correlated(graph):
    assert bool((graph.x != 0).all())
    correlations = torch.corrcoef(graph.x.t()) - torch.eye(SMALL.features)
    assert correlations.abs().max() > 0.3


def test_a_gcn_learns_the_classes_better_than_features_alone(graph):
    settings = models.TrainingSettings(epochs=30, learning_rate=0.02, weight_decay=0.0005)
    commonest = float(torch.bincount(graph.y).max() / SMALL.nodes)
    model = models.train(lambda d, c: GCN(d, 32, 2, c), graph, settings)
    own = models.train(lambda d, c: _OwnFeatures(d, c), graph, settings)
    learnt = models.accuracy(model, graph, graph.test_mask)
    assert learnt > commonest + 0.2
    assert learnt > models.accuracy(own, graph, graph.test_mask) + 0.05


class _OwnFeatures(torch.nn.Linear):
    def forward(self, x, edge_index):  # type: ignore[override]
        return super().forward(x)


def test_a_seed_is_a_graph_and_features_change_nothing_else(graph):
    again = generate(SMALL)
    assert torch.equal(again.x, graph.x)
    assert torch.equal(again.edge_index, graph.edge_index)
    wider = generate(Shape(**{**SMALL.__dict__, "features": 48}))
    assert wider.num_features == 48
    assert torch.equal(wider.edge_index, graph.edge_index)
    assert torch.equal(wider.y, graph.y)
    assert torch.equal(wider.test_mask, graph.test_mask)


def test_queries_are_test_nodes_and_hubs_and_begin_alike(graph):
    cell = cells.Cell("", "", "gcn", hubs=(0, 2), on_the_whole_graph=1)
    few, more = (queries(cell, graph, nodes=count, hubs=5) for count in (3, 6))
    assert few[:3] == more[:3]
    assert all(graph.test_mask[query.node] for query in more[:6])
    assert [query.on_the_whole_graph for query in few] == [True, False, False, False, False]
    degrees = degree(graph.edge_index[1], SMALL.nodes)
    order = degrees.sort(descending=True).values
    assert [degrees[q.node] for q in few if q.kind == "hub"] == [order[0], order[2]]
    near = k_hop_subgraph(few[0].node, 2, graph.edge_index)[0]
    assert few[0].within_two_hops == near.numel()
    assert warm_up(graph, more) not in {query.node for query in more}


def test_fewest_is_the_least_number_that_suffices():
    delta = level(0.05, 1)
    count = measuring.fewest(0.85, delta)
    needed = -np.log(delta)
    assert log_evidence(count, count, 0.85) >= needed > log_evidence(count - 1, count - 1, 0.85)


def _ours(seconds, status="certified", **more):
    return {
        "seconds": seconds,
        "status": status,
        "certified": True,
        "evaluator": "traced",
        "nodes": 2,
        "features": 5,
        "candidates": 50,
        "seconds_before": 0.1,
        "seconds_search": 0.2,
        "seconds_after": 0.3,
        "peak_mb": 100 + seconds,
        "peak_above_mb": seconds,
        **more,
    }


ROWS = [
    {
        "cell": "computers-gcn",
        "node": node,
        "kind": "random",
        "within_two_hops": (50, 99, 2000, 100, 20_000)[node],
        "accuracy": 0.8,
        "ours": ours,
        "against": against,
        "gnn_explainer_cut": {"seconds": 4.0},
    }
    for node, (ours, against) in enumerate(
        [
            (_ours(1.0), {"seconds": 10.0}),
            (_ours(2.0), {"over": 60.0}),
            (_ours(8.0), {"error": "MemoryError: no more"}),
            ({"over": 60.0}, {"over": 60.0}),
            ({"error": "ModelError: oh"}, {"seconds": 1.0}),
        ]
    )
]
ROWS[0]["fewest_samples"] = {"seconds": 0.5}


def test_ratios_are_of_the_same_query_and_bounds_are_counted():
    found = summary.of_queries(ROWS)
    assert found["ratio_cut"] == {
        "count": 4,
        "median": (0.5 + 2.0) / 2,
        "least": 0.25,
        "most": 15.0,  # at least: it ran into the limit
        "over": 1,
    }
    # Where both ran into the limit there is nothing to compare, nor where one failed.
    faster = found["times_faster"]
    assert (faster["count"], faster["least"], faster["most"], faster["over"]) == (2, 10.0, 30.0, 1)
    assert found["ratio_fewest"]["median"] == 2.0
    assert found["methods"]["ours"]["over"] == found["methods"]["ours"]["failed"] == 1
    assert found["methods"]["ours"]["median"] == 5.0  # of 1, 2, 8 and 60
    assert found["methods"]["ours"]["above_mb"] == 8.0
    assert (found["answered"], found["certified"]) == (3, 3)


def test_ranges_of_candidates_hold_each_query_once():
    ranges = summary.by_candidates(ROWS)
    counts = {group["least"]: group["queries"] for group in ranges}
    assert counts == {0: 2, 100: 1, 1000: 1, 10_000: 1}


def test_the_report_says_what_failed_and_what_is_a_bound():
    about = {"command": "c", "library": "a1", "against": "b2", "machine": "m", "versions": "v"}
    text = page(ROWS, [about])
    assert "computers-gcn, node 4, ours: ModelError: oh" in text
    assert "computers-gcn, node 2, against: MemoryError: no more" in text
    assert "20× or more" in text  # the median of 10 and at least 30
    assert "commit a1 against commit b2" in text


def test_a_query_is_measured_anew_after_an_error_or_for_a_further_method():
    known = measuring.latest([{"about": {}}, *ROWS, {**ROWS[4], "ours": _ours(3.0)}])
    assert known["computers-gcn", 4]["ours"]["seconds"] == 3.0
    complete = measuring.is_complete
    assert complete(ROWS[0], ["ours", "against"])
    assert complete(ROWS[3], ["ours", "against"])  # over the limit is an answer
    assert not complete(ROWS[4], ["ours"])
    assert not complete(ROWS[0], ["ours", "gnn_explainer_whole"])
    assert complete(ROWS[0], ["ours", "fewest_samples"])
