"""`zorro reproduce` lists what there is, refuses what is not, and writes tables."""

from __future__ import annotations

from zorro.paper import EXPERIMENTS


def test_experiments_are_listed_with_their_place_in_the_paper(run):
    out = run("reproduce", "--list").out
    for experiment in EXPERIMENTS.values():
        (row,) = [line for line in out.splitlines() if line.split()[:1] == [experiment.name]]
        assert experiment.label in row


def test_an_unknown_experiment_is_named(run):
    result = run("reproduce", "everything")
    assert result.code == 1
    assert result.err.startswith("zorro: error: NAME: expected one of accuracy, ")


def test_a_table_is_written_and_measurements_are_kept(run, paper_dir, data_dir, tmp_path):
    words = ["reproduce", "synthetic", "--nodes", 2, "--methods", "empty,grad", "--out", "new"]
    first = run(*words)
    assert first.code == 0, first.err
    assert first.err.splitlines()[-2:] == ["new/synthetic.csv", "new/synthetic.md"]
    page = (tmp_path / "new" / "synthetic.md").read_text()
    assert "| empty | 2 | 0.00 / 0.00 / 0.00 |" in page
    before = (tmp_path / "new" / "synthetic.csv").read_text()
    assert run(*words).code == 0
    assert (tmp_path / "new" / "synthetic.csv").read_text() == before
