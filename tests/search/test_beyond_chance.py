"""Sets that go beyond chance: F(S) ≥ F(∅) + τ (1 − F(∅))."""

import pytest
import torch
from torch import nn

from zorro import Zorro
from zorro.errors import InputError

EDGES = torch.tensor([[0], [1]])


class FirstFeature(nn.Module):
    """Class 1 where the first feature is one: nine nodes in ten."""

    def forward(self, x, edge_index):
        return torch.stack([1 - x[:, 0], x[:, 0]], dim=1)


class Pair(nn.Module):
    """Class 1 unless both of the first two features are zero."""

    def forward(self, x, edge_index):
        said = torch.maximum(x[:, 0], x[:, 1])
        return torch.stack([1 - said, said], dim=1)


def features(share=0.9, nodes=200):
    x = torch.ones(nodes, 3)
    x[: round(nodes * (1 - share)), 0] = 0
    x[:: round(1 / (1 - share)), 1] = 0
    return x


def test_where_chance_nearly_suffices_the_one_feature_that_decides_is_found():
    x = features()
    plain = Zorro(FirstFeature(), x, EDGES, tau=0.8).explain(150)
    assert plain.status == "nothing needed"
    beyond = Zorro(FirstFeature(), x, EDGES, tau=0.8, beyond_chance=True).explain(150)
    assert (beyond.status, beyond.nodes, beyond.features) == ("certified", (150,), (0,))
    assert beyond.chance is not None
    assert beyond.chance.lower < 0.9 < beyond.chance.upper
    # 90 % by chance leave 10 % open, of which 80 % are asked for.
    assert beyond.certificate is not None
    assert beyond.certificate.tau > 0.9 + 0.8 * 0.1 - 0.01
    assert beyond.certificate.bound >= beyond.certificate.tau
    assert beyond.certificate.delta == 0.05
    assert "by chance" in str(beyond)
    assert type(beyond).from_json(beyond.to_json()) == beyond


def test_either_of_two_features_is_enough():
    x = features(share=0.5)
    beyond = Zorro(Pair(), x, EDGES, tau=0.9, beyond_chance=True).explain(151)
    assert beyond.certified
    assert len(beyond.features) == 1
    assert beyond.fidelity.value == 1.0


def test_what_random_inputs_always_get_needs_nothing():
    x = features()
    x[:, 0] = 1
    explanation = Zorro(FirstFeature(), x, EDGES, beyond_chance=True).explain(3)
    assert explanation.status == "nothing needed"
    assert explanation.chance is not None
    assert explanation.chance.value == 1.0


def test_without_a_certificate_the_samples_share_is_gone_beyond():
    x = features()
    found = Zorro(FirstFeature(), x, EDGES, tau=0.8, delta=None, beyond_chance=True).explain(150)
    assert (found.status, found.features) == ("reached", (0,))


def test_it_is_the_guided_searchs():
    with pytest.raises(InputError, match="beyond_chance: expected the guided search"):
        Zorro(FirstFeature(), features(), EDGES, search="paper", beyond_chance=True)
    with pytest.raises(InputError, match="beyond_chance: expected True or False, got 3"):
        Zorro(FirstFeature(), features(), EDGES, beyond_chance=3)  # type: ignore[arg-type]
