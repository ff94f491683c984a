"""A run that somebody else made: what lies in its folder neither leads elsewhere nor acts."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest
from made_runs import made_explanation, made_run, ring

from zorro import open_run
from zorro.errors import RunError, ZorroError
from zorro.files.whole_file import whole_file
from zorro.runs import BrokenRun, find_runs
from zorro.runs.adding import add
from zorro.runs.folder import MANIFEST, OUTCOMES
from zorro.runs.known import KNOWN, Known

OWN = "what is dear to me\n"


@pytest.fixture
def run(tmp_path):
    """Explanations of the nodes 7 and 8, and what is true of them."""
    made = made_run(
        tmp_path / "runs/theirs", [made_explanation(7), made_explanation(8)], graph=ring()
    )
    Known(truth={7: 1}).write(made.path)
    return open_run(made.path)


@pytest.fixture
def own(tmp_path):
    """A file elsewhere."""
    path = tmp_path / "own.txt"
    path.write_text(OWN)
    return path


def test_nothing_is_written_through_a_link(run, own):
    for name in (MANIFEST, KNOWN, OUTCOMES):
        for ending in (f"{os.getpid()}.part", f"{os.getpid()}", "part"):
            (run.path / f".{name}.{ending}").symlink_to(own)
    grown = add(run.path, made_explanation(9), truth=1)
    assert [one.node for one in grown] == [7, 8, 9]
    assert grown.known.truth == {7: 1, 9: 1}
    assert own.read_text() == OWN


def test_a_file_takes_the_place_of_a_link(own):
    link = own.with_name("report.html")
    link.symlink_to(own)
    with whole_file(link) as file:
        (name,) = (path.name for path in own.parent.glob(".report.html.*.part"))
        file.write(b"a page")
    with whole_file(link) as file:
        (other,) = (path.name for path in own.parent.glob(".report.html.*.part"))
        file.write(b"another")
    assert name != other, "else somebody could be there before us"
    assert (link.read_text(), link.is_symlink()) == ("another", False)
    assert own.read_text() == OWN


def refused(run, *parts):
    """The reason why nothing can be added to a run."""
    with pytest.raises(RunError) as caught:
        add(run.path, made_explanation(9))
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_a_store_that_is_a_link_is_refused(run, tmp_path, ending, is_there):
    file = run.path / f"{OUTCOMES}{ending}"
    elsewhere = tmp_path / "elsewhere"
    content = file.read_bytes() if file.exists() else b""
    file.unlink(missing_ok=True)
    file.symlink_to(elsewhere)
    if is_there:
        elsewhere.write_bytes(content)
    refused(run, f"{file.name}: expected a file, got a link")
    with pytest.raises(RunError, match="expected a file, got a link"):
        run.counts()
    assert elsewhere.exists() == is_there
    if is_there:
        assert elsewhere.read_bytes() == content


@pytest.mark.parametrize("name", [MANIFEST, KNOWN])
def test_what_was_asked_does_not_stand_elsewhere(run, tmp_path, name):
    (run.path / name).rename(tmp_path / name)
    (run.path / name).symlink_to(tmp_path / name)
    with pytest.raises(RunError, match=f"{name}: expected a file, got a link"):
        assert open_run(run.path).known


@pytest.mark.parametrize("other", ["a link", "something else"])
def test_a_lock_is_a_file(run, tmp_path, other):
    lock, elsewhere = run.path / "lock", tmp_path / "elsewhere"
    lock.unlink(missing_ok=True)
    if other == "a link":
        lock.symlink_to(elsewhere)
    else:
        os.mkfifo(lock)  # which would be waited for
    refused(run, f"lock: expected a file, got {other}")
    assert not elsewhere.exists()


def journal_that_names(path: Path, page: bytes) -> bytes:
    """A rollback journal of one page that names another file as the journal of several."""
    magic = bytes.fromhex("d9d505f920a163d7")
    pages, sector, size = 2, 512, len(page)
    head = (magic + struct.pack(">IIIII", 1, 0, pages, sector, size)).ljust(sector, b"\0")
    check = sum(page[at] for at in range(size - 200, 0, -200)) & 0xFFFFFFFF
    body = struct.pack(">I", 1) + page + struct.pack(">I", check)
    name = os.fsencode(path)
    lock_page = 0x40000000 // size + 1
    end = struct.pack(">II", len(name), sum(name)) + magic
    return head + body + struct.pack(">I", lock_page) + name + end


def test_a_journal_does_not_delete_what_it_names(run, own):
    """SQLite deletes the journal of several files that a file's own journal names."""
    page = (run.path / OUTCOMES).read_bytes()[:4096]
    journal = run.path / f"{OUTCOMES}-journal"
    journal.write_bytes(journal_that_names(own, page))
    refused(run, "outcomes.sqlite-journal: expected the journal of one file, got one of several")
    assert own.read_text() == OWN


