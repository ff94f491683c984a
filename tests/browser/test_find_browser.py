"""A browser that is there is taken, and where none can be had that is said and nothing fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("find_browser.py")
WORKS = "#!/bin/sh\necho Chromium 1\n"
STUB = "#!/bin/sh\necho 'install it with another program'\nexit 1\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a copy of the script where only the given programs are found, and no browser is had."""
    copy = tmp_path / "tests" / "browser" / "find_browser.py"
    copy.parent.mkdir(parents=True)
    copy.write_text(SCRIPT.read_text())
    (tmp_path / "bin").mkdir()
    environment = {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",  # where nobody answers
    }

    def start(programs, **more):
        for name, text in programs.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        done = subprocess.run(
            [sys.executable, copy, "--limit", "0.5"],
            env={**environment, **more},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    start.folder = tmp_path  # type: ignore[attr-defined]
    return start


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_the_browser_that_is_there_is_taken_and_nothing_is_fetched(run, name):
    done = run({f"bin/{name}": WORKS})
    assert done.stdout == f"browser: {run.folder}/bin/{name}\n"
    assert done.stderr == ""


def test_one_that_only_says_what_to_install_is_passed_over(run):
    done = run({"bin/chromium": STUB, "bin/google-chrome-stable": WORKS})
    assert done.stdout == f"browser: {run.folder}/bin/google-chrome-stable\n"


def test_the_one_that_is_named_is_taken_and_no_other(run):
    named = run({"bin/chromium": WORKS, "mine": WORKS}, CHROMIUM=str(run.folder / "mine"))
    assert named.stdout == f"browser: {run.folder}/mine\n"
    wrong = run({"mine": STUB}, CHROMIUM=str(run.folder / "mine"))
    assert "which does not start" in wrong.stdout


def test_the_newest_that_playwright_has_downloaded_is_taken(run):
    programs = {f".cache/ms-playwright/chromium-{n}/chrome-linux64/chrome": WORKS for n in (11, 12)}
    done = run(programs)
    assert "chromium-12" in done.stdout


def test_what_apt_installs_is_taken(run):
    folder = run.folder / "bin"
    (run.folder / "ready").write_text(WORKS)
    install = (
        f"#!/bin/sh\n[ $2 = install ] || exit 0\n/bin/cp {run.folder}/ready {folder}/chromium\n"
        f"/bin/chmod 755 {folder}/chromium\n"
    )
    passing = '#!/bin/sh\nwhile [ "$1" != apt-get ]; do shift; done\nshift\napt-get "$@"\n'
    done = run({"bin/apt-get": install, "bin/env": passing, "bin/sudo": passing})
    assert done.stdout == f"browser: {folder}/chromium\n"


def test_where_none_can_be_had_it_says_why(run):
    refused = "#!/bin/sh\necho 'E: Unable to locate package chromium'\nexit 100\n"
    passing = '#!/bin/sh\nwhile [ "$1" != apt-get ]; do shift; done\nshift\napt-get "$@"\n'
    done = run({"bin/apt-get": refused, "bin/env": passing, "bin/sudo": passing})
    said = (run.folder / "build" / "no-browser.txt").read_text()
    assert said in done.stdout
    assert "the tests of the pages are left out" in done.stdout
    assert "playwright install chromium: " in said
    assert "Unable to locate package chromium" in said
    run({"bin/chromium": WORKS})
    assert not (run.folder / "build" / "no-browser.txt").exists()


def test_a_rights_question_is_answered_by_nobody(run):
    if os.geteuid() == 0:
        pytest.skip("root needs no sudo")
    asking = "#!/bin/sh\necho 'sudo: a password is required'\nexit 1\n"
    run({"bin/apt-get": STUB, "bin/sudo": asking})
    assert "a password is required" in (run.folder / "build" / "no-browser.txt").read_text()
