"""An explanation that was read says what follows from its numbers, whoever wrote them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import mpmath
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCN

from zorro import Explanation, Zorro
from zorro.errors import InputError


def explained(**options: Any) -> Explanation:
    """Node 3 of a directed ring of twenty nodes."""
    torch.manual_seed(0)
    here = torch.arange(20)
    edge_index = torch.stack([here, (here + 1) % 20])
    x = torch.randn(20, 5)
    outputs = 1 if "tolerance" in options else 3
    model = GCN(5, 4, num_layers=2, out_channels=outputs)
    if outputs == 1:
        options = {"output": 0, **options}
    why_not = options.pop("why_not", None)
    return Zorro(model, x, edge_index, **options).explain(3, why_not=why_not)


KINDS: dict[str, dict[str, Any]] = {
    "a class": {"tau": 0.95},
    "beyond chance": {"beyond_chance": True},
    "a contrast": {"why_not": -1},
    "a value": {"tolerance": 0.2},
    "no certificate": {"delta": None, "tau": 0.9},
    "the paper's search": {"search": "paper"},
    "a limit": {"max_elements": 1, "tau": 0.99},
    "nothing": {"tau": 0.05},
}


@pytest.fixture(scope="module")
def written() -> dict[str, dict[str, Any]]:
    """Explanations of all kinds as plain values."""
    predicted = explained().predicted_class
    assert predicted is not None
    KINDS["a contrast"]["why_not"] = (predicted + 1) % 3
    return {name: json.loads(explained(**options).to_json()) for name, options in KINDS.items()}


@pytest.fixture
def certified(written) -> dict[str, Any]:
    """A copy of one that is certified, and that keeps something."""
    values: dict[str, Any] = json.loads(json.dumps(written["a class"]))
    assert values["status"] == "certified"
    assert values["certificate"]["attempts"] > 1
    return values


def changed(values: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy in which another value stands at a place such as `certificate.hits`."""
    copy: dict[str, Any] = json.loads(json.dumps(values))
    *parents, last = path.split(".")
    place: Any = copy
    for parent in parents:
        place = place[int(parent) if isinstance(place, list) else parent]
    place[int(last) if isinstance(place, list) else last] = value
    return copy


def test_what_is_written_is_read(written):
    statuses = set()
    for values in written.values():
        assert json.loads(Explanation.from_dict(values).to_json()) == values
        statuses.add(values["status"])
    assert statuses >= {"certified", "reached", "budget exhausted", "nothing needed"}


COUNTS = [f"{part}.{name}" for part in ("certificate", "fidelity") for name in ("hits", "samples")]
# Each of them claims what was not shown, or that it was shown better than it was.
FALSE: dict[str, tuple[dict[str, Any], str]] = {
    "a bound above 1": ({"certificate.bound": 1.5}, "certificate.bound: expected 0.9"),
    "a bound too high": ({"certificate.bound": 0.9999}, "certificate.bound: expected 0.9"),
    "more hits than samples": (
        {"fidelity.hits": 4000},
        "fidelity: expected hits of samples, got 4000",
    ),
    "more hits in the certificate": (
        {"certificate.hits": 4000},
        "certificate: expected hits of samples, got 4000",
    ),
    "three of three": (dict.fromkeys(COUNTS, 3), "certificate.bound: expected"),
    "fewer attempts": (
        {"certificate.attempts": 1},
        "certificate.bound: expected",
    ),
    "attempts below none": (
        {"certificate.attempts": -1},
        "certificate.attempts: expected 1 to",
    ),
    "any delta": (
        {"certificate.delta": 0.9999, "parameters.delta": 0.9999},
        "certificate.bound: expected",
    ),
    "a delta of its own": ({"certificate.delta": 0.5}, "certificate.delta: expected 0.05"),
    "no delta": ({"certificate.delta": 1, "parameters.delta": 1}, "delta: expected a number betw"),
    "a tau of its own": ({"certificate.tau": 0.99}, "certificate.tau: expected 0.95"),
    "a tau too high": (
        {"certificate.tau": 0.9999, "parameters.tau": 0.9999},
        "certificate.certified: expected False",
    ),
    "tau 0": ({"certificate.tau": 0, "parameters.tau": 0}, "tau: expected a number above 0"),
    "a narrow interval": ({"fidelity.confidence": 0.01}, "fidelity.confidence: expected 0.95"),
    "a certificate withdrawn": ({"certificate.certified": False}, "certificate.certified: exp"),
    "no certificate": (
        {"certificate": None},
        "certificate: expected one, by delta, got none",
    ),
    "all that is needed": ({"status": "nothing needed"}, "status: expected 'certified', got"),
    "everything": ({"status": "everything needed"}, "status: expected 'certified', got"),
    "reached": ({"status": "reached"}, "status: expected 'certified', got 'reached'"),
    "cut off": ({"status": "budget exhausted"}, "status: expected 'certified', got 'budget"),
    "an empty set": (
        {"selected.nodes": [], "losses": None},
        "status: expected 'nothing needed', got 'certified'",
    ),
    "more matters": ({"graph.context_matters": True}, "status: expected 'conditional', got 'cert"),
    "nothing was checked": ({"graph.checked": "none"}, "status: expected 'conditional', got 'cert"),
    "a search by the paper": ({"parameters.search": "paper"}, "certificate: expected none, by"),
    "chance": ({"parameters.beyond_chance": True}, "chance: expected one exactly with"),
    "a search's hits": ({"search_fidelity.hits": 101}, "search_fidelity: expected hits of samples"),
    "a step": ({"steps.0.fidelity": 3.5}, "steps.fidelity: expected numbers from 0 to 1, got 3.5"),
    "a loss": ({"losses.of.nodes.0.broken": 10**9}, "losses.of.nodes: expected hits of samples"),
    "a loss of more than is kept": (
        {"losses.of.nodes.0.broken": 190, "fidelity.hits": 189},
        "losses.of.nodes: expected no more than the set has, got more",
    ),
    "a gain": ({"losses.of.nodes.0.mended": -1}, "losses.of.nodes: expected counts from 0"),
    "another's loss": ({"losses.of.nodes.0.members": [19]}, "losses.of.nodes: expected those of"),
    "an order": (
        {"losses.of.features.0.broken": 0, "losses.of.features.0.mended": 1},
        "losses.of.features: expected the largest first",
    ),
    "a sure loss": ({"losses.confidence": 0.01}, "losses.confidence: expected 0.95, got 0.01"),
    "a probability": ({"probabilities.0": 1.5}, "probabilities: expected numbers from 0 to 1"),
    "another format": ({"format": 5}, "format: expected 6, got 5"),
    "another kind": ({"parameters.keep": ["nodes"]}, "selected: expected nodes, got nodes, feat"),
}