CHANGED = "certified INTEGER NOT NULL"
# What a file holds besides our table, or in its place.
SCHEMAS = {
    "trigger 'lies'": """
        CREATE TRIGGER lies AFTER INSERT ON outcomes BEGIN
        UPDATE outcomes SET explanation = replace(explanation, '"nodes": [7, 8]', '"nodes": [5]')
        WHERE position = new.position; END""",
    "trigger 'forgets'": """
        CREATE TRIGGER forgets AFTER INSERT ON outcomes BEGIN
        DELETE FROM outcomes WHERE position <> new.position; END""",
    "view 'more'": "CREATE VIEW more AS SELECT * FROM outcomes",
    "table 'more'": "CREATE TABLE more (x)",
    "index 'more'": "CREATE INDEX more ON outcomes (node)",
    "table 'sqlite_stat1'": "ANALYZE",
    "table 'outcomes' as zorro makes it, got another": (
        "ALTER TABLE outcomes ADD COLUMN more AS (node + 1)"
    ),
}
OTHER_TABLES = {
    "default": CHANGED + " DEFAULT 1",
    "check": CHANGED + " CHECK (certified)",
    "collation": "certified INTEGER NOT NULL COLLATE NOCASE",
    "computed": "certified INTEGER NOT NULL GENERATED ALWAYS AS (1)",
    "conflict": CHANGED + " ON CONFLICT IGNORE",
}


def stored(run):
    """All that a store holds, by a reader that knows nothing of ours."""
    with closing(sqlite3.connect(run.path / OUTCOMES)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize(("name", "script"), SCHEMAS.items(), ids=SCHEMAS)
def test_what_we_did_not_make_is_refused_by_its_name(run, name, script):
    with closing(sqlite3.connect(run.path / OUTCOMES)) as connection:
        connection.executescript(script)
    before = stored(run)
    refused(run, OUTCOMES, name)
    with pytest.raises(RunError, match=name.split()[1]):
        run.counts()
    [broken] = find_runs(run.path.parent)
    assert isinstance(broken, BrokenRun)
    assert name in broken.reason
    assert stored(run) == before


@pytest.mark.parametrize("column", OTHER_TABLES.values(), ids=OTHER_TABLES)
def test_a_table_of_somebody_elses_making_is_refused(run, column):
    with closing(sqlite3.connect(run.path / OUTCOMES)) as connection, connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master").fetchone()
        assert CHANGED in sql
        connection.execute("DROP TABLE outcomes")
        connection.execute(sql.replace(CHANGED, column))
    refused(run, "expected the table 'outcomes' as zorro makes it, got another")


@pytest.mark.parametrize("name", [MANIFEST, KNOWN])
def test_a_file_that_says_something_twice_is_damaged(run, name):
    text = (run.path / name).read_text().replace("{", '{"format": 1, "format": 1, ', 1)
    (run.path / name).write_text(text)
    assert json.loads(text)["format"] == 1
    with pytest.raises(ZorroError, match=f"{name} is damaged .'format' stands there twice"):
        assert open_run(run.path).known
