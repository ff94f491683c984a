"""The report in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import made_explanation, made_run, ring, small_model

from zorro.graph.names import Names
from zorro.show import report

ALLOWED = ("file:", "data:")  # nothing from a network
MARKUP = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """A report with every status, a failure, alternatives, and markup in all names."""
    folder = tmp_path_factory.mktemp("report")
    graph, model = ring(), small_model()
    statuses: list[Any] = ["reached", "nothing needed", "everything needed", "budget exhausted"]
    explanations = [
        made_explanation(7),
        made_explanation(8, nodes=(8, 9, 13, 14), features=(1,)),
        *(made_explanation(20 + at, status=status) for at, status in enumerate(statuses)),
    ]
    run = made_run(
        folder / "run", explanations, graph=graph, model=model, failures={3: f"it broke {MARKUP}"}
    )
    report.write(
        run,
        folder / "report.html",
        model=model,
        **graph,
        names=Names(node="paper", feature="word"),
        class_names=[f"no {MARKUP}", f"yes {MARKUP}"],
        feature_names=[f"{MARKUP} {number}" for number in range(5)],
        node_names={7: f"seven {MARKUP}"},
        alternatives={7: [made_explanation(7, nodes=(12,), features=(1, 4))]},
    )
    return (folder / "report.html").as_uri()


def shown(page) -> list[int]:
    return [int(row.get_attribute("data-query")) for row in page.locator(".rows tbody tr").all()]


def test_the_overview_counts_what_there_is(page, written):
    page.goto(written)
    cards = page.locator("#cards").inner_text()
    assert "papers explained" in cards
    assert "33.3\u00a0%" in cards
    assert "it broke <img" in page.locator("#failures").inner_text()
    assert page.locator("#distributions svg").count() == 3


def test_rows_are_sorted(page, written):
    page.goto(written)
    assert shown(page) == [7, 8, 20, 21, 22, 23]
    header = page.get_by_role("button", name="Papers", exact=True)
    header.click()
    assert shown(page)[-1] == 8
    header.click()
    assert shown(page)[0] == 8
    assert page.locator("th[aria-sort=descending]").inner_text().strip() == "Papers"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("find", "seven", [7]),
        ("find", "2", [20, 21, 22, 23]),
        ("status", "reached", [20]),
        ("answer", "right", [7, 21, 23]),
        ("nodes", "2", [7, 20, 21, 22, 23]),
        ("features", "2", [8, 21]),
        ("class", "1", [7, 8, 20, 21, 22, 23]),
    ],
)
def test_rows_are_filtered(desk, written, name, value, expected):
    desk.goto(written)
    field = desk.locator(f"[name={name}]")
    if field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)
    assert shown(desk) == expected


def test_an_explanation_opens_by_keyboard_and_goes_back(page, written):
    page.goto(written)
    page.locator("tr[data-query='8'] a").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#explanation:not([hidden]) .scene")
    assert page.url.endswith("#node=8")
    assert page.evaluate("document.activeElement.textContent") == "Paper 8"
    assert page.locator(".scene .node.selected").count() == 4
    assert page.locator(".scene .node.query").count() == 1
    assert page.locator(".heatmap tbody tr").count() == 4
    assert page.locator(".curve .step").count() == 4
    page.get_by_role("link", name="All explanations").click()
    page.wait_for_selector("#overview:not([hidden])")
    page.go_back()
    page.wait_for_selector("#explanation:not([hidden])")


def test_next_follows_the_table(desk, written):
    desk.goto(written)
    desk.locator("[name=nodes]").fill("2")
    desk.locator("tr[data-query='7'] a").click()
    desk.get_by_role("link", name="Next").click()
    desk.wait_for_url("**#node=20")


def test_a_permalink_opens_an_explanation_with_its_alternatives(desk, written):
    desk.goto(f"{written}#node=7")
    said = desk.locator(".sentence").inner_text()
    assert said.startswith("The model says yes <img")
    assert "Keeping 2 papers\u00a0×\u00a03 words fixed keeps that answer" in said
    assert desk.locator(".alternatives li").count() == 1
    assert desk.locator(".scene .node.selected").count() == 2


@pytest.mark.parametrize("node", [20, 21, 22, 23])
def test_what_is_not_certified_is_said(desk, written, node):
    desk.goto(f"{written}#node={node}")
    assert "Nothing is proved" in desk.locator(".sentence").inner_text()


@pytest.mark.parametrize("where", ["", "#node=7"])
def test_nothing_is_wider_than_the_window(page, written, where):
    page.goto(written + where)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("where", ["", "#node=7", "#node=21"])
def test_axe_finds_nothing_serious(page, serious, written, where):
    page.goto(written + where)
    assert serious(page) == []


def test_without_the_graph_the_page_says_so(desk, tmp_path):
    run = made_run(tmp_path / "run", [made_explanation()], graph=ring())
    report.write(run, tmp_path / "report.html")
    desk.goto((tmp_path / "report.html").as_uri())
    assert "so that it shows neither neighbourhoods nor values" in desk.inner_text("#meaning")
    desk.locator(".rows a").click()
    desk.wait_for_selector("#explanation:not([hidden])")
    assert "The neighbourhood is not drawn" in desk.inner_text("#explanation")
    assert desk.locator(".scene").count() == 0


def test_a_run_that_explained_nothing_opens(desk, tmp_path):
    run = made_run(tmp_path / "run", [], graph=ring(), failures={3: "it broke"})
    report.write(run, tmp_path / "report.html")
    desk.goto(f"{(tmp_path / 'report.html').as_uri()}#node=3")
    assert "Nothing has been explained yet" in desk.inner_text("main")
    assert "Node 3: it broke" in desk.inner_text("#failures")


def test_nothing_jumps_while_the_page_opens(own_page, written):
    own_page.add_init_script(
        "window.jumped = 0; new PerformanceObserver(list => list.getEntries().forEach("
        "entry => window.jumped += entry.value)).observe({type: 'layout-shift', buffered: true})"
    )
    own_page.goto(f"{written}#node=7")
    own_page.wait_for_timeout(200)
    assert own_page.evaluate("window.jumped") == 0


def test_300_explanations_open(desk, tmp_path):
    graph = ring(2708, 1433)
    explanations = [
        made_explanation(
            node,
            nodes=(node, node + 1, node + 5),
            features=tuple(range(20)),
            size=(2708, 1433),
        )
        for node in range(0, 2400, 8)
    ]
    run = made_run(tmp_path / "run", explanations, graph=graph)
    report.write(run, tmp_path / "report.html", **graph)
    desk.goto((tmp_path / "report.html").as_uri())
    desk.wait_for_selector(".rows tbody tr")
    assert "300" in desk.locator("#cards").inner_text()
