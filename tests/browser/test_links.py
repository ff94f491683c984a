"""Links in a real browser: the report, and the explorer against the real server."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from made_links import Multiplies, linked_run
from made_runs import ring

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

from zorro.graph.names import Names
from zorro.show import report
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.served import Served

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")
INPUTS: dict[str, Any] = {
    "model": Multiplies().eval(),
    **ring(),
    "links": torch.tensor([[6, 3], [11, 20]]),
    "node_class_names": ["even", "odd"],
    "names": Names(node="paper", feature="word"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Links alone, and links that are ahead of others."""
    folder = tmp_path_factory.mktemp("runs")
    compared = linked_run(folder / "compared", [(6, 11), (6, 4)], among=[20, 30])
    return [linked_run(folder / "alone"), compared]


@pytest.fixture(scope="module")
def address(runs):
    yield from served_at([Served(run, run_inputs(**INPUTS)) for run in runs])


@pytest.fixture
def explorer(desk, address):
    """The explorer on a desk, opened with the token."""
    desk.goto(address)
    return lambda where: desk.goto(f"{address.split('?')[0]}#{where}")


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for place, run in enumerate(runs):
        report.write(run, folder / f"{place}.html", **INPUTS)
    return folder.as_uri()


def drawn(page, kind=" line"):
    """Wait for a link that is asked about; a level line has no height and counts as unseen."""
    page.wait_for_selector(f".scene .asked{kind}", state="attached")


def test_a_report_names_links_by_their_ends_and_people_can_use_it(page, serious, written):
    page.goto(f"{written}/0.html")
    assert "links explained" in page.inner_text("#cards")
    assert serious(page) == []
    page.get_by_role("button", name="Link", exact=True).click()
    shown = [row.get_attribute("data-query") for row in page.locator(".rows tbody tr").all()]
    assert shown == ["3-20", "6-11", "9-30"]
    page.locator("[name=find]").fill("6-1")
    assert page.locator(".rows tbody tr").count() == 1
    page.locator("tr[data-query='6-11'] a").click()
    drawn(page)
    assert page.url.endswith("#link=6-11")
    assert page.inner_text("h2[tabindex]") == "Link 6\u00a0–\u00a011"
    assert page.locator(".scene .asked line").count() == 1
    assert page.locator(".scene .node.query").count() == 2
    assert "carries no messages" in page.inner_text("#explanation")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_report_says_what_links_are_ahead_of(desk, serious, written):
    desk.goto(f"{written}/1.html")
    assert "ahead of 2 others" in desk.inner_text(".rows")
    desk.goto(f"{written}/1.html#link=6-11")
    drawn(desk, " .rival")
    assert "The model puts the link 6–11 ahead of 2 others" in desk.inner_text(".sentence")
    assert "6 – 20, 6 – 30" in desk.inner_text("#explanation").replace("\u00a0", " ")
    assert serious(desk) == []


def test_a_set_is_changed_by_clicks(explorer, desk, serious):
    explorer("run=0&link=6-11")
    desk.wait_for_selector(".your-set .verdict strong")
    before = desk.inner_text(".verdict strong")
    desk.locator(".board .node.selected").first.click()
    desk.wait_for_selector(".your-set.changed:not(.measuring)")
    assert desk.inner_text(".verdict strong") != before
    assert "link=6-11" in desk.url
    assert "nodes=" in desk.url
    assert serious(desk) == []


def test_any_link_is_opened_and_explained(explorer, desk):
    explorer("run=0")
    desk.locator("[name=query]").fill("12 – 30")
    desk.keyboard.press("Enter")
    desk.get_by_role("button", name="Explain it now").click()
    drawn(desk)
    assert "method=zorro" in desk.url
    assert "for papers 12 and 30" in desk.inner_text(".sentence")


def test_why_not_another_link(explorer, desk):
    explorer("run=0&link=6-11")
    desk.locator("[name=why_not]").fill("40")
    desk.keyboard.press("Enter")
    assert "Expected another paper, 0 to 39" in desk.inner_text(".questions .said")
    desk.locator("[name=why_not]").fill("30")
    desk.keyboard.press("Enter")
    drawn(desk, " .rival")
    assert "why_not=6-30" in desk.url
    assert "ahead of 6–30" in desk.inner_text(".sentence")
    assert desk.locator(".scene .node.query").count() == 3
    with desk.expect_request("**/api/fidelity") as asked:
        desk.locator(".board .node.selected").last.click()
    assert asked.value.post_data_json["among"] == [30]
    desk.wait_for_selector(".your-set.changed:not(.measuring)")
    assert "ahead of 6 – 30 in" in desk.inner_text(".verdict").replace("\u00a0", " ")
    desk.get_by_role("button", name="Go back").click()
    desk.wait_for_selector(".probabilities")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("run=0&link=6-40", "There are no such papers in the graph."),
        ("run=0&node=6", "This run is of links between papers 0 to 39"),
        ("run=0&link=6-12", "It is not in this run."),
    ],
)
def test_an_address_that_is_none_is_said(explorer, desk, where, said):
    explorer(where)
    desk.wait_for_selector("#explanation:not([hidden])")
    assert said in desk.inner_text("#explanation")


def test_an_address_that_is_no_link_leads_to_the_overview(explorer, desk):
    explorer("run=0&link=6")
    desk.wait_for_selector("#overview:not([hidden]) .rows")
