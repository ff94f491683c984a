"""Graphs of several types in a real browser: the report, and the explorer against its server."""

from __future__ import annotations

import math

import pytest
from made_hetero import Convolved, library

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

from zorro import Zorro, explain_hetero
from zorro.show import report
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.served import Served

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")
OPTIONS = {"samples": 50, "fresh_samples": 300, "engine": "in-process"}
DATA = library()
MODEL = Convolved(DATA)
INPUTS = {"hetero": DATA, "target": "paper", "model": MODEL}
FIRST_PAPER, FIRST_VENUE = 30, 70


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Nodes alone; edges; whole types and relations."""
    folder = tmp_path_factory.mktemp("runs")
    kinds = [("nodes",), ("edges",), ("types", "relations")]
    return [
        explain_hetero(MODEL, DATA, "paper", [5, 7], out=folder / keep[0], keep=keep, **OPTIONS)
        for keep in kinds
    ]


@pytest.fixture(scope="module")
def address(runs):
    yield from served_at([Served(run, run_inputs(**INPUTS)) for run in runs])


@pytest.fixture
def explorer(desk, address):
    """The explorer on a desk, opened with the token."""
    desk.goto(address)
    return lambda where: desk.goto(f"{address.split('?')[0]}#{where}")


def share_of(page):
    """Wait for the figure of a set that was changed."""
    page.wait_for_selector(".your-set.changed:not(.measuring) .verdict strong")
    return page.inner_text(".verdict strong").split("\u00a0")[0]


def as_written(found):
    assert found.upper < 0.985  # so that there are no decimals
    return str(math.floor(100 * found.value + 0.5))


def test_a_report_shows_types_and_leaves_relations_out(page, serious, runs, tmp_path):
    report.write(runs[0], tmp_path / "types.html", **INPUTS)
    page.goto((tmp_path / "types.html").as_uri())
    assert "papers explained" in page.inner_text("#cards")
    assert "30 authors, 40 papers, 4 venues" in page.inner_text("#facts")
    page.locator("tr[data-query='5'] a").click()
    page.wait_for_selector(".scene .nodes", state="attached")
    assert page.inner_text("#explanation h2") == "Paper 5"
    legend = page.inner_text("#explanation .legend >> nth=0")
    assert all(name in legend for name in ("author", "paper", "venue"))
    kept = [f"{name} {each}" for name, own in runs[0].explanation(5).nodes.items() for each in own]
    assert ", ".join(kept) in page.inner_text("#explanation .kept")
    venues = page.locator(".scene .edges line:not(.off)").count()
    page.get_by_role("button", name="paper–in–venue").click()
    left = page.locator(".scene .edges line:not(.off)").count()
    authors = (DATA["author", "writes", "paper"].edge_index[1] == 5).sum()
    assert int(authors) <= left < venues
    assert page.get_attribute(".relation >> nth=1", "aria-pressed") == "false"
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_nodes_of_every_type_are_taken_in_and_out(desk, explorer, runs):
    found = runs[0].explanation(5)
    dropped, *rest = found.nodes
    changed: dict[str, list[int]] = {}
    for node in rest:
        name, number = found.types.local(node)
        changed.setdefault(name, []).append(number)
    zorro = Zorro.of_hetero(MODEL, DATA, "paper", keep=("nodes",), samples=50, fresh_samples=300)
    expected = as_written(zorro.fidelity(5, nodes=changed, samples=200))
    explorer("run=0&node=5")
    desk.wait_for_selector(".your-set")
    desk.locator(f".board .node[data-node='{dropped}']").click()
    assert share_of(desk) == expected


def test_edges_are_told_by_their_relation(desk, explorer, runs):
    explorer("run=1&node=5")
    desk.wait_for_selector(".your-set")
    venue = int(DATA["paper", "in", "venue"].edge_index[1, 5])
    edge = f"{FIRST_PAPER + 5}-{FIRST_VENUE + venue}-1"
    button = desk.locator(f".board .edge[data-edge='{edge}']")
    assert button.get_attribute("aria-label") == f"Edge paper 5 in venue {venue}"
    assert button.get_attribute("aria-pressed") in ("true", "false")


def test_what_is_kept_of_types_and_relations_is_drawn(desk, explorer, runs):
    """Nodes of a kept type are full, edges of a kept relation are thick, and the rest is not."""
    found = runs[2].explanation(5)
    explorer("run=2&node=5")
    desk.wait_for_selector(".your-set")
    names = [node.name for node in found.types.nodes]
    drawn = desk.evaluate(
        "[...document.querySelectorAll('.board .nodes > g')].map(each => "
        "[Number(each.dataset.node), each.classList.contains('whole')])"
    )
    assert all(
        is_whole == (found.types.local(node)[0] in found.node_types) for node, is_whole in drawn
    )
    assert len(names) == 3
    thick = desk.locator(".board .edges line.kept").count()
    assert (thick > 0) == bool(found.selected["relations"])
    description = desk.get_attribute(".board svg.scene", "aria-label")
    assert "kept fixed: all" not in description


def test_types_and_relations_are_dropped(desk, explorer, runs):
    found = runs[2].explanation(5)
    dropped, *rest = found.node_types
    keep = ("types", "relations")
    zorro = Zorro.of_hetero(MODEL, DATA, "paper", keep=keep, samples=50, fresh_samples=300)
    measured = zorro.fidelity(5, types=rest, relations=found.relations, samples=200)
    expected = as_written(measured)
    explorer("run=2&node=5")
    desk.wait_for_selector(".your-set")
    desk.get_by_role("button", name=dropped, exact=True).first.click()
    assert share_of(desk) == expected
