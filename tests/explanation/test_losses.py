"""What single elements are worth: counted by a plain loop, with intervals that hold the truth."""

import dataclasses
import itertools
import json

import pytest
import torch
from scipy.stats import multinomial

from zorro import Explanation, Zorro
from zorro.explanation.losses import Loss, Losses


class Adds(torch.nn.Module):
    """A sum over neighbours and itself; class 1 where it is large."""

    def forward(self, x, edge_index):
        total = x.clone().index_add(0, edge_index[1], x[edge_index[0]])
        score = total @ torch.tensor([3.0, 2.0, 1.0, 0.5]) - 17.2
        return torch.stack([-score, score], dim=1)


def small_graph():
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(12, 4, generator=generator) < 0.5).float()
    x[:4] = 1.0
    return x, torch.tensor([[0, 1, 2, 3, 4, 5], [1, 0, 1, 0, 0, 1]])


@pytest.fixture
def zorro():
    return Zorro(Adds(), *small_graph(), tau=0.8, hops=1)


def _share(x, edge_index, e, nodes, features, rounds, generator):
    """The share of random inputs that keep the class, entry by entry, with nothing of zorro."""
    keep = torch.zeros_like(x, dtype=torch.bool)
    for node, feature in itertools.product(nodes, features):
        keep[node, feature] = True
    hits = 0
    for _ in range(rounds):
        rows = torch.randint(x.size(0), x.shape, generator=generator)
        drawn = torch.where(keep, x, x.gather(0, rows))
        hits += int(Adds()(drawn, edge_index)[e.node].argmax()) == e.predicted_class
    return hits / rounds


def test_the_loss_of_each_element_is_what_a_plain_loop_counts(zorro):
    x, edge_index = small_graph()
    e = zorro.explain(1)
    assert e.nodes
    assert e.features
    drawn = torch.Generator().manual_seed(5)
    whole = _share(x, edge_index, e, e.nodes, e.features, 3000, drawn)
    for kind in ("nodes", "features"):
        losses = e.loss(kind)
        assert [loss.members for loss in losses] == e.ordered(kind)
        assert [loss.value for loss in losses] == sorted(
            (one.value for one in losses), reverse=True
        )
        for loss in losses:
            rest = {
                "nodes": [n for n in e.nodes if kind != "nodes" or n not in loss.members],
                "features": [f for f in e.features if kind != "features" or f not in loss.members],
            }
            lost = whole - _share(x, edge_index, e, rest["nodes"], rest["features"], 3000, drawn)
            assert loss.lower - 0.03 <= lost <= loss.upper + 0.03  # the loop's own error


@pytest.mark.parametrize("shares", [(0.3, 0.05), (0.02, 0.0), (0.5, 0.5), (0.1, 0.3), (0.9, 0.02)])
def test_intervals_hold_the_true_loss_as_often_as_they_say(shares):
    samples, confidence = 25, 0.9
    held = 0.0
    for broken in range(samples + 1):
        for mended in range(samples + 1 - broken):
            counts = (broken, mended, samples - broken - mended)
            chance = multinomial.pmf(counts, samples, (*shares, 1 - sum(shares)))
            of = {"nodes": (Loss((0,), broken, mended),)}
            (loss,) = Losses(samples, confidence, of).intervals("nodes")
            assert loss.lower <= loss.value <= loss.upper
            if loss.lower <= shares[0] - shares[1] <= loss.upper:
                held += chance
    assert held >= confidence


def test_the_order_does_not_depend_on_the_ids_and_survives_json(zorro):
    e = zorro.explain(1)
    assert Explanation.from_json(e.to_json()) == e
    turned = dataclasses.replace(
        e,
        losses=dataclasses.replace(
            e.losses, of={kind: losses[::-1] for kind, losses in e.losses.of.items()}
        ),
    )
    assert turned.ordered("features") == e.ordered("features")[::-1]
    assert dataclasses.replace(e, losses=None).ordered("nodes") == e.elements("nodes")


def test_losses_that_were_not_measured_are_none(zorro):
    values = json.loads(zorro.explain(1).to_json())
    without = Explanation.from_dict({**values, "losses": None})
    assert without.losses is None
    assert without.loss("nodes") == []
    assert "Most is lost" not in without.sentence()


def test_the_sentence_names_what_most_is_lost_without(zorro):
    e = zorro.explain(1)
    first = max((e.loss(kind)[0] for kind in e.selected), key=lambda one: one.value)
    assert first.lower > 0
    assert "Most is lost without" in e.sentence()
    assert str(first.members[0]) in e.sentence() or "the node itself" in e.sentence()
    assert e.described().index("order") < e.described().index("fidelity")


def test_samples_of_the_losses_are_none_of_the_certificates(zorro):
    """So that they are fresh: neither the search nor the test has seen them."""
    e = zorro.explain(1)
    assert e.losses.samples <= 1000
    meter = zorro.meter(1, samples=e.losses.samples)
    whole = meter.fidelity(nodes=e.nodes, features=e.features).value
    for loss in e.loss("nodes"):
        rest = [node for node in e.nodes if node not in loss.members]
        without = meter.fidelity(nodes=rest, features=e.features).value
        assert loss.value == pytest.approx(whole - without)
