"""Whole graphs in a real browser: the report, and the explorer against the real server."""

from __future__ import annotations

import pytest
from made_molecules import CountsNitrogen, molecule_run, molecules
from made_runs import made_explanation, made_run, ring, small_model

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

from zorro.show import report
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.served import Served

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")


@pytest.fixture(scope="module")
def model():
    return CountsNitrogen().eval()


@pytest.fixture(scope="module")
def runs(tmp_path_factory, model):
    """Sets of atoms; sets of atoms and types, some grouped; sets of types."""
    folder = tmp_path_factory.mktemp("runs")
    return [
        molecule_run(folder / "atoms", model, keep=("nodes",), feature_groups=[range(3)]),
        molecule_run(folder / "both", model, feature_groups=[[0, 1]]),
        molecule_run(folder / "types", model, keep=("features",)),
    ]


@pytest.fixture(scope="module")
def address(runs, model, tmp_path_factory):
    inputs = run_inputs(model=model, graphs=molecules())
    of_nodes = made_run(
        tmp_path_factory.mktemp("runs") / "nodes",
        [made_explanation(7)],
        graph=ring(),
        model=small_model(),
    )
    nodes = Served(of_nodes, run_inputs(model=small_model().eval(), **ring()))
    alone = Served(runs[0], missing="mutag: it is gone")
    yield from served_at([*(Served(run, inputs) for run in runs), nodes, alone])


