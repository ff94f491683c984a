"""A graph on disk is the graph that was stored, or an error that names what is wrong with it."""

import dataclasses
import errno
import hashlib
import json
import os
import pickle
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from zorro.data import load, open_stored, store, verify_stored
from zorro.errors import DatasetError, InputError
from zorro.graph.column_values import ColumnValues
from zorro.graph.edge_index import TensorEdges
from zorro.graph.features import TensorFeatures
from zorro.graph.stored import conversion, verification
from zorro.graph.stored import graph as stored_graph
from zorro.graph.stored.arrays import new_folder
from zorro.graph.stored.layout import ArrayRecord, Record

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")  # torch calls its CSR layout beta

LAYOUTS = {
    "dense": lambda x: x,
    "coo": torch.Tensor.to_sparse,
    "csr": torch.Tensor.to_sparse_csr,
}
in_every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def small():
    """Edges 0→1, 2→1, 2→0, 0→1 again, 1→2; node 3 has none. Feature 1 is 5 or nothing."""
    return Data(
        x=torch.tensor([[1.0, 0.0], [0.0, 5.0], [-2.0, 5.0], [0.0, 0.0]]),
        edge_index=torch.tensor([[0, 2, 2, 0, 1], [1, 1, 0, 1, 2]]),
        y=torch.tensor([0, 1, 1, 2]),
        train_mask=torch.tensor([True, False, False, True]),
        test_mask=torch.tensor([False, True, False, False]),
        edge_weight=torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]),
        edge_attr=torch.arange(10.0).view(5, 2),
    )


def random_graph(nodes=200, edges=1500, features=37, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, features, generator=generator)
    x[torch.rand(nodes, features, generator=generator) < 0.7] = 0
    x[:, 3] = 0
    edge_index = torch.randint(nodes - 5, (2, edges), generator=generator)
    return Data(x=x, edge_index=edge_index, edge_type=torch.arange(edges))


@pytest.fixture
def folder(tmp_path):
    store(small(), tmp_path / "graph")
    return tmp_path / "graph"


def test_a_graph_worked_by_hand(folder):
    arrays = {path.stem: np.load(path).tolist() for path in folder.glob("*.npy")}
    assert arrays == {
        "in_indptr": [0, 1, 4, 5, 5],
        "in_senders": [2, 0, 2, 0, 1],
        "out_indptr": [0, 2, 3, 5, 5],
        "out_edges": [1, 3, 4, 0, 2],
        "x": [[1.0, 0.0], [0.0, 5.0], [-2.0, 5.0], [0.0, 0.0]],
        "column_values": [1.0, -2.0, 5.0, 5.0],
        "column_counts": [2, 2],
        "column_means": [-0.25, 2.5],
        "y": [0, 1, 1, 2],
        "train_mask": [True, False, False, True],
        "test_mask": [False, True, False, False],
        "edge_weight": pytest.approx([0.3, 0.1, 0.2, 0.4, 0.5]),
        "edge_attr": [[4.0, 5.0], [0.0, 1.0], [2.0, 3.0], [6.0, 7.0], [8.0, 9.0]],
    }
    record = json.loads((folder / "graph.json").read_text())
    assert (record["nodes"], record["edges"], record["features"]) == (4, 5, 2)
    assert (record["sparse"], record["one_value_each"]) == (False, False)


def test_sparse_features_are_stored_as_rows(tmp_path):
    data = small()
    data.x = data.x.to_sparse()
    store(data, tmp_path / "graph")
    rows = [np.load(tmp_path / f"graph/x_{name}.npy") for name in ("indptr", "columns", "values")]
    assert [array.tolist() for array in rows] == [[0, 1, 2, 4, 4], [0, 1, 0, 1], [1, 5, -2, 5]]
    assert not (tmp_path / "graph/x.npy").exists()


