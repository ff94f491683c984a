import pytest
import torch
from torch import nn

from zorro.errors import InputError, ModelError
from zorro.models import build
from zorro.models.architectures import GCN


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_names_ignore_capitals():
    assert isinstance(build("GCN", 4, 2), GCN)


def test_own_class_is_imported():
    model = build("torch.nn:Linear", 4, 2)
    assert isinstance(model, nn.Linear)
    assert (model.in_features, model.out_features) == (4, 2)


def test_own_function_is_called_with_the_channels():
    model = build(lambda features, classes: nn.Bilinear(features, 3, classes), 4, 2)
    assert isinstance(model, nn.Bilinear)
    assert (model.in1_features, model.out_features) == (4, 2)


def test_seed_decides_the_initial_weights():
    assert torch.equal(weights(build("gin", 4, 2)), weights(build("gin", 4, 2, seed=0)))
    assert not torch.equal(weights(build("gin", 4, 2)), weights(build("gin", 4, 2, seed=1)))


def test_global_generator_is_untouched():
    before = torch.get_rng_state()
    build("gat", 4, 2, seed=5)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gcnn", r"one of appnp, .* got 'gcnn' \(did you mean 'gcn'\?\)"),
        ("transformer", r"one of appnp, gat, gcn, gcn3, gin or .*got 'transformer'$"),
        (
            "no.such.package:Model",
            r"expected a module that can be imported, got 'no.such.package:Model' .* PYTHONPATH",
        ),
        (":Model", "expected a module that can be imported"),
        ("torch.nn:NoSuchLayer", "expected a name in 'torch.nn', got 'NoSuchLayer'"),
        ("torch.nn:", "expected a name in 'torch.nn', got ''"),
        ("torch:__version__", "expected a class or function"),
    ],
)
def test_unknown_names_say_what_is_wrong(name, message):
    with pytest.raises(InputError, match=message):
        build(name, 4, 2)


def test_module_that_fails_on_import(tmp_path, monkeypatch):
    (tmp_path / "broken_on_import.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"a module that can be imported, .* \(division by zero\)"):
        build("broken_on_import:Model", 4, 2)


@pytest.mark.parametrize("channels", [(0, 2), (2, 0)])
def test_channels_are_positive(channels):
    with pytest.raises(InputError, match="channels: expected at least 1, got 0"):
        build("gcn", *channels)


def test_failing_and_foreign_factories():
    with pytest.raises(ModelError, match=r"could not be built with \(4, 2\): TypeError"):
        build("torch.nn:Bilinear", 4, 2)
    with pytest.raises(ModelError, match=r"must give a torch.nn.Module .*, got Tensor"):
        build("torch:zeros", 4, 2)
