"""The explorer in a real browser, against the real server."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote

import pytest
import torch
from made_runs import made_explanation, made_run, ring
from torch_geometric.nn import GCN

from zorro.graph.names import Names
from zorro.runs.folder import OUTCOMES
from zorro.runs.given import OneGraph

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")

from local_server import served_at
from playwright.sync_api import expect

from zorro.show.page.run_inputs import RunInputs
from zorro.show.web.served import Broken, Served

ALLOWED = ("http://127.0.0.1:", "data:", "blob:")  # nobody but the server
answered: list[Any] = []  # what the servers were asked: path, where from, status
MARKUP = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'


class Slow(torch.nn.Module):
    """A model whose explanation takes a while, for the batches that a search runs."""

    def __init__(self, inner, seconds):
        super().__init__()
        self.inner = inner
        self.seconds = seconds

    def forward(self, x, edge_index):
        if float(x.sum()) < float("inf") and len(x) > len(ring()["x"]):  # values: not to be traced
            time.sleep(self.seconds)
        return self.inner(x, edge_index)


def model_of(features=5):
    torch.manual_seed(3)
    return GCN(features, 8, num_layers=2, out_channels=2)


def star(leaves=6011):
    """A node with many neighbours, more than can be drawn one by one."""
    here = torch.arange(1, leaves + 1)
    into = torch.stack([here, torch.zeros_like(here)])
    x = torch.randn(leaves + 1, 5, generator=torch.Generator().manual_seed(0))
    return {"x": x, "edge_index": torch.cat([into, into.flip(0)], 1), "y": torch.arange(len(x)) % 2}


def served(run, model, graph, **names):
    given = Names(node="paper", feature="word", **names)
    if model is None:
        return Served(run, RunInputs(names=given))
    data = OneGraph(graph["x"], graph["edge_index"])
    return Served(run, RunInputs(data, model.eval(), y=graph["y"], names=given))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Two runs of one model with markup in all names, two of slow ones, one of a large graph."""
    folder = tmp_path_factory.mktemp("runs")
    graph, model, large = ring(), model_of(), star()
    slow, slower = Slow(model_of(), 0.002), Slow(model_of(), 0.2)
    names = {
        "classes": [f"no {MARKUP}", f"yes {MARKUP}"],
        "features": [f"{MARKUP} {number}" for number in range(5)],
        "nodes": {7: f"seven {MARKUP}"},
    }
    first = made_run(
        folder / "first",
        [
            made_explanation(7),
            made_explanation(8, nodes=(8, 9, 13, 14), features=(1,)),
            made_explanation(20, status="budget exhausted"),
        ],
        graph=graph,
        model=model,
        failures={3: f"it broke {MARKUP}"},
    )
    second = made_run(
        folder / "second",
        [made_explanation(7, nodes=(7, 12, 17), features=(1, 2))],
        graph=graph,
        model=model,
    )
    third = made_run(folder / "slow", [made_explanation(7)], graph=graph, model=slow)
    fourth = made_run(
        folder / "large",
        [made_explanation(0, nodes=(0, 5), size=tuple(large["x"].shape))],
        graph=large,
        model=model,
    )
    fifth = made_run(folder / "slower", [made_explanation(7)], graph=graph, model=slower)
    runs = [
        served(first, model, graph, **names),
        served(second, model, graph, **names),
        served(third, slow, graph),
        served(fourth, model, large),
        served(fifth, slower, graph),
    ]
    yield from serving(runs)


@pytest.fixture(scope="module")
def reading_only(tmp_path_factory):
    run = made_run(
        tmp_path_factory.mktemp("runs") / "run", [made_explanation(7)], graph=ring(), model=None
    )
    yield from serving([served(run, None, None)])


def serving(runs):
    """Serve runs at the address that is given, noting what is asked."""
    yield from served_at(runs, around=watched)


def watched(app):
    """Note where requests come from, as the browser says, and how they are answered."""

    async def watching(scope, receive, send):
        async def sending(message):
            if message["type"] == "http.response.start":
                site = dict(scope["headers"]).get(b"sec-fetch-site", b"").decode()
                answered.append((scope["path"], site, message["status"]))
            await send(message)

        await app(scope, receive, sending)

    return watching


def shown(page) -> list[int]:
    return [int(row.get_attribute("data-query")) for row in page.locator(".rows tbody tr").all()]


