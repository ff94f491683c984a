import base64
import hashlib
import json
import re

import pytest

from zorro.show.page import html
from zorro.show.page.html import REPORT_SCRIPTS, embedded, inlined, static

MARKUP = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> {{style}} & \u2028"


@pytest.fixture(scope="module")
def page():
    return inlined("report.html", title=MARKUP, data={"name": MARKUP}, scripts=REPORT_SCRIPTS)


def test_data_comes_back_as_it_was():
    assert json.loads(embedded({"name": MARKUP})) == {"name": MARKUP}


def test_data_cannot_end_its_element(page):
    inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert inside is not None
    assert json.loads(inside[1]) == {"name": MARKUP}
    assert "<img" not in page
    assert page.count("<script>") == len(REPORT_SCRIPTS)


def test_the_policy_allows_exactly_the_scripts_and_the_style(page):
    told = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert told is not None
    policy = told[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind, texts in {
        "script-src": re.findall(r"<script>(.*?)</script>", page, re.S),
        "style-src": re.findall(r"<style>(.*?)</style>", page, re.S),
    }.items():
        listed = re.search(rf"{kind} ([^;]*)", policy)
        assert listed is not None
        allowed = listed[1].split()
        hashes = [hashlib.sha256(text.encode()).digest() for text in texts]
        assert allowed == [f"'sha256-{base64.b64encode(h).decode()}'" for h in hashes]


def test_nothing_is_loaded_from_elsewhere(page):
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)


def test_no_script_of_ours_writes_markup():
    for name in REPORT_SCRIPTS:
        if not name.startswith("vendor/"):
            for way in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                ".html(",
                "eval(",
                "document.write",
            ):
                assert way not in static(name), f"{name} uses {way}"


def test_a_script_that_would_end_its_element_is_refused(monkeypatch):
    monkeypatch.setattr(html, "static", lambda name: "'</script>'")
    with pytest.raises(ValueError, match="end its own element"):
        inlined("report.html", title="", data={}, scripts=["one.js"])
