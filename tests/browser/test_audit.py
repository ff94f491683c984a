"""The page of an audit in a real browser."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from made_runs import made_explanation, made_run, ring, small_model

from zorro.explanation.written import hundredths, percent, times
from zorro.graph.names import Names
from zorro.show import audit_page
from zorro.show.page.run_inputs import run_inputs

ALLOWED = ("file:", "data:")  # nothing from a network
MARKUP = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """An audit of 16 answers, the odd ones right, with markup in all names."""
    folder = tmp_path_factory.mktemp("audit")
    graph, model = ring(), small_model()
    explanations = [
        dataclasses.replace(
            made_explanation(node, nodes=(node, (node + 1) % 40), features=(0, 1 + node % 3)),
            predicted_class=int(node >= 8),
            probabilities=(0.05, 0.95) if node >= 8 else (0.95, 0.05),
        )
        for node in range(16)
    ]
    run = made_run(folder / "run", explanations, graph=graph, model=model, failures={30: MARKUP})
    names = Names(
        node="paper",
        feature="word",
        classes=[f"no {MARKUP}", f"yes {MARKUP}"],
        features=[f"{number} {MARKUP}" for number in range(5)],
        nodes={7: f"seven {MARKUP}"},
    )
    inputs = run_inputs(model=model, **graph, names=names)
    audited = run.audit(model=model, **graph, names=names)
    assert audit_page.write(run, audited, folder / "audit.html", inputs=inputs) > 1000
    return (folder / "audit.html").as_uri()


def shown(page) -> list[int]:
    return [int(row.get_attribute("data-query")) for row in page.locator(".rows tbody tr").all()]


def test_every_number_leads_to_its_cases(desk, written):
    desk.goto(written)
    assert desk.locator("#cards").inner_text().startswith("alarms\n0")
    cells = desk.locator(".confusion td a")
    assert [cell.inner_text() for cell in cells.all()] == ["4", "4", "4", "4"]
    cells.nth(1).click()
    desk.locator("#cases").wait_for()
    assert shown(desk) == [8, 10, 12, 14]  # even ones are of class 0, and these are called 1
    desk.locator(".rows tbody tr a").first.click()
    assert "paper 8" in desk.locator("#explanation h2").inner_text().lower()
    desk.locator("#explanation nav a").first.click()
    desk.locator("#cases").wait_for()
    assert shown(desk) == [8, 10, 12, 14]
    desk.get_by_role("link", name="Show all explanations").click()
    desk.locator("#cases").wait_for(state="hidden")
    assert len(shown(desk)) == 16


def test_findings_and_uses_lead_to_their_cases(desk, written):
    desk.goto(written)
    finding = desk.locator(".finding", has_text="are wrong").first
    assert "8 of 16" in finding.inner_text()
    finding.get_by_role("link").click()
    desk.locator("#cases").wait_for()
    assert shown(desk) == [*range(1, 8, 2), *range(8, 16, 2)]
    desk.goto(written)
    desk.locator(".uses a.name").first.click()
    desk.locator("#cases").wait_for()
    assert shown(desk) == [*range(8)]


def test_everybody_can_use_it(page, written, serious):
    page.goto(written)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_paper_shows_bars_and_no_controls(desk, written):
    desk.goto(written)
    desk.emulate_media(media="print")
    assert not desk.locator(".filters").is_visible()
    fill = desk.locator(".gauge .fill").first
    assert fill.evaluate("it => getComputedStyle(it).printColorAdjust") == "exact"
    assert fill.bounding_box()["width"] > 10


def test_pages_round_as_the_terminal_does(desk, written):
    desk.goto(written)
    rng = np.random.default_rng(0)
    shares = [*(rng.integers(0, 1001, 400) / 1000), *rng.random(400), *(np.arange(17) / 16)]
    values = [float(share) for share in shares]
    told = desk.evaluate("shares => shares.map(zorro.percent)", values)
    assert told == [percent(value) for value in values]
    told = desk.evaluate("shares => shares.map(it => zorro.rounded(it, 2).toFixed(2))", values)
    assert told == [hundredths(value) for value in values]
    lifts = [value * 200 for value in values]
    assert desk.evaluate("lifts => lifts.map(zorro.times)", lifts) == [times(it) for it in lifts]


@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_classes_lie_beside_each_other(desk, written, width):
    desk.set_viewport_size({"width": width, "height": 900})
    desk.goto(written)
    boxes = [head.bounding_box() for head in desk.locator(".confusion thead th").all()]
    for one, other in itertools.pairwise(boxes):
        assert one["x"] + one["width"] <= other["x"] + 1
    overflow = "it => it.scrollWidth > it.clientWidth + 1"
    heads = desk.locator(".confusion thead th").all()
    assert not any(head.evaluate(overflow) for head in heads)


def test_nothing_is_cut_off_on_paper(desk, written):
    desk.set_viewport_size({"width": 700, "height": 900})
    desk.emulate_media(media="print")
    desk.goto(written)
    for part in desk.locator(".frame.scroll").all():
        inner, outer = part.locator("table").bounding_box(), part.bounding_box()
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
        assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
