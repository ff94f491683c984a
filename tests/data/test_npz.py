import io
import zipfile

import numpy as np
import pytest
import torch

from zorro.data import load
from zorro.errors import DatasetError, InputError


class Code:
    """Something only a pickle can hold."""


@pytest.fixture
def arrays():
    return {
        "x": np.array([[0.5, 1.0], [2.0, 0.0], [0.0, 3.0]]),
        "edge_index": np.array([[0, 1], [1, 2]], dtype=np.int32),
        "y": np.array([0, 1, 1]),
        "train_mask": np.array([True, False, False]),
        "test_mask": np.array([False, True, True]),
    }


def write(path, arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_arrays_come_back_in_torch_types(tmp_path, arrays, kind):
    data = load(kind(write(tmp_path / "graph.npz", {**arrays, "ignored": np.arange(2)})))
    assert data.x.dtype == torch.float32
    assert data.edge_index.dtype == data.y.dtype == torch.int64
    for name, array in arrays.items():
        assert data[name].tolist() == array.tolist()
    assert "ignored" not in data


def test_labels_and_masks_may_be_missing(tmp_path, arrays):
    given = {"x": arrays["x"].astype(np.int64), "edge_index": arrays["edge_index"]}
    assert set(load(write(tmp_path / "graph.npz", given)).keys()) == {"x", "edge_index"}


def test_what_belongs_to_edges_comes_too(tmp_path, arrays):
    edges = {
        "edge_weight": np.array([1, 2]),
        "edge_attr": np.array([[0.5, 1.5], [2.5, 3.5]]),
        "edge_type": np.array([1, 0], dtype=np.uint8),
    }
    data = load(write(tmp_path / "graph.npz", {**arrays, **edges}))
    assert data.edge_weight.dtype == data.edge_attr.dtype == torch.float32
    assert data.edge_type.dtype == torch.int64
    for name, array in edges.items():
        assert data[name].tolist() == array.tolist()


@pytest.mark.parametrize("name", ["x", "edge_index"])
def test_missing_array_is_named(tmp_path, arrays, name):
    del arrays[name]
    with pytest.raises(DatasetError, match=f"has no array '{name}', only"):
        load(write(tmp_path / "graph.npz", arrays))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("edge_index", np.array([[0], [3]]), "edge_index: expected nodes from 0 to 2"),
        ("edge_index", np.array([[0.0], [1.0]]), "edge_index: expected an array of integers"),
        ("x", np.array([["a"], ["b"], ["c"]]), "x: expected an array of numbers"),
        ("x", np.array([np.nan]), "x: expected "),
        ("y", np.array([0, 1]), "y: expected "),
        ("y", np.array([0.0, 1.0, 0.5]), "y: expected an array of integers"),
        ("train_mask", np.array([0, 1, 1]), "train_mask: expected a bool"),
        ("test_mask", np.array([True]), "test_mask: expected a bool"),
        (
            "edge_weight",
            np.array([1.0, np.nan]),
            "edge_weight: expected finite numbers, got nan at edge 1",
        ),
        (
            "edge_weight",
            np.array([1e300, 1.0]),
            "edge_weight: expected finite numbers, got inf at edge 0",
        ),
        ("edge_weight", np.ones(3), r"edge_weight: expected .* one row per edge \(2\), got shape"),
        ("edge_weight", np.ones((2, 1)), r"edge_weight: expected shape \(2,\), got \(2, 1\)"),
        ("edge_attr", np.array(["a", "b"]), "edge_attr: expected an array of numbers"),
        ("edge_attr", np.float32(1), r"edge_attr: expected .* got shape \(\)"),
        ("edge_type", np.ones(2), "edge_type: expected an array of integers"),
    ],
)
def test_unusable_array_is_named_with_the_file(tmp_path, arrays, name, array, message):
    path = write(tmp_path / "graph.npz", {**arrays, name: array})
    with pytest.raises(InputError, match=f"graph.npz: {message}"):
        load(path)


def test_missing_file(tmp_path):
    with pytest.raises(DatasetError, match=r"there is no file .*absent.npz"):
        load(tmp_path / "absent.npz")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut off"])
def test_unreadable_file(tmp_path, content):
    (tmp_path / "broken.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"broken.npz is not a readable .npz of plain arrays"):
        load(tmp_path / "broken.npz")


def test_single_array_file_is_refused(tmp_path):
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(DatasetError, match=r"is not a readable .npz"):
        load(tmp_path / "array.npz")


def test_pickles_are_refused(tmp_path, arrays):
    path = write(tmp_path / "graph.npz", {**arrays, "x": np.array([Code()], dtype=object)})
    with pytest.raises(DatasetError, match="plain arrays"):
        load(path)


def claiming(path, arrays, name, shape, values=b"\x00" * 64):
    """Write an archive in which the header of an array claims another shape."""
    with zipfile.ZipFile(write(path, arrays)) as before:
        members = {member: before.read(member) for member in before.namelist()}
    header = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, described)
    members[f"{name}.npy"] = header.getvalue() + values
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


@pytest.mark.parametrize("shape", [(1 << 20, 1 << 19), (9,), (1 << 62, 1 << 62), (-1, 8), (0,)])
def test_a_header_that_claims_more_than_there_is_is_refused(tmp_path, arrays, shape):
    path = claiming(tmp_path / "graph.npz", arrays, "x", shape)
    with pytest.raises(DatasetError, match=r"x.npy is said to hold .* bytes of values, and has 64"):
        load(path)


def test_arrays_that_do_not_fit_the_memory_are_refused(tmp_path, arrays, monkeypatch):
    path = write(tmp_path / "graph.npz", arrays)
    size = sum(array.nbytes for array in arrays.values())
    monkeypatch.setattr("zorro.data.archive.available", lambda: size)
    assert load(path).num_nodes == 3
    monkeypatch.setattr("zorro.data.archive.available", lambda: size - 1)
    with pytest.raises(DatasetError, match=f"its arrays need {size} bytes of memory, and"):
        load(path)


def test_arrays_that_are_not_used_are_not_read(tmp_path, arrays):
    path = claiming(tmp_path / "graph.npz", arrays, "other", (1 << 40,))
    assert load(path).num_nodes == 3
