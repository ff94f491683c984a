"""Find a browser for the tests of the pages, or fetch one.

    python tests/browser/find_browser.py [--limit SECONDS]

Takes the Chromium or Chrome that is there. Without one it lets Playwright download its own, and
then apt install Debian's, as far as there is a network and the right to do so. Says what it did. It
never fails: without a browser those tests are left out, and say why.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
WHY_NOT = Path(__file__).parents[2] / "build" / "no-browser.txt"
SECONDS_TO_START = 60


def candidates() -> list[str]:
    """Return where browsers may be, the one that is asked for first."""
    named = os.environ.get("CHROMIUM")
    if named:
        return [named]
    on_path = [path for path in map(shutil.which, NAMES) if path is not None]
    return [*on_path, *filter(os.path.exists, APPLICATIONS), *_downloaded()]


def first_that_starts(places: list[str]) -> str | None:
    """Return a browser that can say its version: some are there and only say what to install."""
    for place in places:
        try:
            tried = subprocess.run(
                [place, "--version"], capture_output=True, timeout=SECONDS_TO_START, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if tried.returncode == 0:
            return place
    return None


def why_not() -> str:
    """Return why there is none, as far as it is known."""
    if os.environ.get("CHROMIUM"):
        return f"CHROMIUM is {os.environ['CHROMIUM']}, which does not start"
    if WHY_NOT.is_file():
        return WHY_NOT.read_text(encoding="utf-8").strip()
    return "none is installed: `python tests/browser/find_browser.py` fetches one, or set CHROMIUM"


def _downloaded() -> list[str]:
    """Return the browsers that Playwright has downloaded, the newest first."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path(cache) / "ms-playwright")
    macos = "*.app/Contents/MacOS"
    applications = ("chrome", f"{macos}/Chromium", f"{macos}/Google Chrome*")
    found = [one for name in applications for one in folder.glob(f"chromium-*/*/{name}")]
    return [str(one) for one in sorted(found, reverse=True)]


def _fetched(limit: float) -> Iterator[str]:
    """Try to fetch a browser in one way after the other; yield what came of each that failed."""
    yield _done([sys.executable, "-m", "playwright", "install", "chromium"], limit)
    if shutil.which("apt-get") is None:
        yield "apt-get: not there"
        return
    root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    quiet = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    _done([*quiet, "update"], limit)  # it may work with the lists that are there, too
    wanted = ["chromium", "fonts-dejavu-core"]
    yield _done([*quiet, "install", "--yes", "--no-install-recommends", *wanted], limit)


def _done(command: list[str], limit: float) -> str:
    """Run a command and return what is wrong, in a line."""
    print(f"no browser yet: {' '.join(command)}", file=sys.stderr, flush=True)
    shown = " ".join(word for word in command[-4:] if not word.startswith("-"))
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,  # it must not ask for anything
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return f"{shown}: {error.strerror}"
    with process:
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            with suppress(PermissionError):  # what sudo has started is not ours to end
                os.killpg(process.pid, signal.SIGKILL)
            return f"{shown}: took longer than {limit:g} s"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("Error", "E:", "sudo:"))] or lines[-1:]
    return "" if process.returncode == 0 else f"{shown}: {' '.join(wrong)[:200]}"


def main() -> None:
    """Say which browser there is, fetching one if need be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each attempt")
    limit = parser.parse_args().limit
    browser = first_that_starts(candidates())
    wrong = []
    if browser is None and not os.environ.get("CHROMIUM"):
        for problem in _fetched(limit):
            browser = first_that_starts(candidates())
            if browser is not None:
                break
            wrong.append(problem or "what was installed does not start")
    WHY_NOT.unlink(missing_ok=True)
    if browser is not None:
        print(f"browser: {browser}")
        return
    if wrong:
        WHY_NOT.parent.mkdir(parents=True, exist_ok=True)
        WHY_NOT.write_text("no browser could be fetched: " + "; ".join(wrong), encoding="utf-8")
    print(f"browser: none, so that the tests of the pages are left out ({why_not()})")


if __name__ == "__main__":
    main()
