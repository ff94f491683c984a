"""A real browser, a Chromium driven by Playwright, and pages that must stay clean."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # made-up runs lie beside the tests' folders
sys.path.append(str(Path(__file__).parent))
import find_browser

# Now: the tests have a cache of their own, and Playwright's browsers are in the user's.
CANDIDATES = find_browser.candidates()

# A folder for pictures of all pages as the tests leave them, for people to look at.
SCREENSHOTS = os.environ.get("ZORRO_SCREENSHOTS")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
SIZES = {"desk": (1280, "light"), "phone": (390, "dark")}


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    chromium = find_browser.first_that_starts(CANDIDATES)
    if chromium is None:
        pytest.skip(f"the pages are not tested in a browser: {find_browser.why_not()}")
    with playwright.sync_playwright() as driver:
        # Chromium has no sandbox for root, which containers run as.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _nothing_found_yet():
    """Forget what earlier tests had explained: the tests of a file share its servers."""
    servers = sys.modules.get("local_server")  # there only if what it needs is installed
    for served in servers.SERVED if servers else ():
        served._found.clear()


@pytest.fixture(params=SIZES)
def page(request, browser):
    """A page on a desk or on a phone."""
    yield from opened(browser, request, request.param)


@pytest.fixture
def desk(request, browser):
    """A page on a desk."""
    yield from opened(browser, request, "desk")


def opened(browser, request, size):
    """A page that must stay free of errors and ask only for what its module allows."""
    width, scheme = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(15_000)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: asked.url.startswith(request.module.ALLOWED) or wrong.append(asked.url),
    )
    yield page
    if SCREENSHOTS:
        name = re.sub(r"\W+", "-", f"{request.module.__name__}-{request.node.name}").strip("-")
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)
    hacked = page.evaluate("window.hacked")
    context.close()
    assert wrong == []
    assert hacked is None


@pytest.fixture
def serious():
    """What axe has to say against a page that people could not use."""

    def found(page) -> list[tuple[str, list[str]]]:
        page.evaluate(AXE.read_text())
        violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            (rule["id"], [part["html"][:200] for part in rule["nodes"]])
            for rule in violations
            if rule["impact"] in ("serious", "critical")
        ]

    return found
