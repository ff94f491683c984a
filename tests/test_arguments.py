"""Whole numbers come from any library and stay plain; what is none is refused by name."""

import json
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from torch_geometric.nn import GCN

from zorro import Explanation, Zorro, explain_many, open_run, rdt_fidelity
from zorro.errors import InputError

INTEGERS = {
    "torch": torch.tensor(5),
    "int32 tensor": torch.tensor(5, dtype=torch.int32),
    "int64": np.int64(5),
    "uint8": np.uint8(5),
    "array of no dimension": np.array(5),
}
MASK = torch.isin(torch.arange(40), torch.tensor([5, 7]))
NUMBERS = {
    "tensor": torch.tensor([5, 7]),
    "int32 tensor": torch.tensor([5, 7], dtype=torch.int32),
    "array": np.array([5, 7]),
    "tensors in a list": [torch.tensor(5), torch.tensor(7)],
    "tuple": (np.int32(5), 7),
    "range": range(5, 8, 2),
    "series": pandas.Series([5, 7]),
    "mask": MASK,
    "array of truth values": MASK.numpy(),
}


@pytest.fixture(scope="module")
def parts():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(40, 8, generator=generator)
    edge_index = torch.randint(0, 40, (2, 90), generator=generator)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = GCN(8, 16, 2, out_channels=3).eval()
    return model, x, edge_index


@pytest.fixture(scope="module")
def zorro(parts):
    return Zorro(*parts, tau=0.7, samples=20, fresh_samples=50)


def plain(explanation):
    return json.loads(explanation.to_json()) | {"seconds": 0}


@pytest.mark.parametrize("node", INTEGERS.values(), ids=INTEGERS)
def test_every_librarys_integers_are_nodes(parts: tuple[Any, Any, Any], zorro, node):
    found = zorro.explain(node)
    assert plain(found) == plain(zorro.explain(5))
    assert type(found.node) is int
    assert Explanation.from_json(found.to_json()) == found
    assert [plain(e) for e in zorro.explain_multiple(node, max_explanations=2)] == [
        plain(e) for e in zorro.explain_multiple(5, max_explanations=2)
    ]
    kept: dict[str, Any] = {"nodes": [5], "features": [1]}
    assert zorro.fidelity(node, **kept) == zorro.fidelity(5, **kept)
    assert zorro.meter(node).fidelity(**kept) == zorro.fidelity(5, **kept)
    expected = rdt_fidelity(*parts, 5, **kept, samples=30)
    assert rdt_fidelity(*parts, node, **kept, samples=30) == expected


@pytest.mark.parametrize("cast", [np.int64, torch.tensor])
def test_and_classes(zorro, cast):
    other = (zorro.explain(5).predicted_class + 1) % 3
    found = zorro.explain(5, why_not=cast(other))
    assert plain(found) == plain(zorro.explain(5, why_not=other))
    assert type(found.versus.other) is int
    expected = zorro.fidelity(5, nodes=[5], why_not=other)
    assert zorro.fidelity(5, nodes=[5], why_not=cast(other)) == expected


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_every_librarys_lists_and_masks_are_sets(zorro, numbers):
    expected = zorro.fidelity(5, nodes=[5, 7])
    assert zorro.fidelity(5, nodes=numbers) == expected
    assert zorro.fidelity(5, nodes=[]) != expected


def test_features_too(zorro):
    expected = zorro.fidelity(5, features=[1, 2])
    mask = np.isin(np.arange(8), [1, 2])
    for features in (torch.tensor([1, 2]), np.array([2, 1]), mask, torch.from_numpy(mask)):
        assert zorro.fidelity(5, features=features) == expected


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_and_can_be_explained_in_a_run(parts: tuple[Any, Any, Any], tmp_path, numbers):
    options: dict[str, Any] = {
        "samples": 20,
        "fresh_samples": 50,
        "delta": None,
        "why_not": np.int64(0),
    }
    run = explain_many(*parts, numbers, out=tmp_path / "run", engine="in-process", **options)
    outcomes = list(run.outcomes())
    assert [outcome.query.key for outcome in outcomes] == [5, 7]
    assert open_run(tmp_path / "run").manifest["parameters"]["why_not"] == 0
    for outcome in outcomes:
        if outcome.explanation is not None:  # None where 0 is the prediction
            assert run.explanation(np.int64(outcome.query.key)).node == outcome.query.key


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("5", "got '5'"),
        (5.0, r"got 5\.0"),
        (np.float64(5), "got "),
        (torch.tensor(5.0), r"got tensor\(5\.\)"),
        (True, "got True"),
        (np.True_, "got "),
        (torch.tensor(True), r"got tensor\(True\)"),
        (None, "got None"),
        (40, "got 40"),
        (-1, "got -1"),
        (np.int64(40), "got 40"),
        ([5, 6], r"got \[5, 6\]: for several nodes use zorro.explain_many"),
        (torch.tensor([5]), r"got tensor\(\[5\]\): for several nodes use zorro.explain_many"),
        (np.array([5, 6]), r"got array\(\[5, 6\]\): for several nodes use zorro.explain_many"),
    ],
)
def test_what_is_no_node_is_refused(parts: tuple[Any, Any, Any], zorro, node, said):
    expected = f"^node: expected a whole number from 0 to 39, {said}"
    for door in (zorro.explain, zorro.explain_multiple, zorro.fidelity, zorro.meter):
        with pytest.raises(InputError, match=expected):
            door(node)
    with pytest.raises(InputError, match=expected):
        rdt_fidelity(*parts, node)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("57", "got '57': give them as a list"),
        (5, "got 5: give them as a list"),
        (torch.tensor(5), r"got tensor\(5\): give them as a list"),
        ([5, "7"], "got '7'"),
        ([5.0], r"got 5\.0"),
        ([True, False], "got True"),
        (np.array([5.0, 7.0]), r"got 5\.0"),
        (torch.tensor([[5, 7]]), r"got \[5, 7\]"),
        (MASK[:39], "or a mask of 40 truth values, got "),
        ([5, 40], "got 40"),
    ],
)
def test_what_is_no_list_of_nodes_is_refused(
    parts: tuple[Any, Any, Any], zorro, tmp_path, numbers, said
):
    with pytest.raises(InputError, match=f"^nodes: expected whole numbers from 0 to 39,? ?{said}"):
        zorro.fidelity(5, nodes=numbers)
    with pytest.raises(InputError, match=f"^nodes: expected whole numbers from 0 to 39,? ?{said}"):
        explain_many(*parts, numbers, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("why_not", ["1", 1.0, True, -1])
def test_what_is_no_class_is_refused(parts: tuple[Any, Any, Any], zorro, tmp_path, why_not):
    with pytest.raises(InputError, match=r"^why_not: expected a class from 0 to 2, got"):
        zorro.explain(5, why_not=why_not)
    with pytest.raises(InputError, match=r"^why_not: expected a class from 0, got"):
        explain_many(*parts, [5], out=tmp_path / "run", why_not=why_not)