def verdict(page) -> str:
    """What is said of the set once it is measured."""
    page.wait_for_selector(".your-set:not(.measuring) .verdict strong")
    return page.inner_text(".verdict")


def node(page, number):
    return page.locator(f".board .node[data-node='{number}']")


def test_the_overview_is_drawn(page, address):
    page.goto(address)
    page.wait_for_selector(".rows tbody tr")
    assert "papers explained" in page.inner_text("#cards")
    assert page.locator("#distributions svg").count() == 3
    assert "it broke <img" in page.inner_text("#failures")


def test_rows_are_sorted_filtered_and_opened(page, address):
    page.goto(address)
    page.get_by_role("button", name="Papers", exact=True).click()
    assert shown(page)[-1] == 8
    page.locator("[name=nodes]").fill("2")
    assert shown(page) == [7, 20]
    page.locator("tr[data-query='7'] a").click()
    page.wait_for_url("**#run=0&node=7")
    assert page.inner_text(".sentence").startswith("The model says")
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**#run=0&node=20")
    page.go_back()
    page.wait_for_selector("h2:has-text('seven')")
    page.get_by_role("link", name="All explanations").click()
    page.wait_for_selector("#overview:not([hidden])")


def test_a_node_is_taken_out_and_back(page, address):
    page.goto(f"{address}#run=0&node=8")
    before = verdict(page)
    assert before.startswith("As it was found: 4 papers\u00a0×\u00a01 word keeps the answer")
    node(page, 9).click()
    page.wait_for_selector(".your-set.changed:not(.measuring)")
    after = verdict(page)
    assert after.startswith("Your set: 3 papers\u00a0×\u00a01 word keeps the answer in ")
    assert "of 200 random worlds" in after
    assert node(page, 9).get_attribute("aria-pressed") == "false"
    assert page.locator(".chips button:has-text('9')").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Undo").click()
    assert verdict(page) == before
    page.get_by_role("button", name="Redo").click()
    assert verdict(page) == after
    page.get_by_role("button", name="Reset").click()
    assert verdict(page) == before
    assert page.url.endswith("#run=0&node=8")


def test_the_keyboard_reaches_nodes(page, address):
    page.goto(f"{address}#run=0&node=8")
    verdict(page)
    node(page, 8).focus()
    focused = "Number(document.activeElement.dataset.node)"
    reached = {page.evaluate(focused)}
    for key in ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowDown"]:
        page.keyboard.press(key)
        reached.add(page.evaluate(focused))
    assert len(reached) > 2
    last = page.evaluate(focused)
    was = node(page, last).get_attribute("aria-pressed")
    page.keyboard.press("Space")
    assert node(page, last).get_attribute("aria-pressed") != was
    assert page.evaluate(focused) == last
    assert verdict(page).startswith("Your set:")


def test_a_feature_is_taken_out_in_the_heat_map(page, address):
    page.goto(f"{address}#run=0&node=7")
    verdict(page)
    page.locator(".heatmap thead .pick").nth(0).click()
    assert "2 papers\u00a0×\u00a02 words" in verdict(page)
    assert page.locator(".heatmap tbody td.out").count() == 2


def test_others_are_added(desk, address):
    desk.goto(f"{address}#run=0&node=7")
    verdict(desk)
    desk.get_by_role("searchbox", name="Add a word").fill("4")
    desk.locator("ul.found button").first.click()
    assert "2 papers\u00a0×\u00a04 words" in verdict(desk)
    desk.get_by_role("searchbox", name="Add a paper").fill("12")
    desk.keyboard.press("ArrowDown")
    desk.wait_for_selector("ul.found button:has-text('12')")
    desk.keyboard.press("ArrowDown")
    desk.keyboard.press("Enter")
    desk.wait_for_selector(".board .node.selected[data-node='12']")
    assert "3 papers\u00a0×\u00a04 words" in verdict(desk)