@in_every_layout
@pytest.mark.parametrize("at_once", [1, 64, 1 << 23], ids=["one", "some", "all"])
def test_what_is_read_is_what_was_in_memory(tmp_path, monkeypatch, layout, at_once):
    monkeypatch.setattr(conversion, "_AT_ONCE", at_once)  # a graph comes in any number of parts
    data = random_graph(edges=300) if at_once == 1 else random_graph()
    dense = data.x
    data.x = layout(data.x)
    store(data, tmp_path / "graph")
    graph = open_stored(tmp_path / "graph")
    order = data.edge_index[1].argsort(stable=True)
    in_order = data.edge_index[:, order]
    assert graph.edge_type is not None
    assert torch.equal(graph.edge_type, order)
    every = torch.arange(order.numel())
    assert torch.equal(
        torch.stack([graph.edge_index.nodes(row, every) for row in (0, 1)]), in_order
    )
    in_memory = TensorEdges(in_order, dense.size(0))
    nodes = torch.tensor([199, 0, 17, 17, 64])
    for row in (0, 1):
        for most in (None, 2):
            ours, theirs = (
                edges.grouped_by(row).members(nodes, most=most)
                for edges in (graph.edge_index, in_memory)
            )
            assert torch.equal(ours, theirs)
    assert torch.equal(graph.x.rows(nodes), dense[nodes])
    columns, expected = graph.x.by_column(), ColumnValues.of(data.x)
    assert torch.equal(columns.values, expected.values)
    assert torch.equal(columns.count, expected.count)
    assert (columns.num_rows, columns.one_each) == (expected.num_rows, expected.one_each)
    assert torch.equal(graph.x.column_means(), TensorFeatures(data.x).column_means())


@in_every_layout
def test_columns_of_one_value_are_known_to_be_that(tmp_path, layout):
    data = random_graph()
    data.x = layout((data.x != 0).float() * torch.arange(1.0, 38.0))
    store(data, tmp_path / "graph")
    assert open_stored(tmp_path / "graph").x.by_column().one_each


def test_zeros_that_a_sparse_matrix_holds_are_no_values(tmp_path):
    data = small()
    data.x = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [0, 0, 1]]), [0.0, 3.0, 0.0], (4, 2))
    store(data, tmp_path / "graph")
    columns = open_stored(tmp_path / "graph").x.by_column()
    assert (columns.values.tolist(), columns.count.tolist()) == ([3.0], [1, 0])


def test_a_graph_without_edges(tmp_path):
    store(Data(x=torch.ones(2, 1), edge_index=torch.empty(2, 0).long()), tmp_path / "graph")
    graph = open_stored(tmp_path / "graph")
    assert (graph.num_nodes, graph.num_edges) == (2, 0)
    assert graph.edge_index.grouped_by(0).members(torch.tensor([0, 1])).tolist() == []


def test_it_stands_for_a_data(folder):
    graph, data = load(folder), small()
    assert load(str(folder)).digest == graph.digest
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (4, 5, 2)
    for name in ("y", "train_mask", "test_mask"):
        assert torch.equal(graph.get(name), data[name])
    assert graph.get("val_mask") is graph.val_mask is None
    assert graph.get("folder") is None
    assert graph.to("cpu") is graph
    with pytest.raises(InputError, match="device: expected the CPU for a stored graph, got 'cuda'"):
        graph.to("cuda")
    assert repr(graph) == f"StoredGraph({folder}: 4 nodes, 5 edges, 2 features)"


def test_a_data_set_has_its_name_before_a_folder_has(folder, monkeypatch):
    folder.rename(folder.with_name("ba-community"))
    monkeypatch.chdir(folder.parent)
    assert load("ba-community").num_nodes == 1400
    assert load("./ba-community").num_nodes == 4


def test_the_digest_tells_graphs_apart_and_only_these(tmp_path):
    def digest(name, **changes):
        data = small()
        for key, value in changes.items():
            data[key] = value
        store(data, tmp_path / name)
        return open_stored(tmp_path / name).digest

    first = digest("first")
    assert digest("again") == first
    x, edge_index = small().x, small().edge_index
    x[3, 1] = 1e-6
    others = [
        digest("x", x=x),
        digest("edges", edge_index=edge_index.flip(0)),
        digest("labels", y=torch.tensor([0, 1, 1, 0])),
        digest("weights", edge_weight=torch.ones(5)),
        digest("no weights", edge_weight=None),
        digest("sparse", x=small().x.to_sparse()),
    ]
    assert len({first, *others}) == 7