@pytest.fixture(scope="module")
def written(runs, model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for place, run in enumerate(runs):
        report.write(run, folder / f"{place}.html", model=model, graphs=molecules())
    return folder.as_uri()


def atom(page, number):
    return page.locator(f".board .node[data-node='{number}']")


def verdict(page) -> str:
    """What is said of the set once it is measured."""
    page.wait_for_selector(".your-set:not(.measuring) .verdict strong")
    return page.inner_text(".verdict")


def words_of(page) -> str:
    return page.inner_text("body").lower()


@pytest.mark.parametrize("run", [0, 1, 2])
def test_a_report_speaks_of_graphs_and_people_can_use_it(page, serious, written, run):
    page.goto(f"{written}/{run}.html")
    assert "molecules explained" in page.inner_text("#cards")
    assert "node" not in words_of(page)
    assert serious(page) == []
    page.locator("tr[data-query='1'] a").click()
    page.wait_for_selector("#explanation:not([hidden]) .scene")
    assert page.url.endswith("#graph=1")
    assert "for molecule 1" in page.inner_text(".sentence")
    assert page.locator(".scene .symbol").all_text_contents().count("N") == 3
    assert page.locator(".scene .node.query").count() == 0
    assert "node" not in words_of(page)
    assert "neighbour" not in words_of(page)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_report_of_one_kind_has_no_empty_halves(desk, written):
    desk.goto(f"{written}/0.html")
    assert desk.locator("#distributions svg").count() == 2
    assert "atom type" not in desk.inner_text("#table").lower()
    desk.goto(f"{written}/2.html")
    assert desk.locator("#distributions svg").count() == 2
    assert desk.locator(".rows thead th").all_inner_texts()[4] == "Atom types"


def test_an_atom_is_taken_out_and_back(page, serious, address, runs):
    kept = runs[0].explanation(1).nodes
    page.goto(f"{address}#run=0&graph=1")
    before = verdict(page)
    assert before.startswith(f"As it was found: {len(kept)} atom")
    atom(page, kept[0]).click()
    page.wait_for_selector(".your-set.changed:not(.measuring)")
    after = verdict(page)
    assert after.startswith("Your set: ")
    assert after.split("the answer")[1] != before.split("the answer")[1]
    assert atom(page, kept[0]).get_attribute("aria-pressed") == "false"
    assert "&nodes=" in page.url
    assert "&features=" not in page.url
    assert serious(page) == []
    where = page.url
    page.goto("about:blank")
    page.goto(where)
    assert verdict(page) == after
    page.get_by_role("button", name="Reset").click()
    assert verdict(page) == before
    assert page.url.endswith("#run=0&graph=1")


def test_a_group_of_types_is_taken_in(desk, address):
    desk.goto(f"{address}#run=1&graph=0&nodes=6,7&features=2")
    verdict(desk)
    desk.get_by_role("searchbox", name="Add an atom type").fill("c, n")
    desk.locator("ul.found button:has-text('C, N')").click()
    assert "2 atoms\u00a0×\u00a02 atom types" in verdict(desk)
    assert desk.url.endswith("&nodes=6,7&features=2,0")


def test_another_graph_is_explained(desk, address):
    desk.goto(f"{address}#run=0")
    desk.get_by_role("searchbox", name="Open any molecule").fill("6")
    desk.keyboard.press("Enter")
    desk.get_by_role("button", name="Explain it now").click()
    desk.wait_for_selector(".your-set", timeout=60_000)
    assert desk.url.endswith("#run=0&graph=6&method=zorro")
    assert "for molecule 6" in desk.inner_text(".sentence")


def test_why_not_and_compare(desk, address):
    desk.goto(f"{address}#run=0&graph=0")
    desk.locator("[name=why_not]").select_option("0")
    desk.wait_for_selector(".sentence:has-text('Why not harmless?')", timeout=60_000)
    desk.goto(f"{address}#run=0&graph=0")
    verdict(desk)
    desk.locator("[name=compare]").select_option("run:1")
    desk.wait_for_selector(".halves .scene >> nth=1")
    places = desk.evaluate(
        "[...document.querySelectorAll('.halves .scene')].map(scene => JSON.stringify("
        "[...scene.querySelectorAll('.node')].map(node => [node.dataset.node, "
        "node.getAttribute('transform')])))"
    )
    assert places[0] == places[1]
    assert "Atoms:" in desk.inner_text(".shared")
    assert "method:" not in desk.locator("[name=compare]").inner_html()


def test_only_what_sets_are_of_can_be_clicked(desk, address):
    desk.goto(f"{address}#run=2&graph=0")
    verdict(desk)
    assert desk.locator(".board .node[role=button]").count() == 0
    assert "to take them in or out" not in desk.inner_text("#explanation")
    desk.locator(".heatmap thead .pick").first.click()
    assert verdict(desk).startswith("Your set: ")


def test_what_the_address_names_and_is_not_there_is_said(desk, address):
    desk.goto(f"{address}#run=0&graph=999")
    desk.wait_for_selector("text=There is no such molecule in the data set.")
    desk.goto(f"{address}#run=0&node=3")
    desk.wait_for_selector("text=This run is of molecules from 0 to 7")
    desk.goto(f"{address}#run=3&graph=3")
    desk.wait_for_selector("text=This run is of nodes from 0 to 39")
    desk.goto(f"{address}#run=4&graph=0")
    desk.wait_for_selector("text=It is not drawn: the graphs were not at hand")
    said = desk.inner_text("#reading-only")
    assert "the model and the graphs are not at hand (mutag: it is gone)" in said
    desk.goto(f"{address}#run=0&graph=0")
    verdict(desk)
    assert desk.locator("#reading-only").is_hidden()


@pytest.mark.parametrize("kind", ["PNG", "SVG", "JSON"])
def test_files_are_saved(desk, address, kind):
    desk.goto(f"{address}#run=0&graph=1")
    verdict(desk)
    with desk.expect_download() as download:
        desk.get_by_role("button", name=f"Save as {kind}").click()
    assert download.value.suggested_filename == f"zorro-graph-1.{kind.lower()}"
    content = download.value.path().read_bytes()
    if kind == "SVG":
        assert content.decode().count(">N</text>") == 4  # three atoms, and the legend
        assert b"var(--" not in content


def test_a_set_that_was_asked_against_a_class_is_measured_against_it(desk, model, tmp_path):
    run = molecule_run(tmp_path / "against", model, keep=("nodes",), why_not=0, numbers=[0])
    for address in served_at([Served(run, run_inputs(model=model, graphs=molecules()))]):
        desk.goto(address)
        desk.goto(f"{address.split('?')[0]}#run=0&graph=0")
        with desk.expect_request("**/api/fidelity") as asked:
            desk.locator(".board .node.selected").first.click()
        assert asked.value.post_data_json["why_not"] == 0
        assert "keep harmful ahead of harmless" in verdict(desk).replace("keeps", "keep")