@pytest.mark.parametrize(("changes", "reason"), FALSE.values(), ids=FALSE)
def test_what_does_not_follow_is_refused(certified, changes, reason):
    for path, value in changes.items():
        certified = changed(certified, path, value)
    with pytest.raises(InputError, match=f"values: expected .*: {reason}"):
        Explanation.from_dict(certified)


def test_another_class_than_the_most_probable_is_refused(certified):
    other = changed(certified, "predicted_class", (certified["predicted_class"] + 1) % 3)
    with pytest.raises(InputError, match="predicted_class: expected the most probable one, got"):
        Explanation.from_dict(other)


@pytest.mark.parametrize("name", ["chance.hits", "chance.samples", "certificate.tau"])
def test_what_chance_leaves_is_computed_again(written, name):
    values = written["beyond chance"]
    assert values["certificate"]["tau"] > values["parameters"]["tau"]
    part, field = name.split(".")
    other = changed(values, name, values[part][field] * 0.9 // 1 if part == "chance" else 0.85)
    if part == "chance":
        other[part][field] = int(other[part][field])
    with pytest.raises(InputError, match=r"certificate\.tau: expected|chance: expected hits"):
        Explanation.from_dict(other)


@pytest.mark.parametrize("name", ["tolerance", "least_tolerance"])
@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan])
def test_no_band_is_below_nothing(written, name, value):
    with pytest.raises(InputError, match=f"value.{name}: expected a finite number from 0"):
        Explanation.from_dict(changed(written["a value"], f"value.{name}", value))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 7}, "format: expected 6, got 7"),
        ({"query": {"level": "edge", "index": 3}}, "query.level: expected one of 'node', 'graph'"),
        ({"query": {"level": "node", "index": 99}}, "query: expected ids from 0 to 19"),
        ({"selected": [1]}, "selected: expected an object, got list"),
        ({"selected": {"nodes": ["a"]}}, r"selected.nodes\[0\]: expected a whole number"),
        ({"selected": {"edges": [1]}}, r"selected.edges: expected edges \(u, v\), got 1"),
        ({"selected": {"nodes": [[1, 2]]}}, r"selected.nodes: expected numbers, got \(1, 2\)"),
        ({"selected": {"nodes": [1, 1]}}, "selected.nodes: expected each member once"),
        ({"selected": {"stars": [1]}}, "selected: expected types, nodes, features, .*, got stars"),
        ({"selected": {"nodes": [99], "features": [0]}}, "nodes: expected ids from 0 to 19"),
    ],
)
def test_what_does_not_fit_is_refused(certified, change, text):
    with pytest.raises(InputError, match=text):
        Explanation.from_dict({**certified, **change})