def test_pickled_it_is_a_path(folder):
    graph = open_stored(folder)
    for part in (graph, graph.x, graph.edge_index):
        assert len(pickle.dumps(part)) < 1000
    again = pickle.loads(pickle.dumps(graph))
    assert torch.equal(again.x.rows(torch.arange(4)), small().x)
    assert pickle.loads(pickle.dumps(graph.edge_index)).num_edges == 5
    assert pickle.loads(pickle.dumps(graph.x)).shape == (4, 2)


def test_another_graph_under_the_same_name_is_noticed(folder, tmp_path):
    pickled = pickle.dumps(open_stored(folder).x)
    folder.rename(tmp_path / "old")
    data = small()
    data.y = 1 - data.y.clamp(max=1)
    store(data, folder)
    with pytest.raises(DatasetError, match="holds another graph now"):
        pickle.loads(pickled)


def test_the_files_stay_as_they_are(folder):
    graph = open_stored(folder)
    assert graph.y is not None
    graph.y[0] = 2  # a private copy of the page
    assert np.load(folder / "y.npy")[0] == 0


def truncate(path):
    os.truncate(path, path.stat().st_size - 4)


def write(array):
    return lambda path: np.save(path, array)


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("in_senders", Path.unlink, "in_senders.npy cannot be opened .No such file"),
        ("out_edges", truncate, "out_edges.npy cannot be opened .mmap length"),
        ("y", lambda path: path.write_bytes(b""), "y.npy cannot be opened"),
        ("x", lambda path: path.write_text("[1, 2]"), "x.npy cannot be opened"),
        (
            "x",
            write(np.zeros((4, 3), np.float32)),
            r"x.npy: expected <f4 of shape \(4, 2\), got <f4 of shape \(4, 3\)",
        ),
        ("y", write(np.zeros(4)), r"y.npy: expected <i8 of shape \(4,\), got <f8"),
        (
            "x",
            write(np.asfortranarray(np.ones((4, 2), np.float32))),
            "expected values row after row",
        ),
        (
            "in_indptr",
            write(np.array([0, 1, 4, 5, 6], np.int32)),
            "expected values from 0 to 5, got 0 to",
        ),
        (
            "column_counts",
            write(np.array([2, 3])),
            "column_counts.npy: expected as many as column_values",
        ),
    ],
)
def test_broken_files_are_named(folder, name, spoil, message):
    spoil(folder / f"{name}.npy")
    with pytest.raises(DatasetError, match=message):
        open_stored(folder)


class Code:
    """Something only a pickle can hold; it must never come to life."""

    def __setstate__(self, state):
        raise AssertionError("unpickled")


def test_pickles_are_refused(folder):
    code = Code()
    code.state = 1  # type: ignore[attr-defined]
    np.save(folder / "y.npy", np.array([code] * 4, dtype=object))
    with pytest.raises(DatasetError, match=r"y.npy cannot be opened .*Python objects"):
        open_stored(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "another"}, 'does not say "format": "zorro graph"'),
        ({"version": 2}, "its version is 2, expected 1"),
        ({"arrays": {}}, "its digest is not that of the arrays it lists"),
        ({"arrays": 3}, "not the record of a stored graph"),
        ({"nodes": 5}, r"in_indptr.npy: expected shape \(6,\), got \(5,\)"),
        ({"sparse": True}, "lists no array x_indptr"),
    ],
    ids=str,
)
def test_a_record_that_does_not_fit_is_refused(folder, change, message):
    record = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps({**record, **change}))
    with pytest.raises(DatasetError, match=message):
        open_stored(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "\udcff"])
def test_a_record_that_is_none_is_refused(folder, text):
    (folder / "graph.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DatasetError, match="not the record of a stored graph"):
        open_stored(folder)


def test_other_folders_are_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DatasetError, match=r"no stored graph: there is no graph.json in it"):
            open_stored(folder)


