"""Values in a real browser: the report, and the explorer against the real server."""

from __future__ import annotations

import re

import pytest
from made_runs import ring
from made_values import AddsNeighbours, WeighsAtoms, summed_run, weighed_molecules, weighed_run

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

from zorro.show import report
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.served import Served

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Molecules' weights, and nodes' sums that may rise; each with what it was made with."""
    folder = tmp_path_factory.mktemp("runs")
    graph = ring()
    sums = {"x": graph["x"], "edge_index": graph["edge_index"], "y": graph["y"] + 0.25}
    return [
        (weighed_run(folder / "a"), {"model": WeighsAtoms(), "graphs": weighed_molecules()}),
        (summed_run(folder / "b", side="up"), {"model": AddsNeighbours(), **sums}),
    ]


@pytest.fixture(scope="module")
def address(runs):
    yield from served_at([Served(run, run_inputs(**inputs)) for run, inputs in runs])


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for place, (run, inputs) in enumerate(runs):
        report.write(run, folder / f"{place}.html", **inputs)
    return folder.as_uri()


def queries(page) -> list[int]:
    return [int(row.get_attribute("data-query")) for row in page.locator(".rows tbody tr").all()]


def landed(page) -> list[int]:
    """How often the output lands inside and outside of the band, as it is said beside it."""
    page.wait_for_selector(".swatch.outside")
    page.wait_for_selector(".your-set:not(.measuring)")
    text = page.inner_text(".band-place .legend")
    return [int(count) for count in re.findall(r"side in (\d+)", text)]


@pytest.mark.parametrize(("run", "query"), [(0, "graph=4"), (1, "node=9")])
def test_a_report_speaks_of_values_and_people_can_use_it(page, serious, written, run, query):
    page.goto(f"{written}/{run}.html")
    cards = page.inner_text("#cards")
    assert "tolerance" in cards
    assert "error, median" in cards
    assert "Predicted values" in page.inner_text("#distributions")
    assert "class" not in page.inner_text("body").lower()
    assert serious(page) == []
    page.goto(f"{written}/{run}.html#{query}")
    page.wait_for_selector(".band .value")
    assert page.locator(".band .end").count() == 2 - run
    assert "class" not in page.inner_text("body").lower()
    assert "true value" in page.inner_text(".heading")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_rows_are_sorted_and_filtered_by_value(desk, written):
    desk.goto(f"{written}/0.html")
    said = desk.locator(".rows tbody tr td:nth-child(2)").all_inner_texts()
    desk.get_by_role("button", name="Predicted", exact=True).click()
    assert desk.locator(".rows tbody tr td:nth-child(2)").all_inner_texts() == sorted(
        said, key=float
    )
    desk.locator("[name=from]").fill("8")
    assert queries(desk) == [1, 4]
    desk.locator("[name=to]").fill("9")
    assert queries(desk) == [1]
    desk.locator("[name=to]").fill("")
    desk.locator("[name=off]").fill("0.2")
    assert queries(desk) == [1]
    desk.locator("[name=from]").fill("-3")
    assert queries(desk) == [0, 1]


def test_the_output_is_seen_to_land_elsewhere_when_an_atom_is_taken_out(desk, address):
    desk.goto(address)
    desk.goto(f"{address.split('?')[0]}#run=0&graph=4")
    before = landed(desk)
    assert sum(before) == 200
    desk.locator(".board .node.selected").last.click()
    desk.wait_for_selector(".your-set.changed:not(.measuring)")
    after = landed(desk)
    assert sum(after) == 200
    assert after[0] < before[0]
    share = re.match(r"\d+", desk.inner_text(".verdict strong"))
    assert share is not None
    assert int(share[0]) == pytest.approx(after[0] / 2, abs=0.6)
    assert "keep the value between" in desk.inner_text(".verdict")
    assert desk.locator("[name=why_not]").count() == 0
    desk.get_by_role("button", name="Reset").click()
    desk.wait_for_selector(".your-set:not(.changed)")
    assert "class" not in desk.inner_text("body").lower()


def test_another_value_is_explained(desk, address):
    desk.goto(address)
    desk.goto(f"{address.split('?')[0]}#run=1&node=3&method=zorro")
    desk.wait_for_selector(".band .inside")
    assert "keeps the value at" in desk.inner_text(".verdict")
    assert "or more" in desk.inner_text(".verdict")