def test_the_last_of_many_changes_is_what_is_measured(desk, address):
    desk.goto(f"{address}#run=0&node=8")
    verdict(desk)
    asked = []
    desk.on("request", lambda one: "/api/fidelity" in one.url and asked.append(one.post_data))
    desk.evaluate(
        "for (const id of [9, 13, 14, 9, 13]) document.querySelector("
        "`.board .node[data-node='${id}']`).dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    desk.wait_for_timeout(300)
    assert "3 papers" in verdict(desk)
    assert json.loads(asked[-1])["nodes"] == [8, 9, 13]
    assert len(asked) < 5


def test_a_permalink_holds_the_edited_set(desk, address):
    desk.goto(f"{address}#run=0&node=8")
    verdict(desk)
    node(desk, 13).click()
    said = verdict(desk)
    where = desk.url
    assert where.endswith("#run=0&node=8&nodes=8,9,14&features=1")
    desk.goto("about:blank")
    desk.goto(where)
    assert verdict(desk) == said
    assert node(desk, 13).get_attribute("aria-pressed") == "false"
    desk.goto(f"{address}#run=0&node=7")
    desk.wait_for_selector("h2:has-text('seven')")
    desk.go_back()
    desk.wait_for_selector("h2:has-text('Paper 8')")
    assert verdict(desk) == said


def test_a_new_node_is_explained_with_progress(desk, address):
    new = {1280: 31, 390: 32}[desk.viewport_size["width"]]  # the server remembers what it found
    desk.goto(f"{address}#run=2")
    desk.get_by_role("searchbox", name="Open any paper").fill(str(new))
    desk.keyboard.press("Enter")
    desk.get_by_role("button", name="Explain it now").click()
    desk.wait_for_selector(".progress .step")
    desk.wait_for_selector(".your-set", timeout=60_000)
    assert desk.url.endswith(f"#run=2&node={new}&method=zorro")
    assert f"for paper {new}" in desk.inner_text(".sentence")
    desk.goto("about:blank")
    desk.goto(f"{address}#run=2&node={new}")
    desk.wait_for_selector(".your-set")
    assert desk.get_by_role("button", name="Keep in the run").is_visible()


def test_a_search_is_cancelled(desk, address):
    desk.goto(f"{address}#run=4&node=33&method=zorro")
    desk.wait_for_selector(".progress .step")
    desk.get_by_role("button", name="Cancel").click()
    desk.wait_for_selector("text=It is not in this run.")
    assert desk.url.endswith("#run=4&node=33")
    for _ in range(100):
        if desk.evaluate("fetch('/api/health').then(a => a.json())")["jobs"] == 0:
            break
        desk.wait_for_timeout(50)
    else:
        pytest.fail("the job goes on")


def test_a_node_that_is_not_there_is_not_found(desk, address):
    desk.goto(address)
    desk.get_by_role("searchbox", name="Open any paper").fill("41")
    desk.keyboard.press("Enter")
    assert "There is no paper 41: they go from 0 to 39." in desk.inner_text("#finder-said")
    desk.goto(f"{address}#run=0&node=9999")
    desk.wait_for_selector("text=There is no such paper in the graph.")


@pytest.mark.parametrize("other", ["run:1", "method:grad"])
def test_two_explanations_are_compared_on_one_layout(desk, address, other):
    desk.goto(f"{address}#run=0&node=7")
    desk.locator("[name=compare]").select_option(other)
    desk.wait_for_selector(".halves .scene >> nth=1", timeout=60_000)
    assert f"compare={other}" in desk.url
    places = desk.evaluate(
        "[...document.querySelectorAll('.halves .scene')].map(scene => JSON.stringify("
        "[...scene.querySelectorAll('.node')].map(node => [node.dataset.node, "
        "node.getAttribute('transform')])))"
    )
    assert places[0] == places[1]
    assert "in both" in desk.inner_text(".shared")
    desk.go_back()
    desk.wait_for_selector(".your-set")


def test_several_methods_are_compared_at_once(desk, address):
    desk.goto(f"{address}#run=0&node=7")
    for method in ("grad", "gnnexplainer"):
        desk.locator("[name=compare]").select_option(f"method:{method}")
        desk.wait_for_selector(f".compared .panels h3:has-text('{method}')", timeout=60_000)
    assert desk.url.endswith("compare=method:grad,method:gnnexplainer")
    assert desk.locator(".compared h3").all_inner_texts()[:3] == ["zorro", "grad", "gnnexplainer"]
    grad = desk.locator(".compared .panel").nth(1)
    # Where the set ends, and what the scores are worth without that.
    assert "Cut off: the highest " in grad.inner_text()
    assert "All scores as they are, as weights of what is kept: fidelity " in grad.inner_text()
    heads = desk.locator("table.scores >> nth=0").locator("thead th").all_inner_texts()
    assert heads[1:] == desk.locator(".compared h3").all_inner_texts()[:3]
    desk.get_by_role("button", name="Leave out grad").click()
    desk.wait_for_selector(".halves h3:has-text('gnnexplainer')", timeout=60_000)
    assert desk.url.endswith("compare=method:gnnexplainer")


def test_why_not_another_class(desk, address):
    desk.goto(f"{address}#run=0&node=31&method=zorro")
    desk.locator("[name=why_not]").select_option(index=1)
    desk.wait_for_selector(".sentence:has-text('Why not')")
    assert "why_not=" in desk.url
    desk.locator(".chips button").first.click()
    assert " ahead of " in verdict(desk)


@pytest.mark.parametrize("kind", ["PNG", "SVG", "JSON"])
def test_files_are_saved(desk, address, kind, tmp_path):
    desk.goto(f"{address}#run=0&node=7")
    verdict(desk)
    with desk.expect_download() as download:
        desk.get_by_role("button", name=f"Save as {kind}").click()
    file = tmp_path / "saved"
    download.value.save_as(file)
    assert download.value.suggested_filename == f"zorro-node-7.{kind.lower()}"
    if kind == "JSON":
        assert json.loads(file.read_text())["explanation"]["nodes"] == [7, 8]
    else:
        assert file.read_bytes().startswith(b"\x89PNG" if kind == "PNG" else b"<svg")
        assert file.stat().st_size > 2000


def test_a_large_neighbourhood_is_capped_and_stays_smooth(page, address):
    page.goto(f"{address}#run=3&node=0")
    verdict(page)
    page.get_by_role("button", name="Show more around it").click()
    page.wait_for_selector("text=/Showing 2,00\\d of 6,012 papers/")
    assert page.locator(".board canvas").count() == 1
    assert page.locator(".board .node").count() < 100
    worst = page.evaluate(
        """() => new Promise(resolve => {
          const node = document.querySelector(".board .node[data-node='5']");
          let [frames, last, worst] = [0, performance.now(), 0];
          const next = now => {
            worst = Math.max(worst, now - last);
            last = now;
            node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
            if (++frames < 20) requestAnimationFrame(next); else resolve(worst);
          };
          requestAnimationFrame(next);
        })"""
    )
    print(f"longest frame {worst:.0f} ms")
    assert worst < 250
    page.locator(".board").scroll_into_view_if_needed()
    drawn = page.locator(".board .node").count()
    box = page.locator(".board").bounding_box()
    for step in range(60):  # somewhere on the ring there is a node of the canvas
        page.mouse.move(box["x"] + box["width"] / 2 + step * 4, box["y"] + box["height"] / 2)
        if page.locator(".board.pointing").count():
            page.mouse.down()
            page.mouse.up()
            break
    assert page.locator(".board .node").count() == drawn + 1


def test_without_a_model_nothing_can_be_changed(desk, reading_only):
    desk.goto(f"{reading_only}#run=0&node=7")
    desk.wait_for_selector(".sentence")
    assert "For reading only" in desk.inner_text("#reading-only")
    assert desk.locator(".your-set, .adder, .toggle, [name=why_not]").count() == 0
    desk.goto(f"{reading_only}#run=0&node=9")
    desk.wait_for_selector("text=It is not in this run.")
    assert desk.get_by_role("button", name="Explain it now").count() == 0


def test_what_the_server_refuses_is_said_in_place(desk, address):
    desk.goto(f"{address}#run=0&node=7&why_not=0")  # which is what the model says
    desk.wait_for_selector(".note.failed")
    assert "expected another class than the prediction" in desk.inner_text(".note.failed")
    assert desk.url.endswith("#run=0&node=7")


def test_what_cannot_be_measured_is_said_in_place(desk, address):
    desk.goto(f"{address}#run=0&node=7")
    verdict(desk)
    desk.evaluate(
        "() => { zorro.api.fidelity = () => Promise.reject(new Error('it does not answer')); }"
    )
    node(desk, 8).click()
    desk.wait_for_selector(".verdict.failed")
    assert desk.inner_text(".verdict") == "Not measured: it does not answer"


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A run with a damaged row, one with a damaged manifest, and one that could not be opened."""
    folder = tmp_path_factory.mktemp("runs")
    graph, model = ring(), model_of()
    explanations = [made_explanation(number) for number in (7, 8, 20)]
    first = made_run(folder / "first", explanations, graph=graph, model=model)
    with sqlite3.connect(folder / "first" / OUTCOMES) as connection:
        connection.execute("UPDATE outcomes SET explanation = ? WHERE node = 8", ("[" * 10**5,))
    second = made_run(folder / "second", explanations, graph=graph, model=model)
    second.manifest["parameters"].pop("tau")
    runs = [
        served(first, model, graph),
        Served(second),
        Broken(folder / "third", f"its manifest is damaged: {MARKUP}"),
    ]
    yield from serving(runs)


def test_what_is_damaged_is_said_and_the_rest_is_shown(page, serious, damaged):
    page.goto(damaged)
    page.wait_for_selector(".rows tbody tr")
    assert shown(page) == [7, 20]
    assert "Paper 8: text: expected JSON, got something else: nested too deeply" in page.inner_text(
        "#unreadable"
    )
    said = page.inner_text("#broken")
    assert "2 runs cannot be read" in said
    assert "second: " in said
    assert "'tau' is missing" in said
    assert "third: its manifest is damaged: <img" in said
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.goto(f"{damaged}#run=0&node=8")
    page.wait_for_selector(
        "text=What this run holds of it cannot be read: text: expected JSON, got something else: "
        "nested too deeply"
    )
    page.locator("[name=run]").select_option("1")
    page.wait_for_selector("text=This run cannot be read:")
    page.locator("[name=run]").select_option("0")
    page.wait_for_selector("text=What this run holds of it")


def test_where_nothing_can_be_read_that_is_said(desk, tmp_path):
    alone = serving([Broken(tmp_path / "only", "its manifest is damaged")])
    desk.goto(next(alone))
    desk.wait_for_selector("text=This run cannot be read: its manifest is damaged")
    next(alone, None)


@pytest.fixture
def elsewhere():
    """Another site's page, which links to what it is asked for."""

    class Linking(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f"<a href='{unquote(self.path[2:])}'>there</a>".encode())

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Linking) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    ("host", "site"), [("localhost", "cross-site"), ("127.0.0.1", "same-site")]
)
def test_other_sites_can_link_to_the_page(browser, address, elsewhere, host, site):
    start = address.split("?")[0]
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{start}#run=0&node=7")
    page.wait_for_selector("text=The token is missing")
    page.goto(f"http://{host}:{elsewhere}/?{quote(address)}")
    page.click("a")
    page.wait_for_selector(".rows tbody tr")
    assert page.url == start  # no token that could be passed on
    assert page.evaluate("document.cookie") == ""
    page.goto(f"http://{host}:{elsewhere}/?{quote(f'{start}#run=0&node=7')}")
    answered.clear()
    page.evaluate(
        "url => fetch(url, {mode: 'no-cors', credentials: 'include'}).catch(() => {})",
        f"{start}api/runs",
    )
    assert answered == [("/api/runs", site, 403)]
    page.click("a")
    page.wait_for_selector("h2:has-text('seven')")
    context.close()