def test_nothing_is_overwritten(folder):
    before = sorted(folder.iterdir())
    with pytest.raises(InputError, match=r"folder: expected a name that is free, got .*graph"):
        store(small(), folder)
    assert sorted(folder.iterdir()) == before
    assert sorted(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": torch.full((4, 2), torch.nan)}, "x: expected finite"),
        ({"x": None}, "x: expected "),
        ({"x": torch.ones(4, 2, dtype=torch.bfloat16)}, r"x: expected float16.*with x.float\(\)"),
        ({"edge_index": torch.tensor([[0], [4]])}, "edge_index: expected nodes from 0 to 3"),
        ({"y": torch.tensor([0, 1])}, r"y: expected an int64 tensor of shape \(4,\)"),
        ({"val_mask": torch.zeros(4)}, "val_mask: expected a bool tensor"),
        (
            {"edge_weight": torch.ones(4)},
            r"edge_weight: expected .* per edge \(5\), got shape \(4,\)",
        ),
        ({"edge_attr": [1, 2]}, "edge_attr: expected a dense tensor of numbers .*, got list"),
        ({"edge_type": torch.ones(5).bfloat16()}, "edge_type: expected .* got torch.bfloat16"),
    ],
    ids=lambda value: str(next(iter(value))) if isinstance(value, dict) else "",
)
def test_what_cannot_be_stored_is_named(tmp_path, change, message):
    data = small()
    for name, value in change.items():
        data[name] = value
    with pytest.raises(InputError, match=message):
        store(data, tmp_path / "deep/graph")
    assert list(tmp_path.iterdir()) == []


