import xml.etree.ElementTree as ET

from made_runs import made_explanation, ring

from zorro.graph.names import Names
from zorro.show.page.card import Card
from zorro.show.page.node_surroundings import NodeSurroundings

MARKUP = "<script>alert('1')</script>"


def parsed(card):
    return ET.fromstring(card._repr_html_())


def test_a_card_draws_the_kept_nodes_large():
    shown = parsed(Card(made_explanation(), NodeSurroundings(**ring())))
    circles = shown.findall(".//circle")
    assert sum(circle.get("r") == "7.0" for circle in circles) == 2
    assert sum(circle.get("fill") == "none" for circle in circles) == 1


def test_a_card_without_a_graph_has_no_drawing():
    shown = parsed(Card(made_explanation()))
    assert shown.find(".//svg") is None
    assert "The model says class 1" in "".join(shown.itertext())


def test_markup_in_names_stays_text():
    names = Names(nodes={7: MARKUP}, features={0: MARKUP}, classes=[MARKUP, MARKUP])
    graph = ring()
    shown = parsed(
        Card(made_explanation(), NodeSurroundings(**graph, predicted=graph["y"], names=names))
    )
    assert shown.find(".//script") is None
    assert "".join(shown.itertext()).count(MARKUP) >= 4