@pytest.mark.parametrize("name", ["hits", "nodes", "level"])
def test_what_stands_there_twice_is_refused(certified, name):
    text = json.dumps(certified)
    assert Explanation.from_json(text).certified
    at = text.index(f'"{name}":')
    twice = f'{text[:at]}"{name}": 0, {text[at:]}'
    assert json.loads(twice) == certified, "else another reader takes the same"
    with pytest.raises(InputError, match=f"text: expected JSON, .*'{name}' stands there twice"):
        Explanation.from_json(twice)


def evidence(hits: int, samples: int, p: float) -> mpmath.mpf:
    """∫ q^h (1 − q)^m / (p^h (1 − p)^m) dq / (1 − p) over q > p."""
    misses, p = samples - hits, mpmath.mpf(p)
    won = mpmath.betainc(misses + 1, hits + 1, 0, 1 - p)  # over 1 − q
    return won / (p**hits * (1 - p) ** (misses + 1))


def allowed(delta: float, attempt: int) -> float:
    """What an attempt may use of δ: a tenth, and then what adds up to the rest."""
    return delta / 10 if attempt == 1 else 0.9 * delta / (attempt * (attempt - 1))


def is_shown(hits: int, samples: int, attempt: int, *, fidelity: float, delta: float) -> bool:
    """Whether so many hits refute a fidelity below one."""
    if attempt < 1 or not 0 < fidelity < 1 or not 0 < delta < 1 or not 0 <= hits <= samples:
        return False
    return bool(evidence(hits, samples, fidelity) * allowed(delta, attempt) >= 1 - 1e-9)


def assert_shown(read: Explanation) -> None:
    """An explanation that reads as certified is, by what it says of its samples."""
    if not read.certified:
        assert read.status != "certified"
        return
    c, p = read.certificate, read.parameters
    assert c is not None
    delta = c.delta / 2 if p.beyond_chance else c.delta
    assert c.delta == p.delta
    assert c.tau >= p.tau if p.beyond_chance else c.tau == p.tau
    for fidelity in (c.tau, c.bound - 1e-6):
        assert is_shown(c.hits, c.samples, c.attempts, fidelity=fidelity, delta=delta)
    assert read.fidelity.hits <= read.fidelity.samples


def numbers(values: Any, path: str = "") -> Iterator[str]:
    """The places of all numbers in plain values."""
    if isinstance(values, dict | list):
        pairs = values.items() if isinstance(values, dict) else enumerate(values)
        for name, value in pairs:
            yield from numbers(value, f"{path}.{name}" if path else str(name))
    elif isinstance(values, int | float):  # truth values too
        yield path


ANY_NUMBER = st.one_of(
    st.integers(-3, 3),
    st.integers(0, 2000),
    st.integers(),
    st.sampled_from([10**30, 10**400, -(10**400), True, False]),
    st.floats(0, 1),
    st.floats(),
)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(data=st.data())
def test_no_other_number_makes_a_claim_that_was_not_shown(written, data):
    values = written[data.draw(st.sampled_from(sorted(written)))]
    path = data.draw(st.sampled_from(sorted(numbers(values))))
    try:
        read = Explanation.from_dict(changed(values, path, data.draw(ANY_NUMBER)))
    except InputError:
        return
    assert_shown(read)


@settings(deadline=None, max_examples=50, derandomize=True)
@given(
    hits=st.integers(1, 600),
    misses=st.one_of(st.integers(0, 5), st.integers(0, 200)),
    attempts=st.integers(1, 21),
    tau=st.floats(0.01, 0.999),
    delta=st.floats(0.001, 0.9999),
)
def test_numbers_that_agree_are_read_where_so_many_hits_prove_it(
    written, hits, misses, attempts, tau, delta
):
    """Whoever changes all of them alike claims what these hits show, or is refused."""
    samples, share = hits + misses, allowed(delta, attempts)
    low, high = 0.0, hits / samples
    for _ in range(45):
        middle = (low + high) / 2
        if evidence(hits, samples, middle) * share >= 1:
            low = middle
        else:
            high = middle
    counts = {"hits": hits, "samples": samples, "attempts": attempts}
    claim = {"tau": tau, "delta": delta}
    values = written["a class"]
    values = {
        **values,
        "parameters": {**values["parameters"], **claim},
        "certificate": {"certified": True, "bound": low, **counts, **claim},
    }
    assume(abs(evidence(hits, samples, tau) * share - 1) > 1e-6)
    if is_shown(hits, samples, attempts, fidelity=tau, delta=delta):
        assert_shown(Explanation.from_dict(values))
    else:
        with pytest.raises(InputError, match=r"certificate\.certified: expected False"):
            Explanation.from_dict(values)
