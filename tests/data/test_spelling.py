import pytest

from zorro.data.spelling import hint, known_as

NAMES = ["amazon-computers", "cora"]


@pytest.mark.parametrize("spelling", ["AMAZON-COMPUTERS", "Amazon Computers", "amazoncomputers"])
def test_capitals_and_separators_do_not_matter(spelling):
    assert known_as(spelling, NAMES) == "amazon-computers"


@pytest.mark.parametrize("name", ["amazon", "", "-"])
def test_other_names_are_not_known(name):
    assert known_as(name, NAMES) is None


def test_only_near_misses_get_a_hint():
    assert hint("Cara", NAMES) == " (did you mean 'cora'?)"
    assert hint("reddit", NAMES) == ""
