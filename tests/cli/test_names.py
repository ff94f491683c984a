"""Names from files: kept in the run, and shown wherever the run is."""

import json

import numpy as np
import pytest

from zorro.runs import open_run

WORDS = [f"word {letter}" for letter in "abcde"]


@pytest.fixture
def files(tmp_path, checkpoint):
    (tmp_path / "classes.txt").write_text("small\nlarge\n", encoding="utf-8")
    (tmp_path / "words.csv").write_text("\n".join(WORDS), encoding="utf-8")
    (tmp_path / "nodes.csv").write_text('id,name\n5,"Five, the fifth"\n25,Twenty\n', "utf-8")
    return [
        *("--checkpoint", checkpoint, "--class-names", "classes.txt"),
        *("--feature-names", "words.csv", "--node-names", "nodes.csv"),
    ]


def test_names_are_kept_and_shown(run, files, tmp_path):
    result = run("explain", *files, "--nodes", "5,25", "--out", "made")
    assert result.code == 0, result.err
    names = open_run(tmp_path / "made").known.names
    assert (names.classes, names.features) == (["small", "large"], WORDS)
    assert names.nodes == {5: "Five, the fifth", 25: "Twenty"}
    again = run("runs", "show", "made")
    for shown in (result.out, again.out):
        assert "small ✓" in shown
        assert "large ✓" in shown
        assert "Five, the fifth" in shown
        assert "word a" in shown
        assert "unknown" not in shown
        assert "2 of 2 predictions are right." in shown
    full = run("runs", "show", "made", "--node", 5)
    assert "class 0, small" in full.out
    assert "word a" in full.out


def test_long_names_leave_room_for_what_is_claimed(run, checkpoint, tmp_path):
    """They are cut in the middle, and fidelity, status and marks stay in the table."""
    long = "A very long title of one of the proceedings that everybody knows, volume"
    titles = "\n".join(f"{long} {number}" for number in range(40))
    (tmp_path / "nodes.txt").write_text(titles, encoding="utf-8")
    (tmp_path / "classes.txt").write_text(f"{long} small\n{long} large\n", encoding="utf-8")
    names = ("--node-names", "nodes.txt", "--class-names", "classes.txt")
    result = run("explain", "--checkpoint", checkpoint, "--nodes", "5,25", *names)
    assert result.code == 0, result.err
    _, rows = result.out.split("estimated [95%]", 1)
    assert "search" in rows.splitlines()[0]
    five = next(line for line in rows.splitlines() if "volume 5 " in line)
    assert "small ✓" in five
    assert "certified" in five


def test_the_page_has_the_runs_names(run, files, tmp_path):
    run("explain", *files, "--nodes", "5,25", "--out", "made")
    assert run("report", "made").code == 0
    page = (tmp_path / "report.html").read_text()
    assert '"classes":{"0":"small","1":"large"}' in page
    assert "Five, the fifth" in page


def test_names_inside_the_graphs_file(run, graph, checkpoint, tmp_path):
    np.savez(
        tmp_path / "graph.npz",
        **graph,
        class_names=np.array(["low", "high"]),
        feature_names=np.array(WORDS),
    )
    result = run("explain", "--checkpoint", checkpoint, "--nodes", "25")
    assert result.code == 0, result.err
    assert "high ✓" in result.out
    assert "word a" in result.out
    other = run("explain", "--checkpoint", checkpoint, "--nodes", 25, "--class-names", "graph.npz")
    assert "high ✓" in other.out


@pytest.mark.parametrize(
    ("option", "name", "text", "message"),
    [
        ("--feature-names", "n.txt", "a\nb\n", "--feature-names: expected 5 texts, got 2"),
        ("--node-names", "n.csv", "a\nb\n", "--node-names: expected 40 texts, got 2"),
        ("--class-names", "n.txt", "a\n", "--class-names: expected at least 2 texts, got 1"),
        ("--class-names", "n.csv", "1,a\nx,b\n", "expected a number before each name, got 'x'"),
        ("--class-names", "n.csv", "1,a,c\n", "got rows of 3 cells"),
        ("--class-names", "gone.txt", None, "gone.txt cannot be read: No such file"),
        ("--class-names", "n.npz", "no archive", "n.npz is not a readable .npz"),
    ],
)
def test_what_names_nothing_is_one_line(run, checkpoint, tmp_path, option, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = run("explain", "--checkpoint", checkpoint, "--nodes", "5", option, name)
    assert result.code == 1
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"truth": {"5": "yes"}}, "truth: expected numbers, got 'yes'"),
        ({"truth": {"x": 1}}, "truth: expected whole numbers, got 'x'"),
        ({"classes": [1]}, "classes: expected a text, got 1"),
        ({"nodes": "names"}, "nodes: expected a list or an object, got str"),
    ],
)
def test_a_damaged_file_is_named(run, checkpoint, tmp_path, change, message):
    run("explain", "--checkpoint", checkpoint, "--nodes", "5", "--out", "made")
    path = tmp_path / "made" / "known.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    result = run("runs", "show", "made")
    assert result.code == 1
    assert f"known.json is damaged ({message})" in result.err


def test_a_run_that_was_told_nothing_says_so(run, checkpoint, tmp_path):
    run("explain", "--checkpoint", checkpoint, "--nodes", "5", "--out", "made")
    (tmp_path / "made" / "known.json").unlink()
    assert "unknown" in run("runs", "show", "made").out
