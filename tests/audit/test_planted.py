"""What was planted is found, and named at the top; where nothing was, nothing is."""

import planted
import pytest

from zorro import explain_many


def audited(data, folder):
    made = planted.trained(data)
    assert made.accuracy > 0.8
    run = explain_many(
        made.model,
        data.x,
        data.edge_index,
        range(0, planted.CLASSES * planted.EACH, 6),
        out=folder,
        engine="in-process",
    )
    return run.audit(
        x=data.x,
        edge_index=data.edge_index,
        y=data.y,
        train_mask=data.train_mask,
        model=made.model,
    )


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_clean_model_gives_no_alarm(seed, tmp_path):
    found = audited(planted.clean_graph(seed), tmp_path / "run")
    assert [one.text for one in found.findings if one.gravity == "alarm"] == []


def test_a_leaked_label_is_named_first(tmp_path):
    found = audited(planted.with_leak(planted.clean_graph()), tmp_path / "run")
    first = found.findings[0]
    assert (first.kind, first.gravity) == ("leaked feature", "alarm")
    assert first.text.startswith(f"Feature {planted.LEAKED} is in ")
    assert f"of class {planted.GUILTY}" in first.text
    assert [one.kind for one in found.findings if one.gravity == "alarm"] == ["leaked feature"]
    assert set(first.keys) <= set(found.classes[planted.GUILTY].keys)


def test_a_spurious_hub_is_named_first(tmp_path):
    found = audited(planted.with_hub(planted.clean_graph()), tmp_path / "run")
    first = found.findings[0]
    hub = planted.CLASSES * planted.EACH
    assert (first.kind, first.gravity) == ("single neighbour", "alarm")
    assert first.text.startswith(f"Node {hub} is in ")
    assert f"of class {planted.GUILTY}" in first.text
    assert [one.kind for one in found.findings if one.gravity == "alarm"] == ["single neighbour"]
