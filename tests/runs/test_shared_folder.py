"""Folders of live owners stay, wherever these live; those of dead ones are removed."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from zorro.files import lock
from zorro.runs.engines import shared_folder as module
from zorro.runs.engines.shared_folder import remove_left_behind, shared_folder

# The module alone, which needs only the standard library: these processes start at once.
LOAD = f"import runpy; made = runpy.run_path({module.__file__!r})\n"
# Says where its folder is, and holds it until it is killed.
HOLD = LOAD + (
    "with made['shared_folder']() as folder:\n"
    "    (folder / 'kept').touch()\n"
    "    print(folder, flush=True)\n"
    "    input()\n"
)
CLEAN = LOAD + "made['remove_left_behind']()"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A temporary folder of this test's own, for processes too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner():
    """Another process that holds a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    yield process, folder
    process.kill()
    process.communicate()


def test_it_is_gone_when_its_owner_has_finished(temporary):
    with shared_folder() as folder:
        (folder / "file").touch()
        assert folder.parent == temporary
    assert list(temporary.iterdir()) == []


def test_that_of_a_live_process_stays_and_that_of_a_killed_one_goes(owner):
    process, folder = owner
    remove_left_behind()
    assert (folder / "kept").exists()
    process.kill()
    process.wait()
    remove_left_behind()
    assert not folder.exists()


def test_that_of_a_process_in_another_container_stays(owner):
    command = ["unshare", "--pid", "--fork"]
    if os.geteuid() != 0:
        command.append("--map-root-user")
    if shutil.which("unshare") is None or subprocess.run([*command, "true"]).returncode:
        pytest.skip("namespaces are not permitted here")
    # In there no process of the owner's number is alive.
    subprocess.run([*command, sys.executable, "-c", CLEAN], check=True)
    assert (owner[1] / "kept").exists()


@pytest.mark.parametrize("moment", ["flock", "rename"])
def test_one_that_is_being_made_stays(monkeypatch, moment):
    """Another process cleans up between any two steps of making a folder."""
    place, name = (fcntl, "flock") if moment == "flock" else (Path, "rename")
    step = getattr(place, name)
    cleaned = []

    def interrupted(*arguments):
        monkeypatch.setattr(place, name, step)
        cleaned.append(subprocess.run([sys.executable, "-c", CLEAN], check=True))
        return step(*arguments)

    monkeypatch.setattr(place, name, interrupted)
    with shared_folder() as folder:
        assert cleaned
        (folder / "file").touch()
        remove_left_behind()
        assert (folder / "file").exists()


def test_one_that_was_removed_half_is_removed_whole(temporary):
    empty = temporary / "zorro-shared-empty"
    empty.mkdir()
    free = temporary / "zorro-shared-free"
    free.mkdir()
    (free / "lock").touch()
    (free / "tensor.npy").touch()
    remove_left_behind()
    assert list(temporary.iterdir()) == []


def test_what_only_has_the_name_stays(temporary):
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lock").touch()
    (elsewhere / "mine").touch()
    (temporary / "zorro-shared-link").symlink_to(elsewhere)
    (temporary / "zorro-shared-file").touch()
    other = temporary / "zorro-shared-without-lock"
    other.mkdir()
    (other / "mine").touch()
    remove_left_behind()
    assert (elsewhere / "mine").exists()
    assert (other / "mine").exists()
    assert (temporary / "zorro-shared-file").exists()


def test_a_pipe_in_place_of_a_lock_is_not_waited_for(temporary):
    folder = temporary / "zorro-shared-pipe"
    folder.mkdir()
    os.mkfifo(folder / "lock")
    remove_left_behind()


def test_where_there_are_no_locks_nothing_is_removed(temporary, monkeypatch):
    def refused(*arguments):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    with shared_folder() as folder:
        remove_left_behind()
        assert folder.exists()
    monkeypatch.setattr(lock, "fcntl", None)
    monkeypatch.setattr(module, "HAS_LOCKS", False)
    with shared_folder() as folder:
        remove_left_behind()
        assert folder.exists()
    assert list(temporary.iterdir()) == []