def test_only_a_data_can_be_stored(tmp_path):
    with pytest.raises(InputError, match=r"data: expected a torch_geometric.data.Data, got dict"):
        store({"x": torch.ones(1, 1)}, tmp_path / "graph")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file/graph", Path("/proc/graph")):
        with pytest.raises(DatasetError, match=f"{place} could not be written: "):
            store(small(), place)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_place_is_named(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(DatasetError, match="graph could not be written: Permission denied"):
        store(small(), tmp_path / "graph")
    tmp_path.chmod(0o755)


@contextmanager
def small_files_only():
    """Let the system refuse to make a file larger than 4 kB, as a full disk would.

    It refuses the tests' own output too, so that nothing may be printed meanwhile.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_takes_no_more_leaves_nothing_behind(tmp_path):
    graph = random_graph()
    with (
        pytest.raises(DatasetError, match="could not be written: File too large") as caught,
        small_files_only(),
    ):
        store(graph, tmp_path / "graph")
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(conversion, "_write_dense", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store(small(), tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


def altered(folder, name, change):
    """Change values of an array; its size stays."""
    path = folder / f"{name}.npy"
    array = np.load(path)
    change(array)
    np.save(path, array)
    return array


def set_at(place, value):
    return lambda array: array.__setitem__(place, value)


ALTERED = {
    "x": set_at((0, 0), 1.5),
    "in_senders": set_at(0, 1),
    "out_edges": set_at(slice(0, 2), [3, 1]),
    "in_indptr": set_at(1, 2),
    "y": set_at(0, 1),
    "train_mask": set_at(1, True),
    "edge_weight": set_at(0, 9.0),
    "column_values": set_at(0, 7.0),
    "column_means": set_at(0, 7.0),
}


@pytest.mark.parametrize(("name", "change"), ALTERED.items(), ids=ALTERED)
def test_other_values_under_the_old_digest_are_refused(folder, monkeypatch, name, change):
    altered(folder, name, change)
    message = f"{name}.npy: expected the values of its digest in graph.json"
    for look in (open_stored, verify_stored):
        with pytest.raises(DatasetError, match=message):
            look(folder)
    with monkeypatch.context() as patch:
        patch.setattr(stored_graph, "_SMALL", 0)  # as if it were large
        graph = open_stored(folder)
    with pytest.raises(DatasetError, match=message):
        graph.verify()
    pickle.loads(pickle.dumps(graph.x))  # a worker does not verify it again, small or large


def forge(folder, name, array):
    """Write an array as somebody would who adapts the digests too."""
    np.save(folder / f"{name}.npy", array)
    record = Record.read(folder)
    sha = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    arrays = {**record.arrays, name: ArrayRecord(array.dtype.str, array.shape, sha)}
    dataclasses.replace(record, arrays=arrays).write(folder)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("at_once", [1, 3, 1 << 22])
@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("in_senders", 0, 4, "in_senders.npy: expected ids from 0 to 3, got 4"),
        ("in_senders", 0, -1, "in_senders.npy: expected ids from 0 to 3, got -1"),
        ("in_senders", 0, 1, "out_edges.npy: expected the edges of each sender"),
        ("in_indptr", 1, 5, "in_indptr.npy: expected ascending values, got 5 and then 4"),
        ("out_indptr", 1, 3, "out_edges.npy: expected"),
        ("out_indptr", 1, 4, "out_indptr.npy: expected ascending values, got 4 and then 3"),
        ("out_edges", 4, 5, "out_edges.npy: expected ids from 0 to 4, got 5"),
        (
            "out_edges",
            slice(0, 2),
            [3, 1],
            "out_edges.npy: expected ascending values in each group",
        ),
        ("out_edges", 1, 1, "out_edges.npy: expected ascending values in each group"),
        ("out_edges", slice(1, 3), [4, 3], "out_edges.npy: expected the edges of each sender"),
        ("column_values", 0, 7.0, "column_values.npy: expected the columns of x"),
        (
            "column_counts",
            slice(0, 2),
            [1, 3],
            "column_counts.npy: expected the non-zero values|expected the columns",
        ),
        (
            "column_counts",
            slice(0, 2),
            [-1, 5],
            "column_counts.npy: expected no negative counts, got -1",
        ),
        ("column_means", 1, 2.4999, "column_means.npy: expected the means of the columns"),
        ("y", 0, -1, "y.npy: expected class numbers from 0, got -1"),
    ],
    ids=str,
)
def test_a_graph_that_does_not_fit_together_is_refused(
    tmp_path, monkeypatch, sparse, at_once, name, place, value, message
):
    data = small()
    data.x = data.x.to_sparse() if sparse else data.x
    folder = tmp_path / "graph"
    store(data, folder)
    array = np.load(folder / f"{name}.npy")
    array[place] = value
    monkeypatch.setattr(stored_graph, "_SMALL", 0)
    monkeypatch.setattr(verification, "_AT_ONCE", at_once)
    assert verify_stored(folder).num_nodes == 4
    forge(folder, name, array)
    with pytest.raises(DatasetError, match=message):
        verify_stored(folder)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("x_columns", np.array([0, 2, 0, 1], np.int32), "x_columns.npy: expected ids from 0 to 1"),
        (
            "x_columns",
            np.array([0, 1, 1, 0], np.int32),
            "x_columns.npy: expected ascending values in each group",
        ),
        (
            "x_columns",
            np.array([0, 1, 1, 1], np.int32),
            "x_columns.npy: expected ascending values in each group",
        ),
        (
            "x_indptr",
            np.array([0, 2, 1, 4, 4], np.int32),
            "x_indptr.npy: expected ascending values",
        ),
        ("x_values", np.array([1, np.inf, -2, 5], np.float32), "x_values.npy: expected finite"),
        (
            "x_values",
            np.array([1, 4, -2, 5], np.float32),
            "column_values.npy: expected the columns",
        ),
    ],
)
def test_sparse_features_that_are_none_are_refused(tmp_path, name, array, message):
    data = small()
    data.x = data.x.to_sparse()
    store(data, tmp_path / "graph")
    forge(tmp_path / "graph", name, array)
    with pytest.raises(DatasetError, match=message):
        open_stored(tmp_path / "graph")


def test_columns_that_are_said_to_hold_one_value_each(folder):
    dataclasses.replace(Record.read(folder), one_value_each=True).write(folder)
    with pytest.raises(DatasetError, match=r"column_values.npy: expected one value each: False"):
        open_stored(folder)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("in_senders", np.zeros(5), r"in_senders.npy: expected <i4 or <i8, got <f8"),
        ("x", np.zeros((4, 2), np.int32), r"x.npy: expected <f2 or <f4 or <f8, got <i4"),
        ("column_means", np.zeros(2), r"column_means.npy: expected <f4, got <f8"),
        ("train_mask", np.zeros(4, np.uint8), r"train_mask.npy: expected \|b1, got \|u1"),
        ("other", np.zeros(4), r"lists an array 'other' that does not belong to it"),
    ],
)
def test_arrays_of_other_types_are_refused(folder, name, array, message):
    forge(folder, name, array)
    with pytest.raises(DatasetError, match=message):
        open_stored(folder)


def test_more_than_the_array_in_a_file_is_refused(folder):
    with (folder / "y.npy").open("ab") as file:
        file.write(b"more")
    with pytest.raises(DatasetError, match=r"y.npy: expected \d+ bytes, got \d+"):
        open_stored(folder)


def test_a_pipe_is_not_waited_for(folder):
    (folder / "y.npy").unlink()
    os.mkfifo(folder / "y.npy")
    with pytest.raises(DatasetError, match=r"y.npy cannot be opened .not a file"):
        open_stored(folder)


def test_a_record_that_says_something_twice_is_refused(folder):
    text = (folder / "graph.json").read_text()
    (folder / "graph.json").write_text(text.replace('"nodes"', '"nodes": 9, "nodes"', 1))
    with pytest.raises(DatasetError, match=r"not the record .*'nodes' stands there twice"):
        open_stored(folder)


def test_a_record_nested_too_deeply_is_refused(folder):
    (folder / "graph.json").write_text('{"format":' + "[" * 200_000)
    with pytest.raises(DatasetError, match=r"not the record of a stored graph .nested too deeply"):
        open_stored(folder)


@in_every_layout
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("at_once", [50, 1 << 22])
def test_what_was_stored_is_verified_in_parts_of_any_size(
    tmp_path, monkeypatch, layout, dtype, at_once
):
    monkeypatch.setattr(verification, "_AT_ONCE", at_once)
    data = random_graph()
    data.x = layout(data.x.to(dtype))
    store(data, tmp_path / "graph")
    told = []
    verify_stored(tmp_path / "graph", on_progress=lambda *progress: told.append(progress))
    done = [part for part, _ in told]
    assert done == sorted(done)
    assert told[-1] == (2 * total_bytes(tmp_path / "graph"),) * 2


def total_bytes(folder):
    return sum(np.load(path).nbytes for path in folder.glob("*.npy"))


def test_what_a_killed_process_has_left_is_taken_over(tmp_path, monkeypatch):
    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(2):
        if (child := os.fork()) == 0:
            monkeypatch.setattr(conversion, "_write_dense", die)
            store(small(), tmp_path / "graph")
        os.waitpid(child, 0)
        assert [path.name for path in tmp_path.iterdir()] == [".graph.unfinished"]
    assert len(list((tmp_path / ".graph.unfinished").iterdir())) > 1
    store(small(), tmp_path / "graph")
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    assert not (tmp_path / "graph" / "lock").exists()


def test_two_writers_do_not_mix(tmp_path):
    with new_folder(tmp_path / "graph") as unfinished:
        (unfinished / "mine").touch()
        with pytest.raises(DatasetError, match="is being written by another process"):
            store(small(), tmp_path / "graph")
        assert (unfinished / "mine").exists()
    assert [path.name for path in (tmp_path / "graph").iterdir()] == ["mine"]


@pytest.mark.parametrize("other", ["a link", "something else"])
def test_a_lock_of_somebody_else_is_not_followed(tmp_path, other):
    lock = tmp_path / ".graph.unfinished/lock"
    lock.parent.mkdir()
    if other == "a link":
        lock.symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(lock)  # which would be waited for
    with pytest.raises(DatasetError, match=f"lock: expected a file, got {other}"):
        store(small(), tmp_path / "graph")
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_place_of_the_unfinished_folder_is_not_emptied(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").touch()
    (tmp_path / ".graph.unfinished").symlink_to(tmp_path / "precious")
    with pytest.raises(DatasetError, match="is a link: remove it"):
        store(small(), tmp_path / "graph")
    assert (tmp_path / "precious/file").exists()
