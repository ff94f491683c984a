"""Sets of edges in a real browser: the report, and the explorer against the real server."""

from __future__ import annotations

import json
import re

import pytest
from made_edges import MODEL, OPTIONS, edge_run
from made_runs import ring

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

from zorro import Zorro
from zorro.show import report
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.served import Served

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")
INPUTS = {"model": MODEL, **ring()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Edges alone; features beside edges."""
    folder = tmp_path_factory.mktemp("runs")
    return [edge_run(folder / "edges"), edge_run(folder / "both", keep=("features", "edges"))]


@pytest.fixture(scope="module")
def address(runs):
    yield from served_at([Served(run, run_inputs(**INPUTS)) for run in runs])


@pytest.fixture
def explorer(desk, address):
    """The explorer on a desk, opened with the token."""
    desk.goto(address)
    return lambda where: desk.goto(f"{address.split('?')[0]}#{where}")


@pytest.fixture(scope="module")
def own():
    """The share that the library measures for edges of node 12, as a page writes it."""
    zorro = Zorro(MODEL, INPUTS["x"], INPUTS["edge_index"], **OPTIONS)

    def share(edges):
        found = zorro.fidelity(12, edges=edges, samples=200)
        return f"{100 * found.value:g}"  # of 200 samples: one decimal at most

    return share


def measured(page):
    """Wait for the figure of a set that was changed."""
    page.wait_for_selector(".your-set.changed:not(.measuring) .verdict strong")
    return page.inner_text(".verdict strong").split("\u00a0")[0]


def edge(page, u, v):
    return page.locator(f".board .edge[data-edge='{u}-{v}']")


def test_a_report_shows_edges(page, serious, runs, tmp_path):
    report.write(runs[0], tmp_path / "edges.html", **INPUTS)
    page.goto((tmp_path / "edges.html").as_uri())
    assert re.search(r"edges, median\n\d\nof 36 in reach", page.inner_text("#cards"))
    assert "each other edge is there with probability .3" in page.inner_text("#meaning")
    assert "noise" not in page.inner_text("#meaning")
    page.locator("tr[data-query='12'] a").click()
    page.wait_for_selector(".scene .edges .kept", state="attached")
    kept = [edge for (edge,) in runs[0].explanation(12).ordered("edges")]
    assert page.locator(".scene .edges .kept").count() == len(kept)
    in_order = "[^\\n]*".join(f"{u}–{v}" for u, v in kept)  # each with what is lost without it
    assert re.search(in_order, page.inner_text("#explanation"))
    assert "Triangles are edges" in page.inner_text("#explanation")
    assert page.locator(".edge").count() == 0  # nothing can be changed here
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_click_on_an_edge_drops_it_and_another_takes_it_in_again(
    explorer, desk, serious, runs, own
):
    first, *others = (edge for (edge,) in runs[0].explanation(12).ordered("edges"))
    explorer("run=0&node=12")
    desk.wait_for_selector(".verdict strong")
    mark = edge(desk, *first)
    u, v = first
    assert mark.locator("title").text_content() == f"{u}–{v}: kept; click to drop"
    mark.click()
    assert measured(desk) == own(others)
    assert mark.get_attribute("aria-pressed") == "false"
    assert mark.locator("title").text_content() == f"{u}–{v}: not kept; click to keep"
    assert desk.locator(".edges .kept").count() == len(others)
    assert "edges=" + ",".join(f"{u}-{v}" for u, v in others) in desk.url
    assert serious(desk) == []
    mark.click()
    desk.wait_for_selector(".your-set:not(.changed)")
    assert "edges=" not in desk.url


def test_an_edge_is_changed_by_keys_and_by_name(explorer, desk, runs, own):
    kept = runs[0].explanation(12).edges
    explorer("run=0&node=12")
    desk.wait_for_selector(".verdict strong")
    edge(desk, *kept[0]).focus()
    desk.keyboard.press("Enter")
    assert measured(desk) == own(kept[1:])
    desk.keyboard.press("ArrowDown")
    assert desk.evaluate("document.activeElement.getAttribute('class')") == "edge"
    desk.get_by_role("button", name="Undo").click()
    desk.wait_for_selector(".your-set:not(.changed)")
    box = desk.get_by_label("Add an edge")
    box.fill("2-37")
    desk.locator(".found button").first.click()
    assert measured(desk) == own([*kept, (2, 37)])
    assert desk.locator(".edges .kept").count() == len(kept) + 1


def test_edges_are_compared_saved_and_found_by_their_address(explorer, desk):
    explorer("run=0&node=12&edges=12-13,20-21")
    desk.wait_for_selector(".your-set.changed:not(.measuring)")
    assert desk.locator(".edges .kept").count() == 2  # the second is beyond the drawing
    with desk.expect_download() as saved:
        desk.get_by_role("button", name="Save as JSON").click()
    edited = json.loads(saved.value.path().read_text())["edited"]
    assert edited["edges"] == ["12-13", "20-21"]
    assert edited["measured"]["hits"] <= edited["measured"]["samples"]
    with desk.expect_download() as saved:
        desk.get_by_role("button", name="Save as SVG").click()
    assert 'stroke-width="4px"' in saved.value.path().read_text()
    desk.locator("[name=compare]").select_option("run:1")
    desk.wait_for_selector(".compared .shared")
    assert "Edges:" in desk.inner_text(".shared")
    assert desk.locator(".compared .edges .kept").count() > 0


def test_another_node_is_explained_by_edges(explorer, desk):
    explorer("run=1&node=1&method=zorro")
    desk.wait_for_selector(".verdict strong")
    said = desk.inner_text("#explanation")
    assert "and each other edge is there with probability .3" in said
    assert "Click edges to take them in or out" in said
