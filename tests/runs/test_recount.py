"""Claims of every kind counted again on other noise, for the answer that was asked about."""

import math
from dataclasses import replace

import pytest
import torch
from made_edges import EXPLAINED, MODEL, OPTIONS
from made_hetero import Convolved, library
from made_links import Multiplies
from made_molecules import CountsNitrogen, molecules
from made_runs import ring, small_model
from made_values import TOLERANCE, AddsNeighbours, WeighsAtoms, weighed_molecules
from torch_geometric.nn import GCN

from zorro.explanation import Versus
from zorro.question.decision import StaysAhead
from zorro.runs import explain_graphs, explain_hetero, explain_links, explain_many
from zorro.runs.claims import check_claims
from zorro.runs.given import LinksOf, ManyGraphs, OneGraph
from zorro.runs.recount import recounting
from zorro.runs.typed_graph import TypedGraph

RING = ring()
GRAPH = OneGraph(RING["x"], RING["edge_index"])


def of_nodes(model, nodes=(6, 9, 11), **options):
    return (
        lambda **how: explain_many(model, GRAPH.x, GRAPH.edge_index, nodes, **options, **how)
    ), (
        GRAPH,
        model,
    )


def of_links(pairs, **options):
    model = Multiplies().eval()
    asked = {"threshold": 0.0, **options}
    return (lambda **how: explain_links(model, GRAPH.x, GRAPH.edge_index, pairs, **asked, **how)), (
        LinksOf(GRAPH),
        model,
    )


def of_graphs(model, graphs, **options):
    return (lambda **how: explain_graphs(model, graphs, [0, 1, 4], **options, **how)), (
        ManyGraphs(graphs),
        model,
    )


def of_types():
    data = library()
    model = Convolved(data)
    return (lambda **how: explain_hetero(model, data, "paper", [3, 7, 11], **how)), (
        TypedGraph(data, "paper"),
        model,
    )


def several_labels():
    torch.manual_seed(1)
    return GCN(5, 8, num_layers=2, out_channels=4, act="tanh").eval()


KINDS = {
    "classes": lambda: of_nodes(small_model().eval()),
    "another class": lambda: of_nodes(several_labels(), why_not=2, nodes=(1, 4, 9, 11)),
    "any but a class": lambda: of_nodes(
        several_labels(), why_not=2, contrast="not", nodes=(1, 4, 9, 11)
    ),
    "beyond chance": lambda: of_nodes(small_model().eval(), beyond_chance=True),
    "a label": lambda: of_nodes(several_labels(), label=3, threshold=0.0),
    "values": lambda: of_nodes(AddsNeighbours(), tolerance=TOLERANCE),
    "a share of the spread": lambda: of_nodes(
        AddsNeighbours(), tolerance_share=0.6, side="up", output=1
    ),
    "edges": lambda: of_nodes(MODEL, EXPLAINED, **OPTIONS),
    "links": lambda: of_links([(6, 11), (9, 30), (3, 20)]),
    "links ahead of others": lambda: of_links([(6, 11), (9, 30), (3, 20)], among=[4, 8], top=2),
    "graphs": lambda: of_graphs(CountsNitrogen(), molecules().graphs),
    "values of graphs": lambda: of_graphs(
        WeighsAtoms().eval(),
        weighed_molecules().graphs,
        keep=("nodes",),
        feature_groups=[range(3)],
        tolerance=TOLERANCE,
    ),
    "types": of_types,
}


def made(kind, folder):
    """A run, and what counts its claims again."""
    make, (data, model) = KINDS[kind]()
    run = make(out=folder, engine="in-process")
    return run, recounting(run, data, model, model_kwargs={}, seed=7, samples=300)


@pytest.mark.parametrize("kind", KINDS)
def test_honest_claims_of_every_kind_hold(kind, tmp_path):
    run, count = made(kind, tmp_path / "run")
    explained = list(run.explanations())
    asked = run.manifest["parameters"]
    checked = check_claims(explained, count, tau=asked["tau"], delta=asked["delta"])
    assert checked.made >= 1
    assert [claim.counted.other_answer for claim in checked.claims if claim.counted] == (
        [""] * checked.made
    )
    assert not checked.is_broken
    for claim, e in zip(checked.claims, explained, strict=True):
        if claim.counted is not None:
            assert claim.counted.fidelity.value == pytest.approx(e.fidelity.value, abs=0.12)
            assert (claim.counted.chance is None) == (e.chance is None)


def changed_value(**changes):
    return lambda e: replace(e, value=replace(e.value, **changes))


CHANGES = {
    "the class": ("classes", lambda e: replace(e, predicted_class=1 - e.predicted_class)),
    "a comparison": ("classes", lambda e: replace(e, versus=Versus(0, "not"))),
    "another comparison": ("another class", lambda e: replace(e, versus=Versus(3, "beats"))),
    "another sense": ("another class", lambda e: replace(e, versus=Versus(2, "not"))),
    "no comparison": ("another class", lambda e: replace(e, versus=None)),
    "another label": ("a label", lambda e: replace(e, label=1)),
    "the value": ("values", lambda e: replace(e, value=replace(e.value, value=e.value.value + 1))),
    "the tolerance": ("values", changed_value(tolerance=TOLERANCE / 2)),
    "the side": ("values", changed_value(side="down")),
    "no value": ("values", lambda e: replace(e, value=None, ahead=StaysAhead(1))),
    "how far ahead": ("links ahead of others", lambda e: replace(e, ahead=StaysAhead(1))),
    "of whom": (
        "links ahead of others",
        lambda e: replace(e, query=replace(e.query, rivals=(4, 7))),
    ),
}


@pytest.mark.parametrize(("kind", "change"), CHANGES.values(), ids=CHANGES)
def test_a_claim_about_another_answer_is_told_from_the_one_that_is_counted(kind, change, tmp_path):
    run, count = made(kind, tmp_path / "run")
    e = next(e for e in run.explanations() if e.certified)
    assert count(e).other_answer == ""
    assert "expected" in count(change(e)).other_answer


def test_a_value_may_be_off_by_a_rounding(tmp_path):
    run, count = made("values", tmp_path / "run")
    e = next(e for e in run.explanations() if e.certified)
    nearly = replace(e, value=replace(e.value, value=math.nextafter(e.value.value, math.inf)))
    assert count(nearly).other_answer == ""
