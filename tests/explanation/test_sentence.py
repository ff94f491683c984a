import dataclasses

import pytest
from made_runs import made_explanation

from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation import Versus
from zorro.explanation.sentence import phrases
from zorro.graph.names import Names
from zorro.question import Query

PAPERS = Names(node="paper", feature="word", classes=("Theory", "Neural Networks"))


def said(explanation, names=PAPERS):
    return explanation.sentence(names).replace("\u00a0", " ")


def test_a_certified_claim():
    assert said(made_explanation(1346, nodes=tuple(range(6)), features=tuple(range(8)))) == (
        "The model says Neural Networks (p = .93) for paper 1346. Keeping 6 papers × 8 words fixed "
        "keeps that answer in ≥ 85 % of all random worlds (95 % sure). The paper itself is not "
        "among what is kept."
    )


def test_without_names_the_words_are_general():
    assert said(made_explanation(nodes=(7,), features=(0,)), None) == (
        "The model says class 1 (p = .93) for node 7. Keeping 1 node × 1 feature fixed keeps that "
        "answer in ≥ 85 % of all random worlds (95 % sure)."
    )


def test_the_node_that_was_asked_about_is_called_by_its_type():
    of_author = dataclasses.replace(
        made_explanation(4, nodes=(7,)), query=Query("node", 4, types=("author",), firsts=(0,))
    )
    assert "The author itself is not among what is kept." in said(of_author)


MEASURED = "in 79 % of 1,000 random worlds (95 % interval: 76.3 % to 81.5 %). Nothing is proved: "


@pytest.mark.parametrize(
    ("status", "kept", "why"),
    [
        ("reached", "Keeping 2 papers × 3 words fixed", "no certificate was asked for."),
        (
            "budget exhausted",
            "Keeping 2 papers × 3 words fixed",
            "the search ended at its limits before 85 % was shown.",
        ),
        (
            "everything needed",
            "Keeping everything fixed that was looked at (2 papers × 5 words)",
            "no smaller set reached 85 %.",
        ),
        ("nothing needed", "Even keeping nothing fixed", "no certificate was asked for."),
    ],
)
def test_what_is_not_certified_is_said_to_be_measured_only(status, kept, why):
    text = said(made_explanation(status=status, hits=790))
    assert f"{kept} kept that answer {MEASURED}{why}" in text
    assert "sure" not in text


@pytest.mark.parametrize("status", ["nothing needed", "everything needed"])
def test_a_certificate_counts_whatever_the_status(status):
    text = said(made_explanation(status=status, certified=True))
    assert "keeps that answer in ≥ 85 % of all random worlds (95 % sure)." in text


def test_what_chance_gives_comes_with_what_to_ask_instead():
    text = said(made_explanation(status="nothing needed", certified=True))
    assert text.endswith(
        "So random inputs get this answer anyway: ask for what goes beyond chance, for a higher τ, "
        "or why it is not another class."
    )
    beyond = dataclasses.replace(made_explanation(), chance=FidelityEstimate(942, 1000))
    assert said(beyond).endswith("(95 % sure). Chance alone gives it in 94.2 % of 1,000.")


def test_a_claim_about_less_than_all_that_matters_says_so_everywhere():
    made = made_explanation()
    outside = dataclasses.replace(made.graph, context_matters=True, hops=2)
    made = dataclasses.replace(made, graph=outside, status="conditional")
    caveat = "nodes more than 2 hops away matter too, and kept their true features"
    assert said(made).endswith(f"This is not certified: {caveat}.")
    assert not made.certified
    assert caveat in str(made)
    assert "conditional" in repr(made)
    unchecked = dataclasses.replace(made.graph, context_matters=False, checked="none")
    made = dataclasses.replace(made, graph=unchecked)
    assert "This is not certified: the graph around the cut was left out" in said(made)


@pytest.mark.parametrize(
    ("contrast", "event"),
    [
        ("beats", "keeps Neural Networks ahead of Theory"),
        ("not", "keeps the model from saying Theory"),
    ],
)
def test_a_contrast_is_said(contrast, event):
    text = said(made_explanation(versus=Versus(0, contrast)))
    assert "for paper 7. Why not Theory? " in text
    assert f"{event} in ≥ 85 %" in text


def test_classes_are_stressed():
    stressed = [
        piece for piece, is_stressed in phrases(made_explanation().claim, PAPERS) if is_stressed
    ]
    assert stressed == ["Neural Networks"]


def test_a_notebook_shows_the_sentence_and_escapes_it():
    shown = made_explanation()._repr_html_()
    assert "The model says <strong>class 1</strong>" in shown
    assert "&lt;" not in shown
    assert "<script" not in shown
