"""Measures of masks against closed forms, and against the front door's fidelity."""

import math

import pytest
import torch

from zorro import Zorro
from zorro.errors import InputError
from zorro.methods import Masks, build, evaluate


def test_hard_masks_have_the_front_doors_fidelity(with_context, random_graph):
    subjects, subject = with_context
    zorro = Zorro(subject.model, *random_graph, seed=3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(5):
        nodes = torch.rand(subject.candidates, generator=generator) < 0.5
        features = torch.rand(12, generator=generator) < 0.5
        ours = evaluate(subject, Masks(nodes=nodes, features=features), subjects.noise, samples=60)
        theirs = zorro.fidelity(
            5,
            nodes=subject.graph.candidates[nodes].tolist(),
            features=features.nonzero().flatten().tolist(),
            samples=60,
        )
        assert ours.fidelity == theirs.value
        assert ours.node_entropy == pytest.approx(math.log(int(nodes.sum())))
        assert ours.feature_entropy == pytest.approx(math.log(int(features.sum())))


def test_the_planted_entry_alone_is_valid_and_stable(planted):
    subject = planted.of(0)
    nodes = subject.graph.candidates == 1
    features = torch.arange(5) == 2
    alone = evaluate(subject, Masks(nodes=nodes, features=features), planted.noise)
    assert (alone.node_entropy, alone.feature_entropy) == (0.0, 0.0)
    assert (alone.fidelity, alone.validity) == (1.0, 1.0)
    # Without it the class is kept where the noise sets the entry: 1 of 20 values of its column.
    without = evaluate(subject, Masks(nodes=~nodes), planted.noise, samples=4000)
    assert without.feature_entropy is None
    assert without.validity == 0.0
    assert without.fidelity == pytest.approx(1 / 20, abs=4 * math.sqrt(0.05 * 0.95 / 4000))


@pytest.mark.parametrize(("share", "stays"), [(0.45, False), (0.55, True), (7.0, True)])
def test_soft_masks_are_used_as_they_are(share, stays, planted):
    """The signal is share · 1 + (1 − share) · Z with Z mostly 0; above ½ the class stays."""
    subject = planted.of(0)
    masks = Masks(nodes=torch.ones(subject.candidates), features=share * (torch.arange(5) == 2))
    result = evaluate(subject, masks, planted.noise)
    assert result.validity == float(stays)
    assert result.fidelity == 1.0 if stays else result.fidelity < 0.2


def test_a_mask_left_out_selects_everything(with_context):
    subjects, subject = with_context
    assert evaluate(subject, Masks(), subjects.noise).fidelity == 1.0
    assert evaluate(subject, Masks(), subjects.noise).node_entropy is None


def test_chunks_of_samples_make_no_difference(with_context):
    subjects, subject = with_context
    masks = build("random", sizes=(4, 6)).explain(subject)
    whole = evaluate(subject, masks, subjects.noise)
    assert evaluate(subject, masks, subjects.noise, memory=20_000) == whole
    assert evaluate(subject, masks, subjects.noise, samples=range(100, 200), seed=3) == whole


def test_masks_of_another_query_are_refused(with_context):
    subjects, subject = with_context
    with pytest.raises(InputError, match="nodes: expected a mask of"):
        evaluate(subject, Masks(nodes=torch.ones(1)), subjects.noise)
    with pytest.raises(InputError, match="samples: expected at least 1"):
        evaluate(subject, Masks(), subjects.noise, samples=0)
