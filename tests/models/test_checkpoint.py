from typing import Any

import pytest
import safetensors.torch
import torch
from torch import nn

from zorro.data import ba_community
from zorro.errors import CheckpointError, InputError
from zorro.models import TrainingSettings, build, checkpoint, train
from zorro.version import __version__

SETTINGS = TrainingSettings(epochs=2, seed=6)


@pytest.fixture(scope="module")
def data():
    return ba_community.generate()


@pytest.fixture(scope="module")
def trained(data):
    return train("gin", data, SETTINGS)


@pytest.fixture
def saved(tmp_path, data, trained):
    path = tmp_path / "models" / "gin.safetensors"
    record = checkpoint.describe(trained, "gin", data, dataset="ba-community", settings=SETTINGS)
    checkpoint.save(path, trained, record)
    return path


def test_round_trip_is_exact(saved, data, trained):
    model = build("gin", 10, 8, seed=1).eval()
    checkpoint.load(model, saved)
    assert torch.equal(model(data.x, data.edge_index), trained(data.x, data.edge_index))


def test_record_says_how_the_model_was_made(saved):
    record = checkpoint.read_record(saved)
    assert record["architecture"] == "gin"
    assert (record["in_channels"], record["out_channels"]) == (10, 8)
    assert record["dataset"] == "ba-community"
    assert TrainingSettings(**record["settings"]) == SETTINGS
    assert set(record["accuracy"]) == {"train", "test"}
    assert record["versions"]["zorro"] == __version__
    assert record["versions"]["torch"] == torch.__version__


def test_only_the_two_files_are_left(saved):
    assert sorted(path.name for path in saved.parent.iterdir()) == ["gin.json", "gin.safetensors"]