def test_who_has_no_token_can_give_it(browser, address):
    """A link that is shared leads to a page that asks for the token, and then to what it names."""
    start, token = address.split("?token=")
    for given in (token, address):
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(f"{start}#run=0&node=7")
        page.get_by_label("Address or token").fill("another")
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector("text=The token is missing")
        page.get_by_label("Address or token").fill(given)
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector("h2:has-text('seven')")
        assert page.url == f"{start}#run=0&node=7"
        context.close()


VIEWS = ["", "#run=0&node=7", "#run=0&node=7&nodes=7&features=0,2", "#run=0&node=30"]
ALL_VIEWS = [*VIEWS, "#run=0&node=7&compare=run:1"]


@pytest.mark.parametrize("where", ALL_VIEWS)
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(page, serious, address, where):
    page.goto(address + where)
    page.wait_for_selector("#main:not(.waiting)")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert serious(page) == []


@pytest.mark.parametrize("where", VIEWS[:3])
def test_nothing_jumps(own_page, address, where):
    own_page.add_init_script(
        "window.jumped = 0; new PerformanceObserver(list => list.getEntries().forEach("
        "entry => window.jumped += entry.hadRecentInput ? 0 : entry.value))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    own_page.goto(address + where)
    own_page.wait_for_timeout(600)
    assert own_page.evaluate("window.jumped") < 0.01


def test_control_z_steps_back(desk, address):
    desk.goto(f"{address}#run=0&node=7")
    verdict = desk.locator(".your-set .verdict")
    desk.locator(".kept.editable button[aria-pressed]").first.click()
    desk.locator(".your-set.changed").wait_for()
    desk.keyboard.press("Control+z")
    assert "As it was found" in verdict.inner_text()
    desk.keyboard.press("Control+Shift+z")
    desk.locator(".your-set.changed").wait_for()
    desk.locator(".chips input, .kept.editable input").first.focus()
    desk.keyboard.press("Control+z")  # in a box it is the box's own
    assert desk.locator(".your-set.changed").count() == 1


def test_filters_are_in_the_address(desk, address):
    desk.goto(f"{address}#run=0&only.status=budget+exhausted")
    rows = desk.locator(".rows tbody tr")
    rows.first.wait_for()
    assert [row.get_attribute("data-query") for row in rows.all()] == ["20"]
    desk.locator("select[name=status]").select_option("")
    desk.locator("input[name=fidelity]").fill("0.95")
    expect(desk).to_have_url(re.compile(r"only\.fidelity=0\.95"))
    assert rows.count() == 0
    desk.locator("input[name=fidelity]").fill("0.85")
    desk.locator("select[name=truth]").select_option("1")
    assert [row.get_attribute("data-query") for row in rows.all()] == ["7"]


def test_what_is_not_explained_is_shown_before_and_stays_in_the_table(desk, address):
    desk.goto(f"{address}#run=0&node=11")
    desk.locator(".offer .board svg").wait_for()
    assert "The model says" in desk.locator(".offer").inner_text()
    desk.get_by_role("button", name="Explain it now").click()
    desk.locator(".sentence").wait_for()
    desk.get_by_role("link", name="← All explanations").click()
    desk.locator(".rows tbody tr[data-query='11']").wait_for()
    desk.locator(".rows tbody tr[data-query='11'] a").click()
    desk.locator(".sentence").wait_for()
    assert "11" in desk.locator("#explanation h2").inner_text()


def test_rows_are_saved_as_csv(desk, address, tmp_path):
    desk.goto(f"{address}#run=0")
    with desk.expect_download() as waiting:
        desk.get_by_role("button", name="Save as CSV").click()
    waiting.value.save_as(tmp_path / "rows.csv")
    head, *rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert head.startswith("query,")
    assert [row.split(",")[0] for row in rows][:3] == ["7", "8", "20"]  # others were found since


def test_a_picture_says_what_it_is_of(desk, address):
    desk.goto(f"{address}#run=0&node=8")
    desk.locator("#explanation svg").first.wait_for()
    with desk.expect_download() as waiting:
        desk.get_by_role("button", name="Save as SVG").click()
    drawn = waiting.value.path().read_text()
    assert "Paper 8 – " in drawn
    assert "Keeping 4" in drawn
    assert "certified" not in drawn or "worlds" in drawn
    assert "<circle" in drawn


def test_saved_json_tells_digests_names_and_what_was_measured(desk, address):
    desk.goto(f"{address}#run=0&node=8")
    desk.locator(".kept.editable button[aria-pressed]").first.click()
    desk.locator(".your-set.changed:not(.measuring)").wait_for()
    with desk.expect_download() as waiting:
        desk.get_by_role("button", name="Save as JSON").click()
    told = json.loads(waiting.value.path().read_text())
    assert len(told["digests"]["data"]) == 64
    assert told["edited"]["measured"]["samples"] == 200
    assert set(told["names"]["nodes"]) == {str(node) for node in told["edited"]["nodes"]}


def test_what_is_added_enters_the_heat_map(desk, address):
    desk.goto(f"{address}#run=0&node=8")
    columns = desk.locator(".heatmap thead th")
    columns.first.wait_for()
    assert columns.count() == 1
    desk.get_by_role("searchbox", name="Add a word").fill("3")
    desk.locator("ul.found button").first.click()
    expect(columns).to_have_count(2)
    assert desk.locator(".heatmap tbody tr").count() == 4
