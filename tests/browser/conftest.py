"""A real browser, a Chromium driven by Playwright, and pages that must stay clean."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
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


@pytest.fixture(scope="session")
def windows() -> dict:
    """Windows by size, for one test after the other: opening one takes longer than most tests."""
    return {}


@pytest.fixture(params=SIZES)
def page(request, browser, windows):
    """A page on a desk or on a phone."""
    yield from lent(request, browser, windows, request.param)


@pytest.fixture
def desk(request, browser, windows):
    """A page on a desk."""
    yield from lent(request, browser, windows, "desk")


def lent(request, browser, windows, size):
    """A window that others have had, or a new one; who left something wrong does not return it."""
    window = windows.pop(size, None) or new_window(browser, size)
    window.set_viewport_size(viewport(size))
    window.emulate_media(media="null", color_scheme=SIZES[size][1])
    window.mouse.move(0, 0)
    with watched(window, request):
        yield window
    windows[size] = window


@pytest.fixture(params=SIZES)
def own_page(request, browser):
    """A page that no other test has, for scripts that would stay in it."""
    own = new_window(browser, request.param)
    with watched(own, request):
        yield own
    own.context.close()


def new_window(browser, size):
    """An empty page with nothing from others."""
    window = browser.new_context(viewport=viewport(size), color_scheme=SIZES[size][1]).new_page()
    window.set_default_timeout(15_000)
    return window


def viewport(size):
    return {"width": SIZES[size][0], "height": 900}


@contextmanager
def watched(window, request):
    """A window that must stay free of errors and ask only for what the test's module allows."""
    wrong: list[str] = []
    heard = {
        "console": lambda message: wrong.append(message.text),
        "pageerror": lambda error: wrong.append(str(error)),
        "request": lambda asked: (
            asked.url.startswith(request.module.ALLOWED) or wrong.append(asked.url)
        ),
    }
    for event, hear in heard.items():
        window.on(event, hear)
    try:
        yield
        if SCREENSHOTS:
            name = re.sub(r"\W+", "-", f"{request.module.__name__}-{request.node.name}").strip("-")
            window.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)
        hacked = window.evaluate("window.hacked")
    finally:
        for event, hear in heard.items():
            window.remove_listener(event, hear)
        window.goto("about:blank")
        window.context.clear_cookies()
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