def test_failed_write_leaves_the_old_files(saved, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.parent.iterdir()}

    def full_disk(self, target):
        raise OSError("No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(CheckpointError, match=r"gin.safetensors could not be written: No space"):
        checkpoint.save(saved, build("gin", 10, 8), {})
    assert {path.name: path.read_bytes() for path in saved.parent.iterdir()} == before


def test_path_and_record_are_checked(tmp_path, trained):
    with pytest.raises(
        InputError, match=r"path: expected one that ends in .safetensors, got .*model.pt"
    ):
        checkpoint.save(tmp_path / "model.pt", trained, {})
    with pytest.raises(InputError, match="record: expected only what JSON can hold"):
        checkpoint.save(tmp_path / "model.safetensors", trained, {"model": trained})
    assert not list(tmp_path.iterdir())


def test_missing_file(tmp_path):
    with pytest.raises(CheckpointError, match=r"there is no file .*absent.safetensors"):
        checkpoint.load(build("gcn", 10, 8), tmp_path / "absent.safetensors")


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(CheckpointError, match="could not be read"):
        checkpoint.load(build("gcn", 10, 8), tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\xff" * 64])
def test_unreadable_file(tmp_path, content):
    path = tmp_path / "broken.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"broken.safetensors is not a readable safetensors"):
        checkpoint.load(build("gcn", 10, 8), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.pop("conv2.bias"), r"it has no conv2.bias: build"),
        (
            lambda weights: weights.update(spare=torch.ones(1)),
            r"it has spare, which the model lacks: build",
        ),
        (
            lambda weights: weights.update({"conv2.bias": torch.ones(7)}),
            r"it has conv2.bias of shape \(7,\), the model \(8,\): build",
        ),
        (lambda weights: weights.clear(), r"it has no conv1.bias \(and 3 more\): build"),
    ],
)
def test_weights_that_do_not_fit_change_nothing(tmp_path, change, message):
    model = build("gcn", 10, 8)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    weights = build("gcn", 10, 8, seed=1).state_dict()
    change(weights)
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.torch.save(dict(weights)))
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(model, path)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_record_of_other_weights_is_noticed(saved):
    other = build("gin", 10, 8, seed=1).state_dict()
    saved.write_bytes(safetensors.torch.save(dict(other)))
    with pytest.raises(CheckpointError, match=r"gin.json describes other weights than those in"):
        checkpoint.read_record(saved)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"there is no file .*gin.json"),
        ("{", r"gin.json is not readable JSON"),
        ("[]", r"gin.json: expected a JSON object, got list"),
        (
            '{"architecture": "gin", "architecture": "my_evil:Net"}',
            r"gin.json is not readable JSON .'architecture' stands there twice",
        ),
        ("[" * 200_000, r"gin.json is not readable JSON .nested too deeply"),
    ],
)
def test_unusable_record(saved, text, message):
    beside = saved.with_suffix(".json")
    beside.unlink() if text is None else beside.write_text(text)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.read_record(saved)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickle_is_told_how_to_become_safetensors(tmp_path, legacy):
    """The lines that the message gives do what it says."""
    model: Any = build("gcn", 10, 8, seed=1)
    path = tmp_path / "its model.pt"
    torch.save(model.state_dict(), path, _use_new_zipfile_serialization=not legacy)
    with pytest.raises(CheckpointError, match=r"its model.pt: .* got a pickle") as caught:
        checkpoint.load(build("gcn", 10, 8), path)
    _, *lines = str(caught.value).splitlines()
    assert len(lines) == 3
    for between in ("\n", " "):  # the command line puts an error on one line
        exec(between.join(line.strip() for line in lines))
        other: Any = build("gcn", 10, 8)
        checkpoint.load(other, tmp_path / "its model.safetensors")
        assert torch.equal(other.conv1.lin.weight, model.conv1.lin.weight)
        (tmp_path / "its model.safetensors").unlink()


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.float64])
def test_weights_of_another_type_are_refused(tmp_path, dtype):
    model = build("gcn", 10, 8)
    weights = dict(build("gcn", 10, 8, seed=1).state_dict())
    bias = torch.full((8,), 0.1, dtype=torch.float64)  # which no float32 is
    weights["conv2.bias"] = bias.to(dtype)
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.torch.save(weights))
    with pytest.raises(CheckpointError, match=rf"has conv2.bias as {dtype}, whose values the"):
        checkpoint.load(model, path)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_another_width_are_taken_if_none_is_rounded(tmp_path, dtype):
    model: Any = build("gcn", 10, 8)
    bias = torch.tensor([0.5, -0.25, 0, 1, 2, 3, torch.inf, torch.nan])
    weights = {**model.state_dict(), "conv2.bias": bias.to(dtype)}
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.torch.save(weights))
    checkpoint.load(model, path)
    assert torch.equal(model.conv2.bias.nan_to_num(7), bias.nan_to_num(7))


def test_shared_weights_can_be_saved(tmp_path):
    """A user's model may use one layer twice."""
    layer = nn.Linear(2, 2)
    model = nn.Sequential(layer, layer)
    checkpoint.save(tmp_path / "tied.safetensors", model, {})
    other: Any = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    checkpoint.load(other, tmp_path / "tied.safetensors")
    assert torch.equal(other[0].weight, layer.weight)
    assert torch.equal(other[1].weight, layer.weight)


def test_paper_checkpoints_are_found_by_name(paper_dir):
    found = checkpoint.paper_checkpoint("Cora", "GCN")
    assert found == paper_dir / "checkpoints" / "cora_gcn.safetensors"
    last = checkpoint.paper_checkpoint("ba-community-paper", "gcn3")
    assert last.name == "ba_community_4_gcn3.safetensors"
    with pytest.raises(CheckpointError, match=r"no file checkpoints/amazon-computers_gcn"):
        checkpoint.paper_checkpoint("amazon-computers", "gcn")


def test_paper_checkpoints_need_the_papers_folder(monkeypatch):
    monkeypatch.delenv("ZORRO_PAPER", raising=False)
    with pytest.raises(CheckpointError, match="ZORRO_PAPER is not set"):
        checkpoint.paper_checkpoint("cora", "gcn")
