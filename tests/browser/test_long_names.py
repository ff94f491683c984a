"""Long names in a real browser: they give way in their middle, and nothing else gives way."""

import pytest
from made_runs import made_explanation, made_run, ring, small_model

from zorro.graph.names import Names
from zorro.runs.given import OneGraph
from zorro.show import report
from zorro.show.page.run_inputs import RunInputs
from zorro.show.web.served import Served

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install uvicorn")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install fastapi")
from local_server import served_at

ALLOWED = ("file:", "http://127.0.0.1:", "data:", "blob:")
LONG = "Proceedings of an international conference with a very long title, volume"
NAMES = Names(
    node="paper",
    feature="word",
    classes=[f"{LONG} zero", f"{LONG} one"],
    nodes={node: f"{LONG} {node}" for node in range(40)},
    features=[f"a_stem_with_an_extraordinarily_long_identifier_{word}" for word in range(5)],
)
# Whether all ends of names, and what stands beside names, lie within an element.
SHOWS_ENDS = """element => {
  const box = element.getBoundingClientRect();
  const parts = element.querySelectorAll(".middle > span:last-child, .badge, [role=img]");
  return [...parts].every(part => {
    const {left, right, width} = part.getBoundingClientRect();
    return width > 0 && left >= box.left && right <= box.right;
  });
}"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Five explanations, of which the odd ones are right."""
    explained = [made_explanation(node, nodes=(node, node + 1)) for node in range(7, 12)]
    return made_run(
        tmp_path_factory.mktemp("runs") / "run", explained, graph=ring(), model=small_model()
    )


@pytest.fixture(scope="module")
def address(run):
    graph = ring()
    data = OneGraph(graph["x"], graph["edge_index"])
    inputs = RunInputs(data, small_model().eval(), y=graph["y"], names=NAMES)
    yield from served_at([Served(run, inputs)])


@pytest.mark.parametrize("width", [800, 1024, 1280, 1440])
def test_the_table_shows_ends_of_names_and_all_its_columns(desk, run, tmp_path, width):
    graph = ring()
    report.write(run, tmp_path / "report.html", **graph, names=NAMES)
    desk.set_viewport_size({"width": width, "height": 900})
    desk.goto((tmp_path / "report.html").as_uri())
    desk.wait_for_selector(".rows tbody tr")
    for line in desk.locator(".rows tbody tr").all():
        node = line.get_attribute("data-query")
        tails = line.locator(".middle > span:last-child")
        assert tails.nth(0).inner_text().endswith(f" {node}")
        for cell in line.locator("td:visible").all():
            assert cell.evaluate(SHOWS_ENDS), cell.inner_text()
    heads = desk.locator(".rows thead th:visible").all_inner_texts()
    assert ("True" in heads) == (width > 1024)
    widths = desk.evaluate(
        "[...document.querySelectorAll('.rows thead th')].map(head => head.offsetWidth)"
    )
    assert all(each == 0 or each > 60 for each in widths)


def test_ends_of_names_tell_elements_apart(desk, address):
    desk.goto(f"{address}#run=0&node=7")
    desk.wait_for_selector(".chips button")
    for button in desk.locator(".chips button").all():
        assert button.evaluate(SHOWS_ENDS)
    labels = desk.locator(".board .labels text").all_text_contents()
    assert {label.rsplit(" ", 1)[-1] for label in labels} >= {"7", "8"}
    for name in desk.locator(".heatmap .pick").all():
        assert name.evaluate(
            "name => name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight"
        )
